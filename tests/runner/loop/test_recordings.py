"""Stored runs of real models, replayed."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from support.import_place import CHECKOUT, write_json
from support.official_data import official_store, recording, recordings
from triathlon_runner.datasets import official
from triathlon_runner.loop._prompt import first_prompt, next_prompt
from triathlon_runner.prompts import load_prompts

pytestmark = pytest.mark.official

RUNS: Final = ("loop-claude-haiku-3.5", "loop-deepseek-coder-7b-instruct-v1.5", "loop-gpt-3.5-turbo")
"""`benchmarks/recorded.py loop` compares all recorded runs, whole."""
FEW: Final = 12
"""Tasks of the short replay."""
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


def few(name: str) -> list[dict[str, Any]]:
    """Tasks of a run that sustained 0, 1, 2 … loops."""
    by_length: dict[int, list[dict[str, Any]]] = {}
    for task in recording(name):
        if task["task_id"] not in HEAVY:
            by_length.setdefault(task["successful_cycles"], []).append(task)
    return [task for group in by_length.values() for task in group[:2]][:FEW]


def test_a_few_recorded_tasks(tmp_path: Path) -> None:
    """They end as they are recorded; of a run with a wrong count the benchmark says so and ends with 1."""
    tasks = {name: few(name) for name in RUNS}
    for change, code in (({}, 0), ({"successful_cycles": 99}, 1)):
        tasks[RUNS[0]][0] |= change
        for name, log in tasks.items():
            write_json(tmp_path / f"{name}.json.gz", {"1": log})
        options = f"--data {official_store().folder} --recorded {tmp_path} --keys {tmp_path}/keys"
        command = [sys.executable, "benchmarks/recorded.py", "loop", *options.split()]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        equal = dict(re.findall(r"^(loop-\S+): (\d+ of \d+)$", done.stdout, re.MULTILINE))
        assert equal == dict.fromkeys(RUNS, f"{FEW} of {FEW}") | {RUNS[0]: f"{FEW - code} of {FEW}"}
