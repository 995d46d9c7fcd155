"""Judging classes by unittest modules that run in another process than the class."""

import pytest

from support.official_data import official_store
from triathlon_runner.datasets import ClassProblem
from triathlon_runner.datasets.core import classes
from triathlon_runner.datasets.user import problem_file
from triathlon_runner.grading import ClassGrader, UngradableError
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Limits, Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

TALLY = """
class Tally:
    unit = "piece"

    def __init__(self, start=0, *, step=1):
        if step == 0:
            raise ValueError("no step")
        self.count = start
        self.step = step

    def add(self, times=1):
        self.count += times * self.step
        return self.count

    @staticmethod
    def double(x):
        return 2 * x

    def __len__(self):
        return self.count

    def twin(self):
        return Tally(self.count, step=self.step)
"""
TEST = """
import unittest

class TallyTest(unittest.TestCase):
    def setUp(self):
        self.tally = Tally(3, step=2)

    def test_add(self):
        self.assertEqual(self.tally.add(), 5)
        self.assertEqual(self.tally.add(times=2), 9)
        self.assertEqual(len(self.tally), 9)

    def test_attributes(self):
        self.tally.count = 7
        self.assertEqual((self.tally.count, Tally.unit, Tally.double(4)), (7, "piece", 8))

    def test_refuses(self):
        with self.assertRaises(ValueError):
            Tally(step=0)
"""
TWIN_TEST = """
class TwinTest(unittest.TestCase):
    def test_twin(self):
        twin = Tally(1).twin()
        wanted = 3
        self.assertEqual(twin.add(2), wanted)
        self.assertTrue(twin.step == 1)
"""
OUTSIDE = ClassProblem("test/tally", "Tally", TALLY, TEST)


@pytest.fixture
def grader(sandbox: Sandbox) -> ClassGrader:
    return ClassGrader(sandbox, Limits(cpu_seconds=2, wall_seconds=5))


async def test_plain_data_is_judged_outside(grader: ClassGrader) -> None:
    """Arguments, results, attributes, static methods and exceptions cross; the reference passes that way."""
    verdict = await grader.grade(TALLY, OUTSIDE)
    assert (verdict.outcome, verdict.passed, verdict.total) == (Outcome.PASSED, 3, 3)
    assert verdict.judged == "outside"


@pytest.mark.parametrize(
    ("old", "new", "outcome", "passed"),
    [
        ("times * self.step", "times", Outcome.FAILED, 0),
        ("return self.count\n", "return self.count / 0\n", Outcome.CRASHED, 0),
        ('"piece"', '"bit"', Outcome.FAILED, 1),
        (
            "if step == 0:",
            "while step == 0:\n            continue\n        if step == 0:",
            Outcome.TIMED_OUT,
            2,
        ),
        ("raise ValueError", "raise KeyError", Outcome.CRASHED, 2),
        ("class Tally:", "class Other:", Outcome.CRASHED, 0),
        ("class Tally:", "class Tally", Outcome.CRASHED, 0),
        ("class Tally:", "import os\nos._exit(0)\nclass Tally:", Outcome.CRASHED, 0),
    ],
)
async def test_outcomes(grader: ClassGrader, old: str, new: str, outcome: Outcome, passed: int) -> None:
    """Each way to be wrong has its outcome, and the methods before it are counted."""
    verdict = await grader.grade(TALLY.replace(old, new), OUTSIDE)
    assert (verdict.outcome, verdict.passed, verdict.total) == (outcome, passed, 3)
    assert verdict.failing is not None and verdict.failing.index == passed


IDLE = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertTrue(True)\n"


@pytest.mark.parametrize(
    ("reference", "tests", "reason"),
    [
        (TALLY, TEST + TWIN_TEST, r"1 of 4 test methods .* another process, TwinTest.test_twin"),
        (TALLY.replace("2 * x", "x"), TEST, r"test/odd can't be graded: its own reference fails 1 of 3"),
        (TALLY, IDLE, r"the tests of test/odd prove nothing: .*'Tally'"),
        ("class Tally\n", TEST, r"test/odd can't be graded: .* no Python"),
        (TALLY, "def check(:", r"test/odd can't be graded: .* no Python"),
    ],
)
async def test_what_cannot_grade_is_refused(
    grader: ClassGrader, reference: str, tests: str, reason: str
) -> None:
    """Tests that need an object or never touch the class, that the reference fails, or that are no Python."""
    with pytest.raises(UngradableError, match=reason):
        await grader.grade(TALLY, ClassProblem("test/odd", "Tally", reference, tests))


@pytest.mark.parametrize("value", ["10**400", "-10**400", "10**5000", "float('nan')", "'3'", "[]", "self"])
async def test_values_that_no_float_is_near_to(grader: ClassGrader, value: str) -> None:
    """Whatever a class returns to `assertAlmostEqual`, its failure has a name."""
    test = TEST.replace(
        "self.assertEqual(self.tally.add(), 5)", "self.assertAlmostEqual(self.tally.add(), 5.0)"
    )
    program = TALLY.replace("return self.count\n\n    @", f"return {value}\n\n    @")
    verdict = await grader.grade(program, ClassProblem("test/near", "Tally", TALLY, test))
    assert verdict.outcome in (Outcome.FAILED, Outcome.CRASHED)
    assert verdict.failing and verdict.failing.got


async def test_core_classes_pass(grader: ClassGrader) -> None:
    """Our own classes pass their tests, but for those whose tests need objects: these are refused."""
    outcomes = []
    for problem in classes():
        try:
            outcomes.append((await grader.grade(problem.reference, problem)).outcome)
        except UngradableError as error:
            assert "in another process" in str(error)
    assert set(outcomes) == {Outcome.PASSED} and len(outcomes) >= 0.8 * len(classes()) >= 4


@pytest.mark.official
async def test_classeval_is_read_and_judged(grader: ClassGrader) -> None:
    """The official file of classes is a problem file; its first classes pass with their references."""
    folder = official_store().folder
    assert folder is not None
    problems = problem_file(folder / "ClassEval_data.json.gz")
    assert len(problems) == 100
    for problem in problems[5:8]:
        assert isinstance(problem, ClassProblem)
        verdict = await grader.grade(problem.reference, problem)
        assert (verdict.outcome, verdict.judged) == (Outcome.PASSED, "outside"), verdict
