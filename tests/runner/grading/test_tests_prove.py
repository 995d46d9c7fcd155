"""Tests that never call the program prove nothing: such problems are refused, with the reason."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from triathlon_runner.datasets import ClassProblem, Problem, TestedProblem
from triathlon_runner.grading import (
    ClassGrader,
    CodeTestGrader,
    ProgramGrader,
    ReferenceFailedError,
    UngradableError,
    grade_by_tests,
)
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox, open_sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

RIGHT = "def double(n):\n    return 2 * n\n"
BROKEN = "def double(n:\n"
USELESS = {
    "empty": "",
    "remark": "# nothing here\n",
    "no check": "METADATA = {'author': 'x'}\n",
    "empty check": "def check(candidate):\n    pass\n",
    "check of nothing": "def check(candidate):\n    assert 2 * 2 == 4\n",
    "pytest": "def test_double():\n    assert double(2) == 4\n",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        double(2)\n",
    "fails before": "def check(candidate):\n    assert nothing_of_this_name\n    candidate(2)\n",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox(jobs=2) as found:
        yield found


@pytest.mark.parametrize("program", [RIGHT, BROKEN], ids=["right", "does not parse"])
@pytest.mark.parametrize("tests", USELESS)
async def test_tests_without_a_call_are_refused(sandbox: Sandbox, tests: str, program: str) -> None:
    """Whatever the program, and also where it does not even parse: the problem is refused, nothing passes."""
    problem = TestedProblem("Own/1", "double", "def double(n):\n", USELESS[tests], RIGHT)
    with pytest.raises(UngradableError, match=r"the tests of Own/1 prove nothing: .*'double'"):
        await CodeTestGrader(sandbox).grade(program, problem)


@pytest.mark.parametrize(
    "tests", ["assert double(2) == 4\n", "def check(candidate):\n    assert candidate(2) == 4\n"]
)
async def test_tests_that_call_are_judged_by(sandbox: Sandbox, tests: str) -> None:
    """One call is enough: right passes, wrong fails, and a program that does not parse crashes."""
    grader = CodeTestGrader(sandbox)
    problem = TestedProblem("Own/2", "double", "def double(n):\n", tests)
    programs = {RIGHT: Outcome.PASSED, RIGHT.replace("2 *", "3 *"): Outcome.FAILED, BROKEN: Outcome.CRASHED}
    assert {text: (await grader.grade(text, problem)).outcome for text in programs} == programs


async def test_no_verdict_without_a_call(sandbox: Sandbox) -> None:
    """Also where tests are run by themselves, as in translations, their end alone is no pass."""
    with pytest.raises(UngradableError, match="prove nothing"):
        await grade_by_tests(sandbox, RIGHT, "x = 1\n", ("double",))


async def test_classes_whose_tests_do_nothing(sandbox: Sandbox) -> None:
    """A unittest module that never touches the class is refused as well."""
    method = "    def test(self):\n        self.assertTrue(True)\n"
    tests = f"import unittest\nclass T(unittest.TestCase):\n{method}"
    problem = ClassProblem("Own/3", "Box", "class Box:\n    pass\n", tests)
    with pytest.raises(UngradableError, match=r"the tests of Own/3 prove nothing: .*'Box'"):
        await ClassGrader(sandbox).grade(problem.reference, problem)


async def test_a_problem_without_inputs(sandbox: Sandbox) -> None:
    """Nothing to compare is no pass."""
    problem = Problem("Own/4", "double", "def double(n):\n", RIGHT, ())
    with pytest.raises(ReferenceFailedError, match="the problem has no inputs"):
        await ProgramGrader(sandbox).grade(RIGHT, problem)


@pytest.mark.parametrize(("reference", "tests"), [("def double(n):\n", "x = 1\n"), (RIGHT, "def check(:")])
async def test_a_problem_that_is_no_python(sandbox: Sandbox, reference: str, tests: str) -> None:
    """A reference or tests that do not parse are the problem's fault, said with its id."""
    with pytest.raises(UngradableError, match=r"Own/5 can't be graded: .* no Python"):
        await ClassGrader(sandbox).grade(RIGHT, ClassProblem("Own/5", "double", reference, tests))
