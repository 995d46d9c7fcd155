"""Output questions: the value that an answer states decides, in whatever form it states it."""

import re
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_asyncio

from support.case_files import listed, sections
from triathlon_runner.records import Outcome
from triathlon_runner.runtime import InputQuestions, ProgramQuestions, grade_output
from triathlon_runner.runtime._grade import Graded
from triathlon_runner.runtime._masked import Masked
from triathlon_runner.runtime._outputs import passes_by_authors
from triathlon_runner.sandbox import Sandbox, open_sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

FOLDER = Path(__file__).parent
PROGRAM, TEST = (f"{text}\n" for text in sections(FOLDER / "box.txt").values())
SETUP = "self.box = Box()"

QUESTIONS = {
    "CALL": Masked("assert f(1, y=2) == ??", ("3",)),
    "RESULT": Masked("result = self.box.put('a')\nassertEqual(result, ??)", ("1",)),
    "TWO": Masked(
        "thing = {'name': 'a'}\nassertEqual(self.box.put(thing), ??)\nassertEqual(self.box.things, ??)",
        ("1", "[thing]"),
    ),
    "TRUTH": Masked("self.box.put(1)\nassertEqual(bool(self.box.is_empty()), ??)", ("False",)),
    "EMPTY": Masked("empty = self.box.is_empty()\nassertEqual(bool(empty), ??)", ("True",)),
    "LABEL": Masked("self.box.put(1)\nself.box.put(2)\nassertEqual(self.box.put(3), ??)", ("3",)),
    "MASKED_TRUE": Masked("assertTrue(??)", ("self.box.is_empty()",)),
    "MASKED_FALSE": Masked("self.box.put(1)\nassertFalse(??)", ("self.box.is_empty()",)),
    "MASKED_VALUE": Masked("assertEqual(1, ??)", ("self.box.put('a')",)),
    "MASKED_NAME": Masked("empty = self.box.is_empty()\nassertTrue(??)", ("empty",)),
    "MASKED_THING": Masked("assertIsNotNone(??)", ("self.box.label",)),
    "MASKED_IN": Masked("thing = 'a'\nself.box.put(thing)\nassertIn(thing, ??)", ("self.box.things",)),
}
CALL = QUESTIONS["CALL"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox(jobs=2) as one:
        yield one


def question(masked: Masked, program: str = PROGRAM) -> tuple[ProgramQuestions, InputQuestions]:
    """A question about a call of `f`, or about the test where the masked text is one."""
    is_test = not masked.text.startswith("assert f")
    asked = InputQuestions(
        index=0,
        text=masked.text,
        setup=SETUP if is_test else "",
        arguments="" if is_test else "(1, 2)",
        test_class="T" if is_test else "",
        test_method="test" if is_test else "",
        masked=masked.text,
        originals=masked.originals,
        statements=(),
    )
    test = TEST if is_test else ""
    return ProgramQuestions(task_id="t", program=program, entry_point="f", test=test, inputs=(asked,)), asked


async def judged(sandbox: Sandbox, masked: Masked, answer: str, program: str = PROGRAM) -> Graded:
    return await grade_output(sandbox, *question(masked, program), answer)


NAMES_OF_NAMES = "a = [1, 1]\n" + "\n".join(f"{name} = [{old}, {old}]" for old, name in pairwise("abcdeghi"))
LONG = {
    "CALL: does not parse": ["(" * 5000],
    "CALL: nested too deep|does not parse": ["assert f(1, y=2) == " + "-" * 3000 + "3"],
    "CALL: are no assertion": ["x" * 30_000],
    "CALL: too large": [
        "a = b + b\n" + "\n".join(f"x{n} = x{n - 1} + x{n - 1}" for n in range(1, 90)),
        f"{NAMES_OF_NAMES}\nassert f(1, y=2) == [{'i, ' * 3_000}]",
        f"assert f(1, y=2) == [{'i, ' * 3_000}]\n{NAMES_OF_NAMES}",
    ],
}
ANSWERS = [*listed(FOLDER / "output_answers.txt").items(), *LONG.items()]


@pytest.mark.parametrize(("heading", "answers"), ANSWERS, ids=[heading for heading, _ in ANSWERS])
async def test_answers(sandbox: Sandbox, heading: str, answers: list[str]) -> None:
    """The value decides, in any form; for a masked call the original, or one that empty programs fail."""
    name, _, expected = heading.partition(": ")
    for answer in answers:
        found = await judged(sandbox, QUESTIONS[name], answer)
        if expected in ("passed", "failed"):
            assert found.outcome == expected, (answer, found)
        assert found.correct is (expected == "passed") is (found.why == ""), (answer, found)
        assert expected in ("passed", "failed") or re.search(expected, found.why), (answer, found)


FRAMES = "(y for y in [0]).gi_frame.f_globals"
WRITER = "setattr(__import__('sys').modules['solution'].LiteralWriter, 'text', lambda *a: '3')"
ATTACKS = [
    f"{FRAMES}['f'](1, 2)", f"{FRAMES}['__builtins__'].__import__('program')",
    f'(eval("{WRITER}"), [0 for eval in [0]])[0]', f'[eval("{WRITER}") for eval in [0]]',
    f'[eval for eval in [0]] or eval("{WRITER}")', f'(lambda exec: exec("{WRITER}"))(0)',
    f"datetime.sys.modules['builtins'].eval(\"{WRITER}\")", "np.sys.modules['program'].f(1, 2)",
    "math.sys.modules['program'].f(1, 2)", "collections.sys.modules['__main__']",
    "datetime.sys._getframe(1).f_globals['f'](1, 2)", "'{0.LIMIT}'.format(datetime)",
    "sorted([1], key=__import__)", "list(map(eval, ['3']))", "list(map(getattr, [1], ['real']))",
    "__import__('sys').modules['program'].f(1, 2)", "open('/etc/passwd').read()", "().__class__",
    "type('T', (), {'__eq__': 1})()", "(x := 3)", "f'{3}'", "globals()", "object()", "iter([3])",
    "int.__new__(int, 3)", "unittest.mock.ANY", "defaultdict(eval)",
]  # fmt: skip


@pytest.mark.parametrize("value", ATTACKS)
async def test_no_text_of_an_answer_is_evaluated_beside_the_program(sandbox: Sandbox, value: str) -> None:
    """Only listed functions and methods are computed, in another process, and their value is read as data."""
    for answer in (f"assert f(1, y=2) == {value}", value):
        assert not (await judged(sandbox, CALL, answer)).correct


@pytest.mark.parametrize(("returned", "values"), listed(FOLDER / "computed_values.txt").items())
async def test_values_keep_their_kind(sandbox: Sandbox, returned: str, values: list[str]) -> None:
    program = f"import collections, datetime, decimal, fractions, math\n\ndef f(x):\n    return {returned}\n"
    masked = Masked("assert f(1) == ??", ("0",))
    for value in values:
        assert (await judged(sandbox, masked, f"assert f(1) == {value}", program)) == Graded(Outcome.PASSED)


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ("0x" + "f" * 4_000, Outcome.FAILED),
        ("10 ** 5000", Outcome.FAILED),
        ("10 ** 10 ** 10", Outcome.FAILED),
        ("1 << 99_999", Outcome.FAILED),
        ("1 / 0", Outcome.CRASHED),
        ("'a' * 30_000", Outcome.FAILED),
        ("[0] * 10 ** 12", Outcome.CRASHED),
        ("{[]: 1}", Outcome.CRASHED),
        ("Decimal('x')", Outcome.CRASHED),
    ],
)
async def test_what_comes_to_no_value_is_a_failure(sandbox: Sandbox, value: str, outcome: Outcome) -> None:
    found = await judged(sandbox, CALL, f"assert f(1, y=2) == {value}")
    assert (found.outcome, bool(found.why)) == (outcome, True)


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
    asked = question(QUESTIONS[name])
    assert (await grade_output(sandbox, *asked, answer)).correct is by_value
    assert await passes_by_authors(sandbox, *asked, answer) is by_authors
