"""`check(candidate)` and assertions: tests that run in another process than the function they call."""

import pytest

from triathlon_runner.datasets import TestedProblem
from triathlon_runner.grading import CodeTestGrader, UngradableError, grade_by_tests
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Limits, Sandbox

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
USELESS = {
    "empty": "",
    "remark": "# nothing here\n",
    "no check": "METADATA = {'author': 'x'}\n",
    "empty check": "def check(candidate):\n    pass\n",
    "check of nothing": "def check(candidate):\n    assert 2 * 2 == 4\n",
    "pytest": "def test_evens():\n    assert evens(2) == [0]\n",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        evens(2)\n",
    "fails before": "def check(candidate):\n    assert nothing_of_this_name\n    candidate(2)\n",
}


@pytest.fixture
def grader(sandbox: Sandbox) -> CodeTestGrader:
    return CodeTestGrader(sandbox)


def problem(tests: str, reference: str = LIST) -> TestedProblem:
    return TestedProblem("Own/1", "evens", PROMPT, tests, reference)


@pytest.mark.parametrize("tests", [CHECK, ASSERTIONS], ids=["check", "assertions"])
@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        (LIST, Outcome.PASSED),
        ("import numpy as np\ndef evens(n):\n    return np.arange(0, n, 2).tolist()\n", Outcome.PASSED),
        ("from numpy import arange\ndef evens(n):\n    return arange(0, n, 2).tolist()\n", Outcome.PASSED),
        (PROMPT + "    return list(range(n))\n", Outcome.FAILED),
        ("check = lambda c: None\n" + PROMPT + "    return 7\n", Outcome.FAILED),
        (
            "class All(list):\n    def __eq__(s, o): return True\ndef evens(n):\n    return All()\n",
            Outcome.FAILED,
        ),
        (PROMPT + "    return 1 / 0\n", Outcome.CRASHED),
        (PROMPT, Outcome.CRASHED),
        ("import os\nos._exit(0)\n", Outcome.CRASHED),
        ("import os\ndef evens(n):\n    os._exit(0)\n", Outcome.CRASHED),
        ("def evens(n):\n    raise SystemExit(0)\n", Outcome.CRASHED),
    ],
)
async def test_outcomes(grader: CodeTestGrader, tests: str, program: str, outcome: Outcome) -> None:
    """Only plain data comes from the program's process; tests may use modules that the reference imports."""
    verdict = await grader.grade(program, problem(tests))
    assert (verdict.outcome, verdict.judged) == (outcome, "outside")


async def test_tests_by_themselves(sandbox: Sandbox) -> None:
    """As in translations: within their limits, and their end alone, without a call, is no pass."""
    limits = Limits(cpu_seconds=1)
    endless = PROMPT + "    while True: pass\n"
    verdict = await grade_by_tests(sandbox, endless, CHECK, ("evens",), limits=limits)
    assert verdict.outcome is Outcome.TIMED_OUT
    with pytest.raises(UngradableError, match="prove nothing"):
        await grade_by_tests(sandbox, LIST, "x = 1\n", ("evens",))


@pytest.mark.parametrize("program", [LIST, PROMPT], ids=["right", "does not parse"])
@pytest.mark.parametrize("tests", USELESS)
async def test_tests_without_a_call_are_refused(grader: CodeTestGrader, tests: str, program: str) -> None:
    """Whatever the program, and also where it does not even parse: the problem is refused, nothing passes."""
    with pytest.raises(UngradableError, match=r"the tests of Own/1 prove nothing: .*'evens'"):
        await grader.grade(program, problem(USELESS[tests]))


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
