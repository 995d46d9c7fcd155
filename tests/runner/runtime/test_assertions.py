"""Output questions: the value that an answer states decides, in whatever form it states it."""

import re
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
import pytest_asyncio

from triathlon_runner.records import Outcome
from triathlon_runner.runtime import InputQuestions, ProgramQuestions, grade_output
from triathlon_runner.runtime._grade import Graded
from triathlon_runner.runtime._masked import Masked
from triathlon_runner.runtime._outputs import passes_by_authors
from triathlon_runner.sandbox import Sandbox, open_sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """import collections
import datetime
import math

LIMIT = 3

def f(x, y=0):
    return x + y

class Box:
    def __init__(self):
        self.things = []
        self.label = 'big'

    def put(self, thing):
        self.things.append(thing)
        return len(self.things)

    def is_empty(self):
        return not self.things
"""
TEST = """import unittest

class T(unittest.TestCase):
    def setUp(self):
        self.box = Box()

    def test(self):
        pass
"""
SETUP = "self.box = Box()"

CALL = Masked("assert f(1, y=2) == ??", ("3",))
RESULT = Masked("result = self.box.put('a')\nassertEqual(result, ??)", ("1",))
TWO = Masked(
    "thing = {'name': 'a'}\nassertEqual(self.box.put(thing), ??)\nassertEqual(self.box.things, ??)",
    ("1", "[thing]"),
)
TRUTH = Masked("self.box.put(1)\nassertEqual(bool(self.box.is_empty()), ??)", ("False",))
EMPTY = Masked("empty = self.box.is_empty()\nassertEqual(bool(empty), ??)", ("True",))
LABEL = Masked("self.box.put(1)\nself.box.put(2)\nassertEqual(self.box.put(3), ??)", ("3",))
MASKED_TRUE = Masked("assertTrue(??)", ("self.box.is_empty()",))
MASKED_FALSE = Masked("self.box.put(1)\nassertFalse(??)", ("self.box.is_empty()",))
MASKED_VALUE = Masked("assertEqual(1, ??)", ("self.box.put('a')",))
MASKED_NAME = Masked("empty = self.box.is_empty()\nassertTrue(??)", ("empty",))
MASKED_THING = Masked("assertIsNotNone(??)", ("self.box.label",))
MASKED_IN = Masked("thing = 'a'\nself.box.put(thing)\nassertIn(thing, ??)", ("self.box.things",))


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


