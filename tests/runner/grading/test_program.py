"""Judging a program by its reference."""

import pytest

from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.grading import (
    ProgramGrader,
)
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.syntax import chosen_libraries

pytestmark = pytest.mark.asyncio(loop_scope="module")

THIRDS = Problem(
    task_id="test/thirds",
    entry_point="f",
    prompt="def f(x):\n",
    reference="def f(x):\n    return [x, x / 3]\n",
    inputs=("(1,)", "(2,)", "(3,)"),
    comparison=Comparison("close", tolerance=1e-6),
    base_inputs=2,
)


@pytest.fixture
def grader(sandbox: Sandbox) -> ProgramGrader:
    """A grader that gives up soon."""
    return ProgramGrader(sandbox, None, min_cpu_seconds=1, wall_seconds=1)


@pytest.mark.parametrize(
    ("program", "outcome", "passed"),
    [
        ("def f(x):\n    return [x, x / 3 + 1e-9]\n", Outcome.PASSED, 3),
        ("import numpy as np\ndef f(x):\n    return [x, float(np.float64(x) / 3)]\n", Outcome.PASSED, 3),
        ("def f(x):\n    return [x, 2 / 3]\n", Outcome.FAILED, 0),
        ("def f(x):\n    return [x, x / 3 if x < 3 else 0]\n", Outcome.FAILED, 2),
        ("def f(x):\n    return [x, x / (2 - x) / 3]\n", Outcome.CRASHED, 1),
        ("def f(x):\n    while x == 2: pass\n    return [x, x / 3]\n", Outcome.TIMED_OUT, 1),
        ("import time\ndef f(x):\n    time.sleep(99)\n", Outcome.TIMED_OUT, 0),
        ("import os\ndef f(x):\n    os._exit(0)\n", Outcome.CRASHED, 0),
        ("def f(x:\n", Outcome.CRASHED, 0),
        ("def g(x):\n    return x\n", Outcome.CRASHED, 0),
        ("def f(x):\n    return 'x' * 10 ** 7\n", Outcome.CRASHED, 0),
        ("", Outcome.CRASHED, 0),
        ("def f(x):\n    return [x, 0]\n\nassert f(1) == [1, 1]\n", Outcome.FAILED, 0),
        ("def f(x):\n    return [x, 0]\n\nraise ValueError\n", Outcome.CRASHED, 0),
    ],
)
async def test_outcomes(grader: ProgramGrader, program: str, outcome: Outcome, passed: int) -> None:
    """Each way to fail has its outcome, and the inputs passed before it are counted; numpy may be chosen."""
    verdict = await grader.grade(program, THIRDS)
    assert (verdict.outcome, verdict.passed, verdict.total) == (outcome, passed, 3)
    assert verdict.judged == "outside"


async def test_evidence_of_the_first_failure(grader: ProgramGrader) -> None:
    """A failing verdict shows input, expected and got."""
    verdict = await grader.grade("def f(x):\n    return x\n", THIRDS)
    assert verdict.failing is not None
    assert (verdict.failing.index, verdict.failing.input) == (0, "(1,)")
    assert (verdict.failing.expected, verdict.failing.got) == ("[1, 0.3333333333333333]", "1")


async def test_base_inputs_are_the_first(grader: ProgramGrader) -> None:
    """Judged on the base inputs, a program that fails on an additional one passes."""
    program = "def f(x):\n    return [x, x / 3 if x < 3 else 0]\n"
    verdict = await grader.grade(program, THIRDS, inputs="base")
    assert (verdict.outcome, verdict.total) == (Outcome.PASSED, 2)


async def test_a_reference_may_raise(grader: ProgramGrader) -> None:
    """On an input where the reference raises the program has to, with the same type of exception."""
    raising = Problem(
        "test/raises", "f", "", "def f(x):\n    return 6 // x\n", ("(2,)", "(0,)"), Comparison("exact")
    )
    assert (await grader.grade("def f(x):\n    return 6 // x\n", raising)).outcome is Outcome.PASSED
    for answer in ("3", "3 if x else ''.x"):
        verdict = await grader.grade(f"def f(x):\n    return {answer}\n", raising)
        assert (verdict.outcome, verdict.passed) == (Outcome.FAILED, 1)
        assert verdict.failing is not None and verdict.failing.expected == "raises ZeroDivisionError"


async def test_opaque_answers_never_match(grader: ProgramGrader) -> None:
    """Even where the reference itself returns a generator, another one is not the same answer."""
    problem = Problem("test/lazy", "f", "", "def f(x):\n    return iter([x])\n", ("(1,)",))
    assert (await grader.grade(problem.reference, problem)).outcome is Outcome.FAILED


async def test_blank_lines_are_read_once() -> None:
    """Whether a program imports NumPy is found in one pass."""
    assert chosen_libraries("numpy" + "\n" * 100_000) == frozenset()
    assert chosen_libraries("def f():\n    import numpy as np\n") == {"numpy"}
