"""Tests that are code: they run in another process than the function or class that they call."""

from pathlib import Path

import pytest

from support.case_files import programs, sections
from triathlon_runner.datasets import TestedProblem
from triathlon_runner.grading import CodeTestGrader, UngradableError, grade_by_tests
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Limits, Sandbox

FOLDER = Path(__file__).parent
EVENS = programs(FOLDER / "evens_programs.txt")
PROVING_NOTHING = sections(FOLDER / "proving_nothing.txt")
pytestmark = pytest.mark.asyncio(loop_scope="module")

P, F, C, T = Outcome.PASSED, Outcome.FAILED, Outcome.CRASHED, Outcome.TIMED_OUT
PROMPT = "def evens(n):\n"
LIST = f"import math\n{PROMPT}    return list(range(0, n, 2))\n"
GENERATOR = f"{PROMPT}    yield from range(0, n, 2)\n"
CHECK = "def check(candidate):\n    for n in (5, 6):\n        assert list(candidate(n)) == [0, 2, 4]\n"
ASSERTIONS = """
import numpy as np
assert evens(3) == [0, 2]
assert evens(1) is not None and evens(np.int64(5)) == [0, 2, 4]
assert math.isclose(sum(evens(5)), 6.0) and evens(2) == evens(1)
"""


@pytest.fixture
def grader(sandbox: Sandbox) -> CodeTestGrader:
    return CodeTestGrader(sandbox)


def problem(tests: str, reference: str = LIST) -> TestedProblem:
    return TestedProblem("Own/1", "evens", PROMPT, tests, reference)


@pytest.mark.parametrize("tests", [CHECK, ASSERTIONS], ids=["check", "assertions"])
@pytest.mark.parametrize(("program", "outcome"), EVENS.values(), ids=EVENS)
async def test_outcomes(grader: CodeTestGrader, tests: str, program: str, outcome: str) -> None:
    """Only plain data comes from the program's process; tests may use NumPy and modules of the reference."""
    verdict = await grader.grade(program, problem(tests))
    assert (verdict.outcome, verdict.judged) == (outcome, "outside")


@pytest.mark.parametrize(
    ("caught", "raised", "outcome"),
    [
        ("ValueError", "ValueError", P),
        ("ValueError", "json.JSONDecodeError('no number', '', 0)", P),
        ("ValueError", "b'\\xff'.decode()", P),
        ("ValueError", "type('Odd', (ValueError,), {})('odd')", P),
        ("ZeroDivisionError", "decimal.Decimal(1) / 0", P),
        ("RuntimeError", "type('Odd', (Exception,), {})('odd')", C),
    ],
)
async def test_an_exception_is_what_its_built_in_type_is(
    grader: CodeTestGrader, caught: str, raised: str, outcome: Outcome
) -> None:
    """Tests catch an exception of the program's own by the built-in type that it is derived from."""
    tests = f"try:\n    evens(-1)\nexcept {caught}:\n    pass\nelse:\n    assert False\n"
    body = f"import decimal, json\n{PROMPT}    raise {{}}\n"
    verdict = await grader.grade(body.format(raised), problem(tests, body.format(caught)))
    assert verdict.outcome is outcome


async def test_tests_may_name_arguments(grader: CodeTestGrader) -> None:
    """From their first call on; a verdict shows them, and the line of the tests, as Python counts lines."""
    tests = "assert evens(n=3) == [0, 2]\rassert evens(4, first=2) == [2]\r"
    reference = "def evens(n, first=0):\n    return list(range(first, n, 2))\n"
    assert (await grader.grade(reference, problem(tests, reference))).outcome is P
    wrong = await grader.grade("def evens(n, first=0):\n    return [0, 2]", problem(tests, reference))
    assert wrong.outcome is F and wrong.failing is not None
    assert wrong.failing.input == "evens(4, first=2)"
    assert wrong.failing.expected == "assert evens(4, first=2) == [2] (AssertionError: )"
    other = await grader.grade("def evens(m):\n    return [0, 2]", problem(tests, reference))
    assert (other.outcome, "unexpected keyword argument 'n'" in other.detail) == (C, True)


async def test_tests_by_themselves(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in translations: within their limits, and their end alone, without a call, is no pass."""
    monkeypatch.setattr("triathlon_runner.grading._code_tests.TEST_LIMITS", Limits(cpu_seconds=1))
    endless = f"{PROMPT}    while True: pass\n"
    assert (await grade_by_tests(sandbox, endless, CHECK, "evens")).outcome is T
    with pytest.raises(UngradableError, match="prove nothing"):
        await grade_by_tests(sandbox, LIST, "x = 1\n", "evens")


@pytest.mark.parametrize("program", [LIST, PROMPT], ids=["right", "does not parse"])
@pytest.mark.parametrize("tests", PROVING_NOTHING.values(), ids=PROVING_NOTHING)
async def test_tests_that_prove_nothing_are_refused(grader: CodeTestGrader, tests: str, program: str) -> None:
    """Whatever the program, and also where it does not even parse: the problem is refused, nothing passes."""
    with pytest.raises(UngradableError, match=r"the tests of Own/1 prove nothing: .*'evens'"):
        await grader.grade(program, problem(tests))


async def test_a_mapping_is_carried_as_the_dict_of_its_items(grader: CodeTestGrader) -> None:
    """Python compares it with a dict in the same way."""
    asked = problem("assert evens(3) == {'a': 1, 'b': 3}", f"{PROMPT}    return {{'a': 1, 'b': n}}\n")
    for value, outcome in (
        ("collections.ChainMap({'a': 1}, {'b': n})", P),
        ("types.MappingProxyType({'a': 1, 'b': n})", P),
        ("collections.ChainMap({'a': 1})", F),
    ):
        program = f"import collections, types\ndef evens(n):\n    return {value}\n"
        assert (await grader.grade(program, asked)).outcome is outcome


@pytest.mark.parametrize("program", [GENERATOR, f"{PROMPT}    return iter([7])\n"])
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
        ("3.3000000000000003", "1.1", P),
        ("3.3000000000000003", "(1.1 + 1e-12)", F),
        ("3.3", "1.1", P),
        ("3.3", "(1.1 + 1e-12)", P),
        ("3.3", "(1.1 + 1e-6)", F),
        ("3.31", "1.1", None),
    ],
)
async def test_a_reference_that_misses_a_literal_by_rounding(
    grader: CodeTestGrader, digits: str, factor: str, outcome: Outcome | None
) -> None:
    """Its floats are compared within 1e-9, and the verdict says so; with one that misses by more, none is."""
    areas = "def areas(xs):\n    s = sum(xs) * {}\n    return [s, {{'sum': (2 * s, len(xs))}}]\n"
    tests = AREAS.replace("3.3", digits)
    found = TestedProblem("Own/2", "areas", "def areas(xs):\n", tests, areas.format("1.1"))
    if outcome is None:
        with pytest.raises(UngradableError, match="its own reference fails them"):
            await grader.grade(areas.format(factor), found)
        return
    verdict = await grader.grade(areas.format(factor), found)
    assert verdict.outcome is outcome
    assert ("within 1e-9" in verdict.detail) is (digits == "3.3")
