"""A run over many jobs: files, resuming, costs; its sets are sets that suites.yaml takes."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.scripted_evolver import GOOD, SEED, ScriptedEvolver
from triathlon_runner.datasets import Problem
from triathlon_runner.datasets.user import Transformation, UserDataSet
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve import (
    Job,
    Progress,
    Workspace,
    carry_out,
    choose_seeds,
    estimate,
    make_jobs,
    summary,
)
from triathlon_runner.evolved.evolve._draft import read_problem
from triathlon_runner.evolved.evolve._pipeline import Written
from triathlon_runner.models_yaml import Price
from triathlon_runner.prompts import load_prompts
from triathlon_runner.sandbox import Sandbox

PRICE = Price(input=10, output=30)


async def _carry_out(
    jobs: tuple[Job, ...], root: Path, sandbox: Sandbox, model: ScriptedEvolver, **more: Any
) -> Progress:
    return await carry_out(jobs, Workspace(root), model, load_prompts("evolved"), sandbox, **more)


async def test_problem_file_and_history(tmp_path: Path, sandbox: Sandbox) -> None:
    """A finished job leaves a problem that nobody has accepted yet, and its whole history."""
    seen: list[Progress] = []
    jobs, model = make_jobs([SEED], ["difficult"]), ScriptedEvolver(GOOD)
    progress = await _carry_out(jobs, tmp_path, sandbox, model, price=PRICE, report=seen.append)
    assert (progress.finished, progress.dropped, progress.open) == (1, 0, {})
    assert len(seen) == 1
    row = json.loads((tmp_path / "difficult.jsonl").read_text())
    assert (row["accepted"], row["task_id"]) == (None, "difficult/core-seeds-add-up")
    assert "[1, 2]" in row["inputs"]
    (history,) = Workspace(tmp_path).histories()
    assert (history["status"], history["served_model"]) == ("finished", "scripted-1")
    assert history["usage"]["requests"] == 6
    assert history["cost_usd"] == pytest.approx(6 * (100 * 10 + 50 * 30) / 1e6)
    assert all(step["reply"] for step in history["steps"] if step["question"])


async def test_resumes(tmp_path: Path, sandbox: Sandbox) -> None:
    """What is on disk is not done again; a job whose model failed stays open and is done by the next run."""
    jobs = make_jobs([SEED], ["difficult"])
    failing = await _carry_out(jobs, tmp_path, sandbox, ScriptedEvolver(GOOD, fails=True))
    assert list(failing.open) == ["difficult/core-seeds-add-up"]
    assert list(tmp_path.rglob("*.json")) == []
    await _carry_out(jobs, tmp_path, sandbox, ScriptedEvolver(GOOD))
    model = ScriptedEvolver(GOOD)
    again = await _carry_out(jobs, tmp_path, sandbox, model)
    assert (again.done_before, again.finished, model.asked) == (1, 0, [])


async def test_dropped_job_keeps_its_history(tmp_path: Path, sandbox: Sandbox) -> None:
    """A dropped job leaves its reason and every question, and no problem file."""
    model = ScriptedEvolver({"transform": "No.", "fix": "No!"})
    await _carry_out(make_jobs([SEED], ["subtle"]), tmp_path, sandbox, model)
    (history,) = Workspace(tmp_path).histories()
    assert (history["status"], len(history["steps"])) == ("dropped", 3)
    assert not list(tmp_path.rglob("*.jsonl"))
    assert "0 of 1 jobs gave a problem" in summary([history])
    assert history["reason"] in summary([history])


async def test_stopped(tmp_path: Path, sandbox: Sandbox) -> None:
    """No job begins once the run is to stop, as where the budget is spent; it stays open with the reason."""
    model = ScriptedEvolver(GOOD)
    jobs = make_jobs([SEED], ["difficult"])
    progress = await _carry_out(jobs, tmp_path, sandbox, model, stopped=lambda: "the budget is spent")
    assert model.asked == []
    assert progress.open == {"difficult/core-seeds-add-up": "the budget is spent"}


def test_estimate() -> None:
    """What a run will take is known before it begins."""
    jobs = make_jobs([SEED], ["difficult", "verbose"])
    known = estimate(jobs)
    assert (len(jobs), known.requests) == (2, 8)


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


PARENT = Problem("HumanEval/7", "old", 'def old(x):\n    """Old one here."""\n', "", ())
HELPER = 'def aid(x: str) -> str:\n    """Help a little here."""\n    return x\n'
MAIN = 'def new(x: str) -> str:\n    """Say \\\\n and \\"quotes\\" at length."""\n'
REFERENCE = "def new(x):\n    return aid(x) + '\\n'\n"
INPUTS = ("('a',)", "('\\\\\\u2028',)", "({(1, 2): {3}},)")


def _written(prompt: str, *, helpers: bool = False) -> Written:
    draft = read_problem(f"```python\n{prompt}\n```", helpers=helpers)
    return Written(draft, f"{HELPER}\n\n{REFERENCE}", INPUTS)


def _write(root: Path, transformation: Transformation, *problems: Written) -> Path:
    job = Job(transformation, (PARENT,))
    Workspace(root).write(job, problems, {"status": "finished"})
    return root / f"{transformation}.jsonl"


def _accept(path: Path, decision: str = "true") -> UserDataSet:
    path.write_text(path.read_text().replace('"accepted": null', f'"accepted": {decision}'))
    return UserDataSet("mine", "Mine", path, "suites.yaml, line 1", seeds="evolved/humaneval")


@pytest.mark.parametrize(
    ("transformation", "prompts"),
    [
        ("subtle", [MAIN]),
        ("verbose", [MAIN]),
        ("tool_use", [f"{HELPER}\n\n{MAIN}"]),
        ("decompose", [MAIN, MAIN.replace("new", "other")]),
    ],
)
def test_a_set_is_read_as_it_was_written(
    tmp_path: Path, transformation: Transformation, prompts: list[str]
) -> None:
    """Prompt, reference, inputs and parents stay as they are; both halves of a seed are problems."""
    written = [_written(prompt, helpers=transformation == "tool_use") for prompt in prompts]
    path = _write(tmp_path, transformation, *written)
    problems = [user_problem.problem for user_problem in _accept(path).read().problems]
    assert [problem.prompt for problem in problems] == [each.draft.prompt for each in written]
    for problem in problems:
        assert isinstance(problem, Problem)
        assert (problem.reference, problem.inputs) == (written[0].reference, INPUTS)
        assert (problem.parents, problem.comparison.oracle) == (("HumanEval/7",), "typed")
    assert len({problem.task_id for problem in problems}) == len(prompts)


@pytest.mark.parametrize(("decision", "counts"), [("null", "1 await"), ("false", "1 are refused")])
def test_only_accepted_problems_are_tasks(tmp_path: Path, decision: str, counts: str) -> None:
    """A set without any is refused with the numbers; a decision of another kind is named."""
    path = _write(tmp_path, "subtle", _written(MAIN))
    data = _accept(path, decision)
    with pytest.raises(UserError, match=counts):
        data.read()
    lines = path.read_text()
    path.write_text(lines + lines.replace("subtle/", "again/").replace(decision, "true"))
    assert [user_problem.problem.task_id for user_problem in data.read().problems] == ["again/HumanEval-7"]
    path.write_text(lines.replace(f'"accepted": {decision}', '"accepted": "yes"'))
    with pytest.raises(UserError, match="line 1: expected 'accepted' to be true, false or null, got 'yes'"):
        data.read()


def test_decisions_survive_another_run(tmp_path: Path) -> None:
    """A job that runs again, because its history was lost, changes nothing about lines that are there."""
    path = _write(tmp_path, "subtle", _written(MAIN))
    _accept(path, "false")
    before = path.read_text()
    _write(tmp_path, "subtle", _written(MAIN))
    assert path.read_text() == before
    assert Workspace(tmp_path).decisions() == {path: {False: 1}}
    path.write_text(before + "{bad\n")
    with pytest.raises(UserError, match="line 2: expected a JSON object"):
        Workspace(tmp_path).check()


def test_parents_need_seeds(tmp_path: Path) -> None:
    """A set with seeds names a parent in each line; without seeds parents mean nothing."""
    path = _write(tmp_path, "subtle", _written(MAIN))
    data = _accept(path)
    without = UserDataSet("mine", "Mine", path, "suites.yaml, line 1")
    assert without.read().problems[0].problem.parents == ()
    row = json.loads(path.read_text())
    path.write_text(json.dumps({**row, "parents": []}))
    with pytest.raises(UserError, match="expected parents, the task_ids of problems of 'evolved/humaneval'"):
        data.read()
