"""A run over many jobs: files, resuming, costs, the review page and its decisions."""

import json
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from support.scripted_evolver import Said, ScriptedEvolver, fenced, same_problem
from triathlon_runner.datasets import Problem
from triathlon_runner.datasets.core._schema import ProblemFile
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve import (
    DECISIONS,
    Evolver,
    History,
    Progress,
    Workspace,
    apply_decisions,
    cost,
    estimate,
    make_jobs,
    run,
    summary,
    write_review,
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


async def _finished(root: Path, sandbox: Sandbox) -> Workspace:
    await run(_evolver(root, sandbox, ScriptedEvolver(SCRIPT)), make_jobs([SEED], ["difficult"]))
    return Workspace(root)


async def test_problem_file_and_history(tmp_path: Path, sandbox: Sandbox) -> None:
    """A finished job leaves a problem file in the format of our own problems and its whole history."""
    seen: list[Progress] = []
    evolver = _evolver(tmp_path, sandbox, ScriptedEvolver(SCRIPT))
    progress = await run(evolver, make_jobs([SEED], ["difficult"]), seen.append)
    assert (progress.finished, progress.dropped, progress.open) == (1, 0, {})
    assert progress.cost_usd == pytest.approx(6 * (100 * 10 + 50 * 30) / 1e6)
    assert len(seen) == 1
    text = (tmp_path / "difficult" / "core-seeds-add-up.toml").read_text()
    problem = ProblemFile.model_validate(tomllib.loads(text))
    assert (problem.level, problem.parents, problem.topics) == (3, ["add-up"], ["lists"])
    assert "([1, 2],)" in problem.inputs.values()
    (history,) = Workspace(tmp_path).histories()
    assert (history.status, history.served_model, history.usage.requests) == ("finished", "scripted-1", 6)
    assert history.killed == history.mutants
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
    model = ScriptedEvolver({"transform": "No.", "mend": "No!"})
    await run(_evolver(tmp_path, sandbox, model), make_jobs([SEED], ["subtle"]))
    (history,) = Workspace(tmp_path).histories()
    assert (history.status, history.file, len(history.steps)) == ("dropped", "", 3)
    assert not list(tmp_path.rglob("*.toml"))
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
    with pytest.raises(UserError, match="'s/d' has no function"):
        make_jobs([Problem("s/d", "d", '"""Write a function d."""\n', "", ())], ["subtle"])
    with pytest.raises(UserError, match="combine needs two seeds"):
        make_jobs([SEED, third], ["combine"])


async def test_review_page(tmp_path: Path, sandbox: Sandbox) -> None:
    """The page shows seed, problem and history, needs no other file, and escapes what a model wrote."""
    page = write_review(await _finished(tmp_path, sandbox), [SEED]).read_text()
    assert "&lt;b&gt;even&lt;/b&gt;" in page
    assert "<b>even</b>" not in page
    assert "Return the sum of all the numbers." in page
    assert "src=" not in page
    assert "http" not in page
    with pytest.raises(UserError, match="nothing has been evolved"):
        write_review(Workspace(tmp_path / "empty"), [SEED])


async def test_decisions(tmp_path: Path, sandbox: Sandbox) -> None:
    """What a reviewer accepts is copied with its history; the page shows the decision again."""
    workspace = await _finished(tmp_path, sandbox)
    assert apply_decisions(workspace).undecided == ("difficult/core-seeds-add-up",)
    decision = {"difficult/core-seeds-add-up": {"verdict": "accept", "note": "clear"}}
    (tmp_path / DECISIONS).write_text(json.dumps(decision))
    applied = apply_decisions(workspace)
    (path,) = applied.accepted
    assert path == tmp_path / "accepted" / "difficult" / "add-even.toml"
    assert path.read_text() == (tmp_path / "difficult" / "core-seeds-add-up.toml").read_text()
    assert json.loads(path.with_suffix(".history.json").read_text())["review"]["note"] == "clear"
    assert 'value="accept" checked' in write_review(workspace, [SEED]).read_text()
    assert len(workspace.histories()) == 1


async def test_bad_decisions(tmp_path: Path, sandbox: Sandbox) -> None:
    """A decisions file that is none, or that decides about another problem, is the user's to mend."""
    workspace = await _finished(tmp_path, sandbox)
    (tmp_path / DECISIONS).write_text('{"difficult/core-seeds-add-up": {"verdict": "maybe"}}')
    with pytest.raises(UserError, match="not what the review page saves"):
        apply_decisions(workspace)
    (tmp_path / DECISIONS).write_text('{"subtle/none": {"verdict": "accept"}}')
    with pytest.raises(UserError, match="'subtle/none'; there is no such problem"):
        apply_decisions(workspace)


def test_history_is_strict() -> None:
    """A history with an unknown key is refused."""
    with pytest.raises(ValueError, match="extra"):
        History.model_validate_json('{"unknown": 1}')
