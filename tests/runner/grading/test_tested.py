"""`check(candidate)` where what the function returns can't cross to the tests."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from triathlon_runner.datasets.official import TestedProblem
from triathlon_runner.grading import UnjudgeableError
from triathlon_runner.grading._classes import ClassGrader
from triathlon_runner.grading._tested import TestedGrader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import open_sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROMPT = "def evens(n):\n"
RIGHT = PROMPT + "    yield from range(0, n, 2)\n"
CHECK = (
    "def check(candidate):\n    for n in (5, 6):\n        assert list(candidate(n)) == [0, 2, 4]\n"
    "    assert [0] == list(candidate(1)), 'one'\n"
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def grader() -> AsyncIterator[TestedGrader]:
    async with open_sandbox(jobs=2) as sandbox:
        yield TestedGrader(sandbox, ClassGrader(sandbox))


def problem(tests: str = CHECK, reference: str = RIGHT) -> TestedProblem:
    return TestedProblem("Own/1", "evens", PROMPT, tests, reference)


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        (RIGHT, Outcome.PASSED),
        ("def evens(n):\n    return iter(range(0, n, 2))\n", Outcome.PASSED),
        ("def evens(n):\n    yield from range(n)\n", Outcome.FAILED),
        ("def evens(n):\n    yield 1 / 0\n", Outcome.CRASHED),
        (
            "class All(list):\n    def __eq__(s, o): return True\ndef evens(n):\n    return All()\n",
            Outcome.FAILED,
        ),
        ("import os\ndef evens(n):\n    os._exit(0)\n", Outcome.CRASHED),
        ("def evens(n):\n    raise SystemExit(0)\n", Outcome.CRASHED),
        (
            "import unittest\nunittest.TestSuite.run = lambda s, r: None\n"
            "def evens(n):\n    yield from range(n)\n",
            Outcome.FAILED,
        ),
    ],
)
async def test_results_that_cannot_cross_are_judged_beside(
    grader: TestedGrader, program: str, outcome: Outcome
) -> None:
    """Where the reference returns a generator, assertions report from beside the program, without answers."""
    verdict = await grader.judge(program, problem())
    assert (verdict.outcome, verdict.judged) == (outcome, "same-process")


async def test_plain_results_stay_outside(grader: TestedGrader) -> None:
    """A program that fails tests which the reference passes from outside is judged there and nowhere else."""
    tests = "def check(candidate):\n    assert candidate(1) == [0]\n"
    plain = problem(tests, PROMPT + "    return list(range(0, n, 2))\n")
    verdict = await grader.judge(RIGHT, plain)
    assert (verdict.outcome, verdict.judged) == (Outcome.FAILED, "outside")


@pytest.mark.parametrize(
    "tests",
    [
        "def check(candidate):\n    assert hasattr(candidate(1), '__next__')\n",
        "def check(candidate):\n    assert list(candidate(1)) == list(candidate(2))\n",
        "def check(candidate):\n    candidate(1).send(None)\n",
        "def check(candidate, n=2):\n    assert list(candidate(1)) == [0]\n    candidate(1).send(None).x\n",
        "def right(g):\n    assert list(g) == [0]\ndef check(candidate):\n    right(candidate(1))\n",
    ],
)
async def test_what_could_be_forged_is_not_judged(grader: TestedGrader, tests: str) -> None:
    """Assertions that don't say what equals which literal prove nothing beside a program: an error."""
    with pytest.raises(UnjudgeableError, match="which literal"):
        await grader.judge(RIGHT, problem(tests))