RIGHT = {
    CALL: ["assert f(1, y=2) == 3", "assert  f( 1,y = 2 )==3  # because", "f(1, y=2) == 3",
        "3 == f(1, y=2)", "assert f(1, y=2) is 3", "assert (f(1, y=2) == 3), 'message'",
        "assertEqual(f(1, y=2), 3)", "self.assertEqual(3, f(1, y=2))", "assertTrue(f(1, y=2) == 3)", "3",
        "f(1, y=2), 3", "assert f(1, y=2) == 3\nassert f(4) == 4",
        "result = f(1, y=2)\nassert result == 3", "import math\nassert f(1, y=2) == 3",
        "assert f(1, y=2) == 10 - len('abcdefg')", "**3**", "**assert f(1, y=2) == 3**", "np.int64(3)",
        "assert f(1, y=2) == 3\n\nThis is because 1 + 2 is 3.", "3\n\nThis assertion holds.",
        "?? = 3", "`??` == 3", "**?? = 3**",
        "The assertion holds with 3:\n```python\nassert f(1, y=2) == 3\n```\nf adds both."],
    RESULT: ["result = self.box.put('a')\nassertEqual(result, 1)",
        "self.box = Box()\nresult = self.box.put('a')\nself.assertEqual(result, 1)",
        "total = 0\nassertEqual(result, 1)", "assertEqual(self.box.put('a'), 1)", "result = 1",
        "result, 1", "assert result == 1",
        "assertEqual(result, 1)\nassertEqual(self.box.put('b'), 2)\nassertFalse(self.box.is_empty())",
        "assertEqual(result, 1)\nassertEqual(len(self.box.things), 1)\nassertEqual(self.box.label[0], 'b')"],
    TWO: ["1\n[{'name': 'a'}]", "?? = 1\n?? = [{'name': 'a'}]",
        "assertEqual(self.box.put(thing), 1)\nassertEqual(self.box.things, [thing])",
        "assertEqual(self.box.put(thing), 1)\nassertEqual(self.box.things, [thing])\n\nIt is the first.",
        "thing = {'name': 'a'}\nassertEqual(self.box.put(thing), 1)\nassertEqual(self.box.things, [thing])"],
    TRUTH: ["assertEqual(bool(self.box.is_empty()), False)", "assertFalse(self.box.is_empty())",
        "assertEqual(self.box.is_empty(), False)", "assert not self.box.is_empty()",
        "assert self.box.is_empty() is False", "False"],
    EMPTY: ["empty = True", "assert empty is True", "assertTrue(self.box.is_empty())"],
    LABEL: ["self.box.put(1)\nassertEqual(self.box.put(3), 3)", "assertEqual(self.box.put(3), 3)"],
}  # fmt: skip
CALLS_RIGHT = {
    MASKED_TRUE: ["assertTrue(self.box.is_empty())", "self.box.is_empty()",
        "assertEqual(self.box.is_empty(), True)", "assert self.box.is_empty() is True",
        "assert self.box.is_empty()"],
    MASKED_FALSE: ["assertFalse(self.box.is_empty())", "assert self.box.is_empty() is False"],
    MASKED_VALUE: ["assertEqual(1, self.box.put('another'))", "self.box.put('a') == 1"],
    MASKED_NAME: ["assertTrue(empty)", "empty = self.box.is_empty()\nassert empty is True",
        "assertTrue(self.box.is_empty())"],
    MASKED_THING: ["assertIsNotNone(self.box.label)"],
    MASKED_IN: ["assertIn(thing, self.box.things)", "assertIn('a', self.box.things)"],
}  # fmt: skip


@pytest.mark.parametrize(("masked", "answers"), [*RIGHT.items(), *CALLS_RIGHT.items()])
async def test_right_answers(sandbox: Sandbox, masked: Masked, answers: list[str]) -> None:
    """In any form; for a masked call the original, or another that programs without content would fail."""
    for answer in answers:
        assert await judged(sandbox, masked, answer) == Graded(Outcome.PASSED), answer


