"""Judging a program by its reference."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

import pytest
import pytest_asyncio

from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.grading import (
    ProgramGrader,
    ReferenceFailedError,
    _answer_keys,
    grade_by_tests,
    stored_cpu_seconds,
)
from triathlon_runner.grading._limits import chosen_libraries
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Limits, Sandbox, open_sandbox

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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """The strongest sandbox of this machine."""
    async with open_sandbox(jobs=1) as found:
        yield found


@pytest.fixture
def grader(sandbox: Sandbox) -> ProgramGrader:
    """A grader that gives up soon."""
    return ProgramGrader(sandbox, None, min_cpu_seconds=1, wall_seconds=1)


@pytest.mark.parametrize(
    ("program", "outcome", "passed"),
    [
        ("def f(x):\n    return [x, x / 3 + 1e-9]\n", Outcome.PASSED, 3),
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
    """Each way to fail has its outcome, and the inputs passed before it are counted."""
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


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("yield from {1, x}", Outcome.PASSED),
        ("return map(int, [x, 1])", Outcome.PASSED),
        ("return iter((1, x, 1))", Outcome.PASSED),
        ("return (n for n in range(x))", Outcome.FAILED),
        ("return 1", Outcome.FAILED),
        ("while True: yield 1", Outcome.TIMED_OUT),
    ],
)
async def test_iterators_count_as_their_items_where_sets_count(
    grader: ProgramGrader, body: str, outcome: Outcome
) -> None:
    """Where only the set of items counts, as in EvalPlus' rule, a generator of the right items is right."""
    problem = Problem(
        "test/set", "f", "", "def f(x):\n    return [x, 1]\n", ("(1,)", "(7,)"), Comparison("set")
    )
    assert (await grader.grade(f"def f(x):\n    {body}\n", problem)).outcome is outcome


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


async def test_a_failing_reference_is_our_fault(grader: ProgramGrader) -> None:
    """A problem whose reference does not run can't be graded: an error, never a verdict."""
    broken = Problem("test/broken", "f", "", "def f(x):\n    return g(x)\n", ("(1,)",))
    with pytest.raises(ReferenceFailedError, match="test/broken"):
        await grader.grade("def f(x):\n    return x\n", broken)


async def test_opaque_answers_never_match(grader: ProgramGrader) -> None:
    """Even where the reference itself returns a generator, another one is not the same answer."""
    problem = Problem("test/lazy", "f", "", "def f(x):\n    return iter([x])\n", ("(1,)",))
    assert (await grader.grade(problem.reference, problem)).outcome is Outcome.FAILED


async def test_answer_keys_are_kept(sandbox: Sandbox, tmp_path: Path) -> None:
    """A second grader reads the keys from disk, and a damaged one is made again."""
    for damage in (False, True):
        assert (await ProgramGrader(sandbox, tmp_path).grade(THIRDS.reference, THIRDS)).passed == 3
        (key,) = tmp_path.iterdir()
        if damage:
            key.write_bytes(key.read_bytes()[:40])
    assert (await ProgramGrader(sandbox, tmp_path).grade(THIRDS.reference, THIRDS)).passed == 3


async def test_a_stored_key_says_how_long_its_reference_computes(sandbox: Sandbox, tmp_path: Path) -> None:
    """Nothing is executed for that: where no key is stored, no seconds are known."""
    slow = "import time\ndef f(x):\n    while time.process_time() < 0.3: pass\n"
    problem = Problem("test/slow", "f", "", slow, ("(1,)",))
    assert stored_cpu_seconds(tmp_path, problem) == 0.0
    await ProgramGrader(sandbox, tmp_path).grade("def f(x): pass\n", problem)
    assert 0.2 < stored_cpu_seconds(tmp_path, problem) < 3
    assert stored_cpu_seconds(tmp_path, THIRDS) == 0.0


async def test_a_key_is_made_once(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of one problem that are graded at the same time wait for one run of its reference."""
    made: list[str] = []
    write = _answer_keys.write_key

    async def counted(where: Sandbox, problem: Problem, file: IO[bytes]) -> None:
        made.append(problem.task_id)
        await write(where, problem, file)

    monkeypatch.setattr(_answer_keys, "write_key", counted)
    grader = ProgramGrader(sandbox, None)
    verdicts = await asyncio.gather(*(grader.grade(THIRDS.reference, THIRDS) for _ in range(4)))
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASSED} and made == ["test/thirds"]


async def test_a_program_may_choose_numpy(grader: ProgramGrader) -> None:
    """A program that imports numpy gets it though its problem does not name it."""
    program = "import numpy as np\ndef f(x):\n    return [x, float(np.float64(x) / 3)]\n"
    assert (await grader.grade(program, THIRDS)).outcome is Outcome.PASSED


CHECK = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3\n"


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("def f(x):\n    return x + 1\n", Outcome.PASSED),
        ("def f(x):\n    return 2\n", Outcome.FAILED),
        ("def f(x):\n    return x / 0\n", Outcome.CRASHED),
        ("def f(x):\n    while True: pass\n", Outcome.TIMED_OUT),
        ("import os\nos._exit(0)\n", Outcome.CRASHED),
        ("def f(\n", Outcome.CRASHED),
        ("class E:\n    def __eq__(s, o): return True\ndef f(x): return E()\n", Outcome.FAILED),
        ("check = lambda c: None\ndef f(x): return 7\n", Outcome.FAILED),
    ],
)
async def test_tests_that_are_code(sandbox: Sandbox, program: str, outcome: Outcome) -> None:
    """A `check(candidate)` judges from another process; what the program does to its own changes nothing."""
    verdict = await grade_by_tests(sandbox, program, CHECK, ("f",), limits=Limits(cpu_seconds=1))
    assert (verdict.outcome, verdict.judged) == (outcome, "outside")


async def test_blank_lines_are_read_once() -> None:
    """Whether a program imports NumPy is found in one pass."""
    assert chosen_libraries("numpy" + "\n" * 100_000) == frozenset()
    assert chosen_libraries("def f():\n    import numpy as np\n") == {"numpy"}
