"""A run over many jobs: files, resuming, costs."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from support.scripted_evolver import Said, ScriptedEvolver, fenced, same_problem
from triathlon_runner.datasets import Problem
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve import (
    Evolver,
    History,
    Progress,
    Workspace,
    choose_seeds,
    cost,
    estimate,
    make_jobs,
    run,
    summary,
)
from triathlon_runner.models_yaml import Price
from triathlon_runner.prompts import load_prompts
from triathlon_runner.sandbox import Sandbox, open_sandbox

SEED = Problem(
    task_id="core/seeds/add-up",
    entry_point="add_up",
    prompt='def add_up(numbers: list[int]) -> int:\n    """Return the sum of all the numbers."""\n',
    reference="def add_up(numbers):\n    return sum(numbers)\n",
    inputs=("([1, 2],)", "([],)", "([-1],)"),
    level=2,
    topics=("lists",),
)
EVEN = 'def add_even(numbers: list[int]) -> int:\n    """Return the sum of <b>even</b> numbers only."""\n'
SCRIPT: dict[str, Said | list[Said]] = {
    "transform": fenced(EVEN),
    "solve": fenced("def add_even(numbers):\n    return sum(n for n in numbers if n % 2 == 0)\n"),
    "inputs": "add_even([1, 2])\nadd_even([])\nadd_even([2, 2, 4])\nadd_even([7])",
    "examples": same_problem,
}
PRICE = Price(input=10, output=30)


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox() as opened:
        yield opened


def _evolver(root: Path, sandbox: Sandbox, model: ScriptedEvolver, stopped: str = "") -> Evolver:
    return Evolver(model, load_prompts("evolved"), sandbox, Workspace(root), PRICE, lambda: stopped)


async def test_problem_file_and_history(tmp_path: Path, sandbox: Sandbox) -> None:
    """A finished job leaves a problem that nobody has accepted yet, and its whole history."""
    seen: list[Progress] = []
    evolver = _evolver(tmp_path, sandbox, ScriptedEvolver(SCRIPT))
    progress = await run(evolver, make_jobs([SEED], ["difficult"]), seen.append)
    assert (progress.finished, progress.dropped, progress.open) == (1, 0, {})
    assert progress.cost_usd == pytest.approx(6 * (100 * 10 + 50 * 30) / 1e6)
    assert len(seen) == 1
    row = json.loads((tmp_path / "difficult.jsonl").read_text())
    assert (row["accepted"], row["task_id"]) == (None, "difficult/core-seeds-add-up")
    assert "[1, 2]" in row["inputs"]
    (history,) = Workspace(tmp_path).histories()
    assert (history.status, history.served_model, history.usage.requests) == ("finished", "scripted-1", 6)
    assert all(step.reply for step in history.steps if step.question)


async def test_resumes(tmp_path: Path, sandbox: Sandbox) -> None:
    """What is on disk is not done again; a job whose model failed stays open and is done by the next run."""
    jobs = make_jobs([SEED], ["difficult"])
    failing = await run(_evolver(tmp_path, sandbox, ScriptedEvolver(SCRIPT, fails=True)), jobs)
    assert list(failing.open) == ["difficult/core-seeds-add-up"]
    assert list(tmp_path.rglob("*.json")) == []
    await run(_evolver(tmp_path, sandbox, ScriptedEvolver(SCRIPT)), jobs)
    model = ScriptedEvolver(SCRIPT)
    again = await run(_evolver(tmp_path, sandbox, model), jobs)
    assert (again.done_before, again.finished, model.asked) == (1, 0, [])


async def test_dropped_job_keeps_its_history(tmp_path: Path, sandbox: Sandbox) -> None:
    """A dropped job leaves its reason and every question, and no problem file."""
    model = ScriptedEvolver({"transform": "No.", "fix": "No!"})
    await run(_evolver(tmp_path, sandbox, model), make_jobs([SEED], ["subtle"]))
    (history,) = Workspace(tmp_path).histories()
    assert (history.status, len(history.steps)) == ("dropped", 3)
    assert not list(tmp_path.rglob("*.jsonl"))
    assert "0 of 1 jobs gave a problem" in summary([history])
    assert history.reason in summary([history])


async def test_stopped(tmp_path: Path, sandbox: Sandbox) -> None:
    """No job begins once the run is to stop, as where the budget is spent; it stays open with the reason."""
    model = ScriptedEvolver(SCRIPT)
    evolver = _evolver(tmp_path, sandbox, model, stopped="the budget is spent")
    progress = await run(evolver, make_jobs([SEED], ["difficult"]))
    assert model.asked == []
    assert progress.open == {"difficult/core-seeds-add-up": "the budget is spent"}


def test_estimate() -> None:
    """What a run will cost is known before it begins; without a price the tokens are."""
    jobs = make_jobs([SEED], ["difficult", "verbose"])
    known = estimate(jobs)
    assert (len(jobs), known.requests) == (2, 8)
    assert cost(known, PRICE) == pytest.approx((known.input_tokens * 10 + known.output_tokens * 30) / 1e6)
    assert cost(known, None) is None


def test_jobs() -> None:
    """Combine takes two seeds of the same parameter types; unknown transformations are named."""
    other = Problem("s/b", "b", 'def b(xs: list[int]):\n    """B."""\n', "", ())
    third = Problem("s/c", "c", 'def c(text: str):\n    """C."""\n', "", ())
    (job,) = make_jobs([SEED, other, third], ["combine"])
    assert {parent.task_id for parent in job.parents} == {"core/seeds/add-up", "s/b"}
    assert len(make_jobs([SEED, other, third], ["subtle", "verbose"], limit=2)) == 4
    with pytest.raises(UserError, match="'sbutle'; there are difficult"):
        make_jobs([SEED], ["sbutle"])
    bare = Problem("s/d", "d", '"""Write a function d."""\n', "", ())
    seeds, left_out = choose_seeds([SEED, other, bare])
    assert seeds == [SEED]
    assert [line.partition(": the ")[0] for line in left_out] == ["left out: s/b", "left out: s/d"]
    with pytest.raises(UserError, match="combine needs two seeds"):
        make_jobs([SEED, third], ["combine"])


def test_history_is_strict() -> None:
    """A history with an unknown key is refused."""
    with pytest.raises(ValueError, match="extra"):
        History.model_validate_json('{"unknown": 1}')