NAMES_OF_NAMES = "a = [1, 1]\n" + "\n".join(f"{name} = [{old}, {old}]" for old, name in pairwise("abcdeghi"))
WRONG = [
    (CALL, "AssertionError", ["4", "assert f(1, y=2) == 4",
        "assert f(1, y=2) == 3\nassert f(1, y=2) == 4", "assert f(1, y=2) == 3\nassert f(4) == 5",
        "'assert f(1, y=2) == 3'"]),
    (CALL, "statement that the question does not have", ["3\n4"]),
    (CALL, "states nothing for mask 1", ["assert f(1, y=3) == 4"]),
    (CALL, "states nothing", ["assert f(1, y=2.0) == 3", "assert f(1, y=2) != 4", "assert 3 == 3", "",
        "assert f(1, y=2)", "# assert f(1, y=2) == 3", "assert f(4) == 4\n\nThis is because it adds."]),
    (CALL, "does not parse", ["assert f(1, y=2) == ??", "(" * 5000, "assert f(1, y=2) == 3\x00",
        "assert f(1, y=2) == 3\nassert f(4) == (", "3\n\nThis is wrong:\nassert f(1, y=2) == 4",
        "```\n3\n```\n```\n4\n```"]),
    (CALL, "leaves a mask in", ["assert f(1, y=2) == '??'", "assert f(1, y=2) == HOLE_0_"]),
    (CALL, "does not have", ["f(1, y=2)", "assert f(1, y=2) == 3; print(1)",
        "def f(x, y): return 3\nassert f(1, y=2) == 3", "f = lambda *a, **k: 3\nassert f(1, y=2) == 3",
        "LIMIT = 4\nassert f(1, y=2) == 3", "import os; os._exit(0)\nassert f(1, y=2) == 3",
        "with pytest.raises(AssertionError):\n    assert f(1, y=2) == 4",
        "if False:\n    assert f(1, y=2) == 3", "assert f(1, y=2) == 3\nassert eval('1')"]),
    (CALL, "reads the value off the program", ["assert f(1, y=2) == f(1, y=2)",
        "assert f(1, y=2) == LIMIT", "f(1, y=2), f(0, y=3)",
        "result = f(1, y=2)\nassert f(1, y=2) == result"]),
    (CALL, "nested too deep|does not parse", ["assert f(1, y=2) == " + "-" * 3000 + "3"]),
    (CALL, "are no assertion", ["x" * 30_000]),
    (CALL, "too large", ["a = b + b\n" + "\n".join(f"x{n} = x{n - 1} + x{n - 1}" for n in range(1, 90)),
        f"{NAMES_OF_NAMES}\nassert f(1, y=2) == [{'i, ' * 3_000}]",
        f"assert f(1, y=2) == [{'i, ' * 3_000}]\n{NAMES_OF_NAMES}"]),
    (RESULT, "does not have", ["self.box = None\nassertEqual(result, 1)"]),
    (RESULT, "AssertionError", ["assertEqual(result, 1)\nassertEqual(self.box.put('b'), 1)",
        "assertEqual(result, 2)"]),
    (RESULT, "states nothing", ["assertEqual(self.box.put('b'), 1)", "assertTrue(result)", "assert result"]),
    (RESULT, "reads the value off the program", ["assertEqual(result, result)",
        "result = self.box.put('b')\nassertEqual(result, 1)"]),
    (TWO, "AssertionError", ["[{'name': 'a'}]\n1"]),
    (TWO, "mask 1 of 2", ["assertEqual(self.box.things, [thing])\nassertEqual(self.box.put(thing), 1)"]),
    (TWO, "mask 2 of 2", ["assertEqual(self.box.put(thing), 1)"]),
    (TWO, "does not have", ["thing = {'name': 'z'}\nassertEqual(self.box.put(thing), 1)",
        "1\nself.box.things"]),
    (TRUTH, "AssertionError", ["assertTrue(self.box.is_empty())"]),
    (LABEL, "does not have", ["self.box.put(9)\nassertEqual(self.box.put(3), 3)"]),
]  # fmt: skip


@pytest.mark.parametrize(("masked", "why", "answers"), WRONG)
async def test_wrong_answers(sandbox: Sandbox, masked: Masked, why: str, answers: list[str]) -> None:
    """Another value, further assertions that fail, a changed test, another call, a value off the program."""
    for answer in answers:
        found = await judged(sandbox, masked, answer)
        assert not found.correct
        assert re.search(why, found.why), (answer, found)


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


COMPUTED = [
    ("datetime.datetime(2024, 5, 1)", "datetime.fromisoformat('2024-05-01')"),
    ("datetime.datetime(2024, 5, 1)", "datetime.datetime(2024, 5, 1)"),
    ("datetime.date(2024, 5, 1)", "date(2024, 5, 1)"), ("datetime.timedelta(1)", "timedelta(days=1)"),
    ("collections.Counter('aab')", "Counter({'a': 2, 'b': 1})"),
    ("collections.Counter('aab')", "collections.Counter('aab')"),
    ("collections.defaultdict(int, {1: 2})", "defaultdict(int, {1: 2})"),
    ("collections.defaultdict(list, {1: [2]})", "defaultdict(<class 'list'>, {1: [2]})"),
    ("\"<class 'int'>\"", "\"<class 'int'>\""), ("1.5", "np.float64(1.5)"),
    ("collections.defaultdict(int)", "defaultdict(int)"), ("collections.deque([1])", "deque([1])"),
    ("collections.OrderedDict(a=1)", "OrderedDict([('a', 1)])"), ("{1: 2}.keys()", "{1: 2}.keys()"),
    ("{1: 2}.items()", "dict_items([(1, 2)])"), ("decimal.Decimal('1.5')", "Decimal('1.50')"),
    ("fractions.Fraction(1, 2)", "Fraction(2, 4)"), ("frozenset({1})", "frozenset([1])"),
    ("range(3)", "range(0, 3)"), ("float('inf')", "float('inf')"), ("-math.inf", "-inf"),
    ("1e999", "math.inf"), ("-2 - 2j", "-2 - 2j"), ("bytearray(b'a')", "b'a'"),
    ("{'a': int}", "{'a': int}"), ("math.pi", "math.pi"), ("'a' * 3", "'a' * 3"),
    ("'c'", "'abc'[::-1][0]"), ("[2, 1]", "sorted([1, 2], key=lambda n: -n)"),
    ("['A']", "[c.upper() for c in 'a']"), ("dict(a=1)", "dict(a=1)"), ("'05'", "'{:02d}'.format(5)"),
    ("'ab'", "f'ab'"), ("...", "..."), ("(1, [2, {3}], {4: None})", "(1, [2, {3}], {4: None})"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "value"), COMPUTED)
