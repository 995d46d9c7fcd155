"""Judging classes by unittest modules: away from the program where that works, beside it where not."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.official_data import official_store
from triathlon_runner.datasets import ClassProblem
from triathlon_runner.datasets.core import classes
from triathlon_runner.datasets.official import problem_file
from triathlon_runner.grading import ClassGrader, ReferenceFailedError
from triathlon_runner.grading._class_tests import Site, UnittestModule, beside, read
from triathlon_runner.grading._classes import holds
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Limits, Opaque, Sandbox, open_sandbox

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
MIXED = ClassProblem("test/twins", "Tally", TALLY, TEST + TWIN_TEST)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """The strongest sandbox of this machine."""
    async with open_sandbox(jobs=1) as found:
        yield found


@pytest.fixture
def grader(sandbox: Sandbox) -> ClassGrader:
    return ClassGrader(sandbox, Limits(cpu_seconds=2, wall_seconds=5))


async def test_plain_data_is_judged_outside(grader: ClassGrader) -> None:
    """Arguments, results, attributes, static methods and exceptions cross; the reference passes that way."""
    verdict = await grader.judge(TALLY, OUTSIDE)
    assert (verdict.outcome, verdict.passed, verdict.total) == (Outcome.PASSED, 3, 3)
    assert verdict.judged == "outside"


async def test_objects_that_cross_are_judged_beside_the_program(grader: ClassGrader) -> None:
    """Only what needs an object of the program's own runs in its process, and the verdict says so."""
    ways = await grader.ways(MIXED)
    assert ways.same_process == (("TwinTest", "test_twin"),) and len(ways.outside) == 3
    verdict = await grader.judge(TALLY, MIXED)
    assert (verdict.outcome, verdict.judged) == (Outcome.PASSED, "same-process")


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
        ("Tally(self.count, ", "Tally(0, ", Outcome.FAILED, 3),
        ("class Tally:", "class Other:", Outcome.CRASHED, 0),
        ("class Tally:", "class Tally", Outcome.CRASHED, 0),
        ("class Tally:", "import os\nos._exit(0)\nclass Tally:", Outcome.CRASHED, 0),
    ],
)
async def test_outcomes(grader: ClassGrader, old: str, new: str, outcome: Outcome, passed: int) -> None:
    """Each way to be wrong has its outcome, and the methods before it are counted."""
    verdict = await grader.judge(TALLY.replace(old, new), MIXED)
    assert (verdict.outcome, verdict.passed, verdict.total) == (outcome, passed, 4)
    assert verdict.failing is not None and verdict.failing.index == passed


@pytest.mark.parametrize(
    "cheat",
    [
        "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
        "import unittest\nunittest.TestSuite.run = lambda self, result: result\n",
        "import os\nos.write(4, b'L\\0\\0\\0\\0')\nos._exit(0)\n",
    ],
)
async def test_a_patched_unittest_changes_nothing(grader: ClassGrader, cheat: str) -> None:
    """What a program does to the tools of tests in its own process earns no pass, whichever way is used."""
    wrong = TALLY.replace("times * self.step", "7")
    both = ClassProblem("test/beside", "Tally", TALLY, "import unittest\n" + TWIN_TEST)
    for problem in (MIXED, both):
        assert (await grader.judge(cheat + wrong, problem)).outcome is not Outcome.PASSED


async def test_reports_without_their_assertions_are_no_pass(grader: ClassGrader) -> None:
    """Beside the program, a method that ended well but reached none of its assertions has failed."""
    both = ClassProblem("test/beside", "Tally", TALLY, "import unittest\n" + TWIN_TEST)
    skipping = TALLY.replace(
        "return Tally(", "import unittest\n        raise unittest.SkipTest\n        return Tally("
    )
    assert (await grader.judge(skipping, both)).outcome is Outcome.FAILED


