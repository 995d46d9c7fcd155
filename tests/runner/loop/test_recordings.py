"""Stored runs of real models: how they wrap their prompts, and what the benchmark says of them."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from support.import_place import CHECKOUT, write_json
from support.official_data import official_store, recording, recordings
from triathlon_runner.datasets import official
from triathlon_runner.loop._prompt import first_prompt, next_prompt
from triathlon_runner.prompts import load_prompts

pytestmark = pytest.mark.official

HEAVY: Final = frozenset({"Mbpp/162", "Mbpp/274"})
"""Whose recorded programs compute for many seconds: left to the benchmark."""


def test_prompts_are_wrapped_as_in_the_recordings() -> None:
    """All steps of 83 models; the questions themselves were not recorded."""
    problems = {problem.task_id: problem for problem in official.mbpp_plus(official_store())}
    names = sorted(path.name.removesuffix(".json.gz") for path in (recordings() / "loop").glob("*.json.gz"))
    assert len(names) == 83, f"expected the runs of 83 models in {str(recordings() / 'loop')!r}"
    steps = 0
    for task in (task for name in names for task in recording(f"loop/{name}")):
        problem = problems[task["task_id"]]
        before = first_prompt(problem, None, load_prompts("loop"))
        assert before == task["initial_prompt"]
        for cycle in task["cycles"]:
            carried, after = before.rstrip("\n").split("\n")[-2], cycle["summary_output"]
            words = after.removeprefix('"""\n').removesuffix(f'\n{carried}\n"""\n')
            before = next_prompt(words, problem.assertion, as_written=True)
            assert before == after
            steps += 1
    assert steps == 202_348


def test_the_benchmark_compares_them(tmp_path: Path) -> None:
    """Of a run whose recorded count is wrong it says so and ends with 1."""
    first, second = [task for task in recording("loop-claude-haiku-3.5") if task["task_id"] not in HEAVY][:2]
    for count, code in ((second["successful_cycles"], 0), (99, 1)):
        log = {"1": [first, second | {"successful_cycles": count}]}
        write_json(tmp_path / "model.json.gz", log)
        options = (
            f"--data {official_store().folder} --recorded {tmp_path} --keys {tmp_path / 'keys'} --jobs 1"
        )
        command = [sys.executable, "benchmarks/recorded.py", "loop", *options.split()]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert f"model: {2 - code} of 2\n" in done.stdout