async def test_values_keep_their_kind(sandbox: Sandbox, made: str, value: str) -> None:
    program = f"import collections, datetime, decimal, fractions, math\n\ndef f(x):\n    return {made}\n"
    masked = Masked("assert f(1) == ??", ("0",))
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


CALLS_WRONG = {
    MASKED_TRUE: ["assertTrue(True)", "assertTrue(1 == 1)", "assertTrue(not False)",
        "assertTrue(self.box)", "assertTrue(self.box.put)", "assertTrue(self.box.label)",
        "assertTrue(Box())", "assertTrue(bool(self.box))", "assertTrue(not self.box.label == 'zzz')",
        "assertTrue(not Box.put == 'zzz')", "assertTrue(self.box.label == 'big')", "assertTrue(self.id())",
        "assertTrue(self.box.is_empty() or True)", "assertTrue([self.box.is_empty()])",
        "assertTrue(self.box.put(1) == 1)", "assertTrue(self.box.__class__)",
        "assertTrue(self.box.is_empty.__func__)", "assertTrue(len(self.box.label))",
        "assertTrue(self.assertTrue)", "assertTrue(self)", "assertTrue(Box)", "assertTrue(eval('1'))",
        "assertTrue((y for y in [0]).gi_frame)", "assertTrue(self.box.put((y for y in [0]).gi_frame))",
        "assertTrue(self.box.things)", "True"],
    MASKED_FALSE: ["assertFalse(False)", "assertFalse(self.box.label == 1)",
        "assertFalse(self.box.label == 'zzz')"],
    MASKED_VALUE: ["assertEqual(1, 1)", "1", "assertEqual(1, not self.box.label == 'zzz')",
        "assertEqual(1, self.box.is_empty() == True)"],
    MASKED_NAME: ["assertTrue(True)", "assertTrue(self.box)", "assertTrue(self.box.put)",
        "assertTrue(Box.put)", "empty = True"],
    MASKED_THING: ["assertIsNotNone(self.box.put)", "assertIsNotNone(self.box)", "assertIsNotNone(3)"],
    MASKED_IN: ["assertIn(thing, [thing])", "assertIn(thing, 'abc')"],
}  # fmt: skip


@pytest.mark.parametrize(("masked", "answers"), CALLS_WRONG.items())
async def test_what_fills_no_masked_call(sandbox: Sandbox, masked: Masked, answers: list[str]) -> None:
    """A bare value, an operator, a method that is not called, an object."""
    for answer in answers:
        found = await judged(sandbox, masked, answer)
        assert found.outcome is Outcome.FAILED, (answer, found)


@pytest.mark.parametrize(
    ("masked", "answer", "by_value", "by_authors"),
    [
        (CALL, "assert f(1, y=2) == 3", True, True),
        (CALL, "f(1, y=2) == 3", True, False),
        (CALL, "assert f(4) == 4", False, True),
        (CALL, "assert f(1, y=2) == f(1, y=2)", False, True),
        (CALL, "assert f(1, y=2) == 4", False, False),
        (MASKED_VALUE, "assertEqual(1, 1)", False, True),
        (MASKED_VALUE, "self.assertEqual(1, self.box.put(1))", True, True),
        (CALL, "assert (", False, False),
    ],
)
async def test_the_authors_rule(
    sandbox: Sandbox, masked: Masked, answer: str, by_value: bool, by_authors: bool
) -> None:
    """It executes the answer as it stands, and counts the word `assert`."""
    asked = question(masked)
    assert (await grade_output(sandbox, *asked, answer)).correct is by_value
    assert await passes_by_authors(sandbox, *asked, answer) is by_authors
