"""Stored runs of real models, replayed through the real runner."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from support.import_place import CHECKOUT, write_json
from support.loop_run import LoopRun
from support.model_server import ModelServer
from support.official_data import official_store, recordings
from support.replay_loop import LoopReplay, recording
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


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the references return, executed once for all replays; `TRIATHLON_TEST_KEYS` keeps it."""
    named = os.environ.get("TRIATHLON_TEST_KEYS")
    return Path(named) if named else tmp_path_factory.mktemp("keys")


@pytest.mark.parametrize("name", RUNS)
async def test_a_few_recorded_tasks(name: str, tmp_path: Path, keys: Path) -> None:
    """Tasks that sustained 0, 1, 2 … loops end in the replay as they are recorded."""
    by_length: dict[int, list[dict[str, Any]]] = {}
    for task in recording(name):
        if task["task_id"] not in HEAVY:
            by_length.setdefault(task["successful_cycles"], []).append(task)
    tasks = [task for group in by_length.values() for task in group[:2]][:FEW]
    recorded = {task["task_id"]: task["successful_cycles"] for task in tasks}
    async with ModelServer(LoopReplay(tasks)) as server:
        run = LoopRun(
            tmp_path,
            server.base_url,
            "loop/mbpp-plus",
            only=recorded.keys(),
            data=official_store(),
            keys=keys,
        )
        assert (await run()).exit_code == 0
    assert {record.task_id: record.sustained_loops for record in run.records()} == recorded


def test_the_benchmark_compares_them(tmp_path: Path, keys: Path) -> None:
    """Of one whose recorded count is wrong it says so and ends with 1."""
    first, second = [task for task in recording(RUNS[0]) if task["task_id"] not in HEAVY][:2]
    for count, code in ((second["successful_cycles"], 0), (99, 1)):
        log = {"1": [first, second | {"successful_cycles": count}]}
        write_json(tmp_path / "model.json.gz", log)
        options = f"--data {official_store().folder} --recorded {tmp_path} --keys {keys} --jobs 1"
        command = [sys.executable, "benchmarks/recorded.py", "loop", *options.split()]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert f"model: {2 - code} of 2\n" in done.stdout
