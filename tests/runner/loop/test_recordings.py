"""Stored runs of real models, replayed through the real runner."""

import csv
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from support.asl import asl
from support.loop_run import LoopRun
from support.model_server import ModelServer
from support.official_data import official_store, recordings
from support.replay_loop import LoopReplay, recording
from triathlon_runner import loop
from triathlon_runner.datasets import official
from triathlon_runner.loop._prompt import first_prompt, next_prompt
from triathlon_runner.prompts import load_prompts

pytestmark = pytest.mark.official

ASL_TOLERANCE = 0.02
HAIKU: Final = "loop-claude-haiku-3.5"
DEEPSEEK: Final = "loop-deepseek-coder-7b-instruct-v1.5"
GPT: Final = "loop-gpt-3.5-turbo"
PUBLISHED: Final = {HAIKU: "Claude Haiku 3.5", GPT: "GPT-3.5-Turbo"}
"""Not DeepSeek: its recording is of another run than the paper's table, whose ASL its own counts exclude."""
DIFFERENT: Final[Mapping[str, frozenset[str]]] = {
    HAIKU: frozenset({"Mbpp/84", "Mbpp/287"}),
    GPT: frozenset({"Mbpp/271"}),
    DEEPSEEK: frozenset({"Mbpp/287"}),
}
"""Tasks that may end otherwise than recorded, because the recorded program is right. The checker of the
recordings left two no memory (`benchmarks/recorded.py loop`): Claude Haiku's for Mbpp/84 is the reference's
own recurrence, with a list of a million numbers; GPT-3.5's for Mbpp/271 sums over such a list. Those for
Mbpp/287 return the exact integer, which EvalPlus refuses."""
FEW: Final = 12
"""Tasks of the short replay."""
HEAVY: Final = frozenset({"Mbpp/162", "Mbpp/274"})
"""Whose recorded programs compute for many seconds: left to the long replay."""


def test_prompts_are_wrapped_as_in_the_recordings() -> None:
    """All steps of all 83 models: first prompt, wrapped summary, and the line carried from prompt to prompt.

    Only wrapping and carrying can be seen in them: the questions themselves were not recorded.
    """
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


async def replayed(tasks: list[dict[str, Any]], root: Path, keys: Path) -> tuple[LoopRun, set[str]]:
    """Runs loop/mbpp-plus against a server that replays these tasks; which end otherwise than recorded."""
    recorded = {task["task_id"]: task["successful_cycles"] for task in tasks}
    async with ModelServer(LoopReplay(tasks)) as server:
        run = LoopRun(
            root,
            server.base_url,
            suite="loop/mbpp-plus",
            only=recorded.keys(),
            data=official_store(),
            keys=keys,
            slots=64,
        )
        assert (await run()).exit_code == 0
    sustained = {record.task_id: record.sustained_loops for record in run.records()}
    assert sustained.keys() == recorded.keys()
    return run, {task_id for task_id, loops in recorded.items() if loops != sustained[task_id]}


@pytest.mark.parametrize("name", DIFFERENT)
async def test_a_few_recorded_tasks(name: str, tmp_path: Path, keys: Path) -> None:
    """Tasks that sustained 0, 1, 2 … loops end in the replay as they are recorded."""
    by_length: dict[int, list[dict[str, Any]]] = {}
    for task in recording(name):
        if task["task_id"] not in HEAVY:
            by_length.setdefault(task["successful_cycles"], []).append(task)
    tasks = [task for group in by_length.values() for task in group[:2]][:FEW]
    assert (await replayed(tasks, tmp_path, keys))[1] == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", DIFFERENT)
async def test_recorded_runs_come_out_as_published(name: str, tmp_path: Path, keys: Path) -> None:
    """Sustained loops agree with the recording but for the tasks named, and ASL with its published value."""
    tasks = recording(name)
    run, different = await replayed(tasks, tmp_path, keys)
    assert different <= DIFFERENT[name]
    span, counts = asl(run.records()), Counter(task["successful_cycles"] for task in tasks)
    low = loop.asl_of_counts(counts, 10, {i: (i - 1) / i for i in range(1, 10)})
    own = (low, loop.asl_of_counts(counts, 10))
    assert (span.low, span.high) == pytest.approx(own, abs=ASL_TOLERANCE)
    if name in PUBLISHED:
        assert span.low - ASL_TOLERANCE < published_asl(PUBLISHED[name]) < span.high + ASL_TOLERANCE


def published_asl(model: str) -> float:
    data = os.environ.get("TRIATHLON_DATA")
    shared = Path(data).parent if data else Path(__file__).resolve().parents[4] / "shared"
    with (shared / "published" / "evaloop_models.csv").open(newline="") as file:
        return next(float(row["asl"]) for row in csv.DictReader(file) if row["model"] == model)
