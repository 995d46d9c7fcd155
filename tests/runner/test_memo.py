"""Derived values that are stored: none is used for another problem, another engine or another Python."""

from dataclasses import replace
from pathlib import Path

import pytest

from triathlon_runner import memo
from triathlon_runner.datasets import Comparison, Problem, TestedProblem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.imports import CachingGrader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import open_sandbox

PROBLEM = Problem("t/1", "f", "def f(x):\n", "def f(x):\n    return x + 1\n", ("(1,)", "(2,)"))

OTHER_PROBLEMS = {
    "reference": replace(PROBLEM, reference="def f(x):\n    return x + 2\n"),
    "inputs": replace(PROBLEM, inputs=("(1,)",)),
    "libraries": replace(PROBLEM, libraries=frozenset({"numpy", "sympy"})),
    "comparison": replace(PROBLEM, comparison=Comparison("close", 1e-6)),
    "kind": TestedProblem("t/1", "f", "def f(x):\n", "assert f(1) == 2"),
}


@pytest.mark.parametrize("change", OTHER_PROBLEMS)
def test_each_field_of_a_problem_is_in_the_key(change: str) -> None:
    """Equal ids do not make equal problems."""
    before = memo.memo_key("a kind", PROBLEM)
    assert before == memo.memo_key("a kind", replace(PROBLEM)) != memo.memo_key("another", PROBLEM)
    assert memo.memo_key("a kind", OTHER_PROBLEMS[change]) != before


@pytest.mark.parametrize(("name", "other"), [("python_version", lambda: "3.99"), ("ENGINE_VERSION", 99)])
def test_each_version_is_in_the_key(name: str, other: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the Python that programs run in, and of extraction and grading."""
    before = memo.memo_key("a kind", PROBLEM)
    monkeypatch.setattr(memo, name, other)
    assert memo.memo_key("a kind", PROBLEM) != before


async def test_an_answer_key_of_another_python_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 3.12 on `sum` of floats rounds otherwise: a key made there fails the reference here."""
    async with open_sandbox(jobs=1) as sandbox:
        for python in ("3.98", "3.99", "3.98"):
            monkeypatch.setattr(memo, "python_version", lambda python=python: python)
            verdict = await ProgramGrader(sandbox, tmp_path).grade(PROBLEM.reference, PROBLEM)
            assert verdict.outcome is Outcome.PASSED
    assert len(list(tmp_path.iterdir())) == 2


async def test_a_changed_problem_is_not_answered_from_the_verdicts_file(tmp_path: Path) -> None:
    """`import --verdicts`: a program that was right by the wrong reference is graded again."""
    changed = replace(PROBLEM, reference="def f(x):\n    return x + 2\n")
    async with open_sandbox(jobs=1) as sandbox:
        for problem, outcome in ((PROBLEM, Outcome.PASSED), (changed, Outcome.FAILED)):
            grader = CachingGrader(ProgramGrader(sandbox), tmp_path / "verdicts.jsonl")
            assert (await grader.grade(PROBLEM.reference, problem)).outcome is outcome
    assert len((tmp_path / "verdicts.jsonl").read_bytes().splitlines()) == 2