async def test_a_reference_that_fails_is_our_fault(grader: ClassGrader) -> None:
    """UnittestModule that the reference does not pass judge nobody."""
    broken = ClassProblem("test/broken", "Tally", TALLY.replace("2 * x", "x"), TEST)
    with pytest.raises(ReferenceFailedError, match="test/broken"):
        await grader.judge(TALLY, broken)


async def test_literal_answers_are_taken_out_of_the_text() -> None:
    """What runs beside the program does not hold the answers that stand in the tests as literals."""
    tests: UnittestModule = read("import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
                        "        self.assertEqual(f(1), 4711)\n")  # fmt: skip
    text = beside("", tests)
    assert "4711" not in text and "assertEqual" not in text.partition("class T")[2].partition("def _tri")[0]
    assert tests.sites == [Site("assertEqual", {1: 4711})]


@pytest.mark.parametrize(
    ("kind", "literals", "operands", "expected"),
    [
        ("assertEqual", {1: 2}, [2], True),
        ("assertEqual", {0: [1]}, [[2]], False),
        ("assertEqual", {}, [Opaque("x"), Opaque("x")], False),
        ("assertTrue", {}, [[]], False),
        ("assertIn", {0: 1}, [[1, 2]], True),
        ("assertIsNone", {}, [None], True),
        ("assertAlmostEqual", {1: 0.3}, [0.1 + 0.2], True),
        ("assertAlmostEqual", {1: 0.3}, [0.31], False),
        ("assertGreater", {1: 0}, [1], True),
        ("assertRaises", {}, [1], False),
    ],
)
async def test_assertions_are_decided_from_what_they_saw(
    kind: str, literals: dict[int, object], operands: list[object], expected: bool
) -> None:
    """Each kind holds for the operands that unittest would accept."""
    assert holds(Site(kind, literals), operands) is expected


NEAR_TEST = """
import unittest

class NearTest(unittest.TestCase):
    def test_near(self):
        twin = Tally(1).twin()
        self.assertAlmostEqual(twin.add(2), 3.0)
        self.assertTrue(twin.step == 1)
"""


@pytest.mark.parametrize("value", ["10**400", "-10**400", "10**5000", "float('nan')", "'3'", "[]", "self"])
async def test_values_that_no_float_is_near_to(grader: ClassGrader, value: str) -> None:
    """Whatever a class returns to `assertAlmostEqual`, its failure has a name, whichever way it is judged."""
    beside = ClassProblem("test/near", "Tally", TALLY, NEAR_TEST)
    away = ClassProblem("test/far", "Tally", TALLY, NEAR_TEST.replace("Tally(1).twin()", "Tally(1)"))
    for problem, judged in ((beside, "same-process"), (away, "outside")):
        verdict = await grader.judge(
            TALLY.replace("return self.count\n\n    @", f"return {value}\n\n    @"), problem
        )
        assert verdict.outcome in (Outcome.FAILED, Outcome.CRASHED)
        assert verdict.judged == judged and verdict.failing and verdict.failing.got


async def test_core_classes_pass(grader: ClassGrader) -> None:
    """Each of our own classes passes its tests, nearly all of them away from the program."""
    ways = []
    for problem in classes():
        verdict = await grader.judge(problem.reference, problem)
        assert verdict.outcome is Outcome.PASSED, (problem.task_id, verdict)
        ways.append(verdict.judged)
    assert ways.count("outside") >= 0.8 * len(ways) >= 4


@pytest.mark.official
async def test_classeval_is_read_and_judged(grader: ClassGrader) -> None:
    """The official file of classes is a problem file; its first classes pass with their references."""
    folder = official_store().folder
    assert folder is not None
    problems = problem_file(folder / "ClassEval_data.json.gz")
    assert len(problems) == 100
    for problem in problems[5:8]:
        assert isinstance(problem, ClassProblem)
        verdict = await grader.judge(problem.reference, problem)
        assert (verdict.outcome, verdict.judged) == (Outcome.PASSED, "outside"), verdict
