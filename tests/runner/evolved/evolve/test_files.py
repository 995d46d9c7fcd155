"""The sets that evolving writes are sets that suites.yaml takes, for every kind of transformation."""

import json
from pathlib import Path

import pytest

from triathlon_runner.datasets import Problem
from triathlon_runner.datasets.user import Transformation, UserDataSet
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve import History, Job, Workspace
from triathlon_runner.evolved.evolve._draft import read_problem
from triathlon_runner.evolved.evolve._refine import Written
from triathlon_runner.records import Usage

SEED = Problem("HumanEval/7", "old", 'def old(x):\n    """Old one here."""\n', "", ())
HELPER = 'def aid(x: str) -> str:\n    """Help a little here."""\n    return x\n'
MAIN = 'def new(x: str) -> str:\n    """Say \\\\n and \\"quotes\\" at length."""\n'
REFERENCE = "def new(x):\n    return aid(x) + '\\n'\n"
INPUTS = ("('a',)", "('\\\\\\u2028',)", "({(1, 2): {3}},)")


def _written(prompt: str, *, helpers: bool = False) -> Written:
    draft = read_problem(f"```python\n{prompt}\n```", helpers=helpers)
    return Written(draft, f"{HELPER}\n\n{REFERENCE}", INPUTS)


def _write(root: Path, transformation: Transformation, *problems: Written) -> Path:
    job = Job(transformation, (SEED,))
    history = History(
        job=job.id,
        transformation=transformation,
        parents=("HumanEval/7",),
        model="m",
        prompts="p",
        status="finished",
        steps=(),
        usage=Usage(),
    )
    Workspace(root).write(job, problems, history)
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
