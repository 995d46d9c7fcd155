"""Output questions: the value that an answer states decides, in whatever form it states it."""

import re
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_asyncio

from support.case_files import listed, sections
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import Outcome
from triathlon_runner.runtime import InputQuestions, ProgramQuestions, grade_output
from triathlon_runner.runtime._grade import Graded
from triathlon_runner.runtime._outputs import passes_by_authors
from triathlon_runner.runtime._programs import output_question
from triathlon_runner.sandbox import Sandbox, open_sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

FOLDER = Path(__file__).parent
PROGRAM, TEST = (f"{text}\n" for text in sections(FOLDER / "box.txt").values())
Question = tuple[ProgramQuestions, InputQuestions]


def of_test(masked: str, *originals: str) -> Question:
    """A question about the test."""
    asked = InputQuestions(
        index=0,
        text=masked,
        setup="self.box = Box()",
        test_class="T",
        test_method="test",
        masked=masked,
        originals=originals,
        statements=(),
    )
    return ProgramQuestions(task_id="t", program=PROGRAM, entry_point="f", test=TEST, inputs=(asked,)), asked


QUESTIONS = {
    "CALL": output_question(CruxevalTask("t", PROGRAM, "1, y=2", "3")),
    "RESULT": of_test("result = self.box.put('a')\nassertEqual(result, ??)", "1"),
    "TWO": of_test(
        "thing = {'name': 'a'}\nassertEqual(self.box.put(thing), ??)\nassertEqual(self.box.things, ??)",
        "1",
        "[thing]",
    ),
    "TRUTH": of_test("self.box.put(1)\nassertEqual(bool(self.box.is_empty()), ??)", "False"),
    "EMPTY": of_test("empty = self.box.is_empty()\nassertEqual(bool(empty), ??)", "True"),
    "LABEL": of_test("self.box.put(1)\nself.box.put(2)\nassertEqual(self.box.put(3), ??)", "3"),
    "MASKED_TRUE": of_test("assertTrue(??)", "self.box.is_empty()"),
    "MASKED_FALSE": of_test("self.box.put(1)\nassertFalse(??)", "self.box.is_empty()"),
    "MASKED_VALUE": of_test("assertEqual(1, ??)", "self.box.put('a')"),
    "MASKED_NAME": of_test("empty = self.box.is_empty()\nassertTrue(??)", "empty"),
    "MASKED_THING": of_test("assertIsNotNone(??)", "self.box.label"),
    "MASKED_IN": of_test("thing = 'a'\nself.box.put(thing)\nassertIn(thing, ??)", "self.box.things"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox(jobs=2) as one:
        yield one


NAMES_OF_NAMES = "a = [1, 1]\n" + "\n".join(f"{name} = [{old}, {old}]" for old, name in pairwise("abcdeghi"))
LONG = {
    "CALL: does not parse": ["(" * 5000],
    "CALL: nested too deep|does not parse": ["assert f(1, y=2) == " + "-" * 3000 + "3"],
    "CALL: are no assertion": ["x" * 30_000],
    "CALL: failed, long": ["assert f(1, y=2) == 0x" + "f" * 4_000],
    "CALL: too large": [
        "a = b + b\n" + "\n".join(f"x{n} = x{n - 1} + x{n - 1}" for n in range(1, 90)),
        f"{NAMES_OF_NAMES}\nassert f(1, y=2) == [{'i, ' * 3_000}]",
        f"assert f(1, y=2) == [{'i, ' * 3_000}]\n{NAMES_OF_NAMES}",
    ],
}
ANSWERS = [*listed(FOLDER / "output_answers.txt").items(), *LONG.items()]


@pytest.mark.parametrize(("heading", "answers"), ANSWERS, ids=[heading for heading, _ in ANSWERS])
async def test_answers(sandbox: Sandbox, heading: str, answers: list[str]) -> None:
    """The value decides, in any form, computed of what is listed; for a masked call what stubs fail."""
    name, _, expected = heading.removesuffix(", long").partition(": ")
    for answer in answers:
        found = await grade_output(sandbox, *QUESTIONS[name], answer)
        assert found.correct is (expected == "passed") is (found.why == ""), (answer, found)
        if expected in ("passed", "failed", "crashed"):
            assert found.outcome == expected, (answer, found)
        elif expected != "not right":
            assert re.search(expected, found.why), (answer, found)


@pytest.mark.parametrize(("returned", "values"), listed(FOLDER / "computed_values.txt").items())
async def test_values_keep_their_kind(sandbox: Sandbox, returned: str, values: list[str]) -> None:
    program = f"import collections, datetime, decimal, fractions, math\n\ndef f(x):\n    return {returned}\n"
    asked = output_question(CruxevalTask("t", program, "1", "0"))
    for value in values:
        found = await grade_output(sandbox, *asked, f"assert f(1) == {value}")
        assert found == Graded(Outcome.PASSED)


@pytest.mark.parametrize(
    ("name", "answer", "by_value", "by_authors"),
    [
        ("CALL", "assert f(1, y=2) == 3", True, True),
        ("CALL", "f(1, y=2) == 3", True, False),
        ("CALL", "assert f(4) == 4", False, True),
        ("CALL", "assert f(1, y=2) == f(1, y=2)", False, True),
        ("CALL", "assert f(1, y=2) == 4", False, False),
        ("MASKED_VALUE", "assertEqual(1, 1)", False, True),
        ("MASKED_VALUE", "self.assertEqual(1, self.box.put(1))", True, True),
        ("CALL", "assert (", False, False),
    ],
)
async def test_the_authors_rule(
    sandbox: Sandbox, name: str, answer: str, by_value: bool, by_authors: bool
) -> None:
    """It executes the answer as it stands, and counts the word `assert`."""
    asked = QUESTIONS[name]
    assert (await grade_output(sandbox, *asked, answer)).correct is by_value
    assert await passes_by_authors(sandbox, *asked, answer) is by_authors
