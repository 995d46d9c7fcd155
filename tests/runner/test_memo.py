"""Derived values that are stored: none is used for another problem, another engine or another Python."""

from dataclasses import replace
from pathlib import Path

import pytest

from triathlon_runner import memo
from triathlon_runner.datasets import Comparison, Problem, TestedProblem
from triathlon_runner.grading import CachingGrader, ProgramGrader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox

PROBLEM = Problem("t/1", "f", "def f(x):\n", "def f(x):\n    return x + 1\n", ("(1,)", "(2,)"))

CHANGED = replace(PROBLEM, reference="def f(x):\n    return x + 2\n")
OTHER_PROBLEMS = (
    CHANGED,
    replace(PROBLEM, inputs=("(1,)",)),
    replace(PROBLEM, libraries=frozenset({"numpy", "sympy"})),
    replace(PROBLEM, comparison=Comparison("close", 1e-6)),
    TestedProblem("t/1", "f", "def f(x):\n", "assert f(1) == 2"),
)


def test_what_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each field of a problem, and the versions of Python and of extraction and grading."""
    before = memo.memo_key("a kind", PROBLEM)
    assert before == memo.memo_key("a kind", replace(PROBLEM)) != memo.memo_key("another", PROBLEM)
    for other in OTHER_PROBLEMS:
        assert memo.memo_key("a kind", other) != before
    for name, version in (("python_version", lambda: "3.99"), ("ENGINE_VERSION", 99)):
        with monkeypatch.context() as patch:
            patch.setattr(memo, name, version)
            assert memo.memo_key("a kind", PROBLEM) != before


async def test_what_is_not_taken(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer key of another Python, whose `sum` may round otherwise, or a changed problem's verdict."""
    keys, verdicts = tmp_path / "keys", tmp_path / "verdicts.jsonl"
    for python in ("3.98", "3.99", "3.98"):
        monkeypatch.setattr(memo, "python_version", lambda python=python: python)
        verdict = await ProgramGrader(sandbox, keys).grade(PROBLEM.reference, PROBLEM)
        assert verdict.outcome is Outcome.PASSED
    for problem, outcome in ((PROBLEM, Outcome.PASSED), (CHANGED, Outcome.FAILED)):
        grader = CachingGrader(ProgramGrader(sandbox), verdicts)
        assert (await grader.grade(PROBLEM.reference, problem)).outcome is outcome
    assert len(list(keys.iterdir())) == len(verdicts.read_bytes().splitlines()) == 2


async def test_two_commands_may_use_one_file(sandbox: Sandbox, tmp_path: Path) -> None:
    """Each adds its lines to those of the other, in a folder that the first one makes."""
    file = tmp_path / "verdicts/mine.jsonl"
    both = [CachingGrader(ProgramGrader(sandbox), file) for _ in range(2)]
    programs = [f"def f(x):\n    return {number}\n" for number in range(4)]
    for number, program in enumerate(programs):
        await both[number % 2].grade(program, PROBLEM)
    lines = file.read_bytes()
    assert lines.count(b"\n") == len(programs)
    third = CachingGrader(ProgramGrader(sandbox), file)
    verdicts = [await third.grade(program, PROBLEM) for program in programs]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.FAILED} and file.read_bytes() == lines
