"""`check(candidate)`: tests that run in another process than the function they call."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from triathlon_runner.datasets import TestedProblem
from triathlon_runner.grading import CodeTestGrader, UngradableError
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import open_sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROMPT = "def evens(n):\n"
LIST = "import math\n" + PROMPT + "    return list(range(0, n, 2))\n"
GENERATOR = PROMPT + "    yield from range(0, n, 2)\n"
CHECK = "def check(candidate):\n    for n in (5, 6):\n        assert list(candidate(n)) == [0, 2, 4]\n"
ASSERTIONS = """
assert evens(3) == [0, 2]
assert evens(1) is not None
assert math.isclose(sum(evens(5)), 6.0) and evens(2) == evens(1)
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def grader() -> AsyncIterator[CodeTestGrader]:
    async with open_sandbox(jobs=2) as sandbox:
        yield CodeTestGrader(sandbox)


def problem(tests: str, reference: str) -> TestedProblem:
    return TestedProblem("Own/1", "evens", PROMPT, tests, reference)


@pytest.mark.parametrize("tests", [CHECK, ASSERTIONS], ids=["check", "assertions"])
@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        (LIST, Outcome.PASSED),
        (PROMPT + "    return list(range(n))\n", Outcome.FAILED),
        (PROMPT + "    return 1 / 0\n", Outcome.CRASHED),
        (
            "class All(list):\n    def __eq__(s, o): return True\ndef evens(n):\n    return All()\n",
            Outcome.FAILED,
        ),
        ("import os\ndef evens(n):\n    os._exit(0)\n", Outcome.CRASHED),
        ("def evens(n):\n    raise SystemExit(0)\n", Outcome.CRASHED),
    ],
)
async def test_outcomes(grader: CodeTestGrader, tests: str, program: str, outcome: Outcome) -> None:
    """Only plain data comes from the program's process; tests may use modules that the reference imports."""
    verdict = await grader.grade(program, problem(tests, LIST))
    assert (verdict.outcome, verdict.judged) == (outcome, "outside")


@pytest.mark.parametrize(
    "program",
    [
        "import numpy as np\ndef evens(n):\n    return [int(x) for x in np.arange(0, n, 2)]\n",
        "from numpy import arange\ndef evens(n):\n    return arange(0, n, 2).tolist()\n",
    ],
)
async def test_a_program_may_choose_numpy(grader: CodeTestGrader, program: str) -> None:
    """As programs of problems with inputs may."""
    assert (await grader.grade(program, problem(CHECK, LIST))).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ("collections.ChainMap({'a': 1}, {'b': n})", Outcome.PASSED),
        ("types.MappingProxyType({'a': 1, 'b': n})", Outcome.PASSED),
        ("collections.ChainMap({'a': 1})", Outcome.FAILED),
    ],
)
async def test_a_mapping_is_carried_as_the_dict_of_its_items(
    grader: CodeTestGrader, value: str, outcome: Outcome
) -> None:
    """Python compares it with a dict in the same way."""
    program = f"import collections, types\ndef evens(n):\n    return {value}\n"
    reference = PROMPT + "    return {'a': 1, 'b': n}\n"
    tests = "assert evens(3) == {'a': 1, 'b': 3}"
    assert (await grader.grade(program, problem(tests, reference))).outcome is outcome


@pytest.mark.parametrize("program", [GENERATOR, PROMPT + "    return iter([7])\n"])
async def test_a_reference_whose_results_do_not_cross(grader: CodeTestGrader, program: str) -> None:
    """Where the reference returns generators, nothing is graded, and the reason names the problem."""
    with pytest.raises(UngradableError, match=r"the tests of Own/1 cannot grade: .*another process"):
        await grader.grade(program, problem(CHECK, GENERATOR))


AREAS = """
assert areas([1.0, 2.0]) == [3.3, {"sum": (6.6000000000000005, 2)}]
assert areas([]) == [0, {"sum": (0, 0)}] and areas([2]) != 5
"""


@pytest.mark.parametrize(
    ("digits", "factor", "outcome"),
    [
        ("3.3000000000000003", "1.1", Outcome.PASSED),
        ("3.3000000000000003", "(1.1 + 1e-12)", Outcome.FAILED),
        ("3.3", "1.1", Outcome.PASSED),
        ("3.3", "(1.1 + 1e-12)", Outcome.PASSED),
        ("3.3", "(1.1 + 1e-6)", Outcome.FAILED),
        ("3.31", "1.1", None),
    ],
)
async def test_a_reference_that_misses_a_literal_by_rounding(
    grader: CodeTestGrader, digits: str, factor: str, outcome: Outcome | None
) -> None:
    """Its floats are compared within 1e-9, and the verdict says so; with one that misses by more, none is."""

    def areas(factor: str) -> str:
        body = f"    s = sum(xs) * {factor}\n    return [s, {{'sum': (2 * s, len(xs))}}]\n"
        return f"def areas(xs):\n{body}"

    tests = AREAS.replace("3.3", digits)
    found = TestedProblem("Own/2", "areas", "def areas(xs):\n", tests, areas("1.1"))
    if outcome is None:
        with pytest.raises(UngradableError, match="its own reference fails them"):
            await grader.grade(areas(factor), found)
        return
    verdict = await grader.grade(areas(factor), found)
    assert verdict.outcome is outcome
    assert ("within 1e-9" in verdict.detail) is (digits == "3.3")
