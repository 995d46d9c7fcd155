"""Filling masked assertions: what an answer may say, and what is a dodge."""

import pytest

from triathlon_runner.records import Outcome
from triathlon_runner.runtime import InputQuestions, ProgramQuestions
from triathlon_runner.runtime._answer import Graded
from triathlon_runner.runtime._assertions import Filled, Masked, fill, originals
from triathlon_runner.runtime._fillings import InvalidAnswerError
from triathlon_runner.runtime._grade import grade_output
from triathlon_runner.sandbox import Sandbox, open_sandbox

PROGRAM = """import math
from datetime import date

LIMIT = 3

def f(x, y=0):
    return x + y

class Box:
    def __init__(self):
        self.things = []
    def put(self, thing):
        self.things.append(thing)
        return len(self.things)
"""


def completed(filled: Filled) -> str:
    """The statements with the expressions that are to be computed in their places."""
    text = filled.text
    for name, expression in filled.computed.items():
        text = text.replace(name, expression)
    return text


CALL = Masked("assert f(1, y=2) == ??", ("3",))
TEST = Masked(
    """box = Box()
thing = {'name': 'a'}
other = 'b'
assertEqual(box.put(thing), ??)
found = box.things
assertEqual(found, ??)""",
    ("1", "[thing]"),
)


@pytest.mark.parametrize(
    ("answer", "filled"),
    [
        ("assert f(1, y=2) == 3", "assert f(1, y=2) == 3"),
        ("assert  f( 1,y = 2 )==3", "assert f(1, y=2) == 3"),
        ("assert (f(1, y=2) == 3)", "assert f(1, y=2) == 3"),
        ("assert f(1, y=2) == 3  # because", "assert f(1, y=2) == 3"),
        ("assert f(1, y=2) == 'a'", "assert f(1, y=2) == 'a'"),
        ("assert f(1, y=2) == [1, (2, None)]", "assert f(1, y=2) == [1, (2, None)]"),
        ("assert f(1, y=2) == 2 ** 3 + len('ab')", "assert f(1, y=2) == 2 ** 3 + len('ab')"),
        ("assert f(1, y=2) == math.pi", "assert f(1, y=2) == math.pi"),
        ("assert f(1, y=2) == date(2024, 5, 1)", "assert f(1, y=2) == date(2024, 5, 1)"),
        ("assert f(1, y=2) == [n for n in range(3)]", "assert f(1, y=2) == [n for n in range(3)]"),
        ("assert f(1, y=2) == ', '.join(['a', 'b'])", "assert f(1, y=2) == ', '.join(['a', 'b'])"),
    ],
)
def test_values_fill_the_mask(answer: str, filled: str) -> None:
    """Any way of writing the statement, any expression that computes with values alone."""
    assert completed(fill(CALL, answer, PROGRAM)) == filled


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("3", "another statement"),
        ("True", "another statement"),
        ("assert True", "another statement"),
        ("assert 3 == 3", "another statement"),
        ("assert f(1, y=2)", "another statement"),
        ("assert f(1, y=3) == 4", "another statement"),
        ("assert f(1, y=2.0) == 3", "another statement"),
        ("assert f(1, y=2) != 4", "another statement"),
        ("assert f(1, y=2) == 3 or True", "another statement"),
        ("assert f(1, y=2) == 3, 'message'", "another statement"),
        ("assert f(1, y=2) == 3 == 3", "another statement"),
        ("assert f(1, y=2) == ??", "does not parse"),
        ("assert f(1, y=2) == '??'", "leaves a mask in"),
        ("assert f(1, y=2) == HOLE_0_", "leaves a mask in"),
        ("", "leaves an assertion out"),
        ("assert f(1, y=2) == 3; print(1)", "does not have"),
        ("def f(x, y): return 3\nassert f(1, y=2) == 3", "does not have"),
        ("import os; os._exit(0)\nassert f(1, y=2) == 3", "does not have"),
        ("assert f(1, y=2) == f(1, y=2)", "reads the value off the program"),
        ("assert f(1, y=2) == LIMIT", "reads the value off the program"),
        ("assert f(1, y=2) == f(0, y=3)", "reads the value off the program"),
        ("assert f(1, y=2) == open('/etc/passwd').read()", "'open' has no place"),
        ("assert f(1, y=2) == __import__('os').system('id')", "'__import__' has no place"),
        ("assert f(1, y=2) == ().__class__", "'__class__' has no place"),
        ("assert f(1, y=2) == eval('3')", "'eval' has no place"),
        ("assert f(1, y=2) == type('T', (), {'__eq__': 1})()", "'type' has no place"),
        ("assert f(1, y=2) == (lambda: 3)()", "Lambda has no place"),
        ("assert f(1, y=2) == (x := 3)", "NamedExpr has no place"),
        ("assert f(1, y=2) == f'{3}'", "JoinedStr has no place"),
        ("assert f(1, y=2) == globals()", "'globals' has no place"),
        ("assert f(1, y=2) == result", "'result' has no place"),
        ("assert (f(1, y=2) == 3, 'always true')", "another statement"),
        ("assert f(1, y=2) == 3 if False else True", "another statement"),
        ("assert not f(1, y=2) == 4", "another statement"),
        ("assert True or f(1, y=2) == 3", "another statement"),
        ("# assert f(1, y=2) == 3", "leaves an assertion out"),
        ("'assert f(1, y=2) == 3'", "another statement"),
        ("assert f(1, y=2) == 3; exit()", "does not have"),
        ("exit(); assert f(1, y=2) == 3", "does not have"),
        ("f = lambda *a, **k: 3\nassert f(1, y=2) == 3", "does not have"),
        ("class A:\n    __eq__ = None\nassert f(1, y=2) == A()", "does not have"),
        ("import pytest\nwith pytest.raises(Exception):\n    assert f(1, y=2) == 3", "does not have"),
        ("with pytest.raises(AssertionError):\n    assert f(1, y=2) == 4", "another statement"),
        ("try:\n    assert f(1, y=2) == 4\nexcept AssertionError:\n    pass", "another statement"),
        ("if False:\n    assert f(1, y=2) == 3", "another statement"),
        ("while f(1, y=2) == 4: pass", "another statement"),
        ("assert f(1, y=2) == pytest.approx(3, abs=99)", "'pytest' has no place"),
        ("assert f(1, y=2) == unittest.mock.ANY", "'unittest' has no place"),
        ("assert f(1, y=2) == date.__subclasses__()", "'__subclasses__' has no place"),
        ("assert f(1, y=2) == (await 3)", "Await has no place|does not parse"),
        ("assert f(1, y=2) == (yield)", "Yield has no place|does not parse"),
        ("assert f(1, y=2 == 3", "does not parse"),
        ("(" * 5000, "does not parse"),
        ("assert f(1, y=2) == " + "-" * 3000 + "3", "nested too deep|does not parse"),
        ("x" * 30_000, "are no assertion"),
        ("assert f(1, y=2) == 3\x00", "does not parse"),
    ],
)
def test_dodges_are_refused(answer: str, why: str) -> None:
    """Asserting something else, dropping the assertion, not calling the program, running something else."""
    with pytest.raises(InvalidAnswerError, match=why):
        fill(CALL, answer, PROGRAM)


READERS = (
    """import collections
import math
import operator
import string
from operator import attrgetter
from string import Formatter as Form
"""
    + PROGRAM
    + """
class Steps:
    def take(self, x):
        return x + 1
"""
)
STEPS = """import unittest

class T(unittest.TestCase):
    def test(self):
        pass
"""
GENERATOR = "(y for y in [0]).gi_frame.f_globals"


async def judged(
    sandbox: Sandbox, masked: Masked, answer: str, *, program: str = READERS, test: str = ""
) -> Graded:
    """What an answer to a question about the program comes to."""
    asked = InputQuestions(
        index=0,
        text=masked.text,
        arguments="" if test else "(1, 2)",
        test_class="T" if test else "",
        test_method="test" if test else "",
        masked=masked.text,
        originals=masked.originals,
        statements=(),
    )
    about = ProgramQuestions(task_id="t", program=program, entry_point="f", test=test, inputs=(asked,))
    return await grade_output(sandbox, about, asked, answer)


ATTACKS = [
    f"{GENERATOR}['f'](1, 2)",
    f"{GENERATOR}['__builtins__'].__import__('program')",
    "(lambda: 3)()",
    "operator.attrgetter('_sys.modules')(collections)['program'].f(1, 2)",
    "attrgetter('_sys.modules')(collections)['program'].f(1, 2)",
    "operator.methodcaller('__class__')(1)",
    "string.Formatter().get_field('0._sys.modules[program].f', (collections,), {})[0](1, 2)",
    "Form().vformat('{0._sys.modules[program].LIMIT}', (collections,), {})",
    "int('{0.LIMIT}'.format(date))",
    "math.sys.modules['program'].f(1, 2)",
    "datetime.sys.exit()",
    "datetime.sys._getframe(1).f_globals['f'](1, 2)",
    "collections.sys.modules['__main__']",
    "object()",
    "iter([3])",
]


async def test_no_expression_leads_to_the_program() -> None:
    """A filling's value is computed where the program is not; the true value itself is right."""
    async with open_sandbox() as sandbox:
        for filling in ATTACKS:
            found = await judged(sandbox, CALL, f"assert f(1, y=2) == {filling}")
            assert not found.correct, filling
        assert (await judged(sandbox, CALL, "assert f(1, y=2) == operator.add(1, 2)")).correct


async def test_no_expression_of_a_test_leads_to_the_program() -> None:
    """The same where a class is tested."""
    masked = Masked("steps = Steps()\nassertEqual(steps.take(3), ??)", ("4",))
    answer = masked.text.replace("??", "{}")
    attack = f"{GENERATOR}['Steps']().take(3)"
    async with open_sandbox() as sandbox:
        assert (await judged(sandbox, masked, answer.format("2 + 2"), test=STEPS)).correct
        found = await judged(sandbox, masked, answer.format(attack), test=STEPS)
    assert found.outcome is Outcome.CRASHED
    assert found.why.startswith("KeyError")


COMPUTED = [
    ("datetime.datetime(2024, 5, 1)", "datetime.strptime('1.5.2024', '%d.%m.%Y')"),
    ("datetime.datetime(2024, 5, 1)", "datetime(2024, 5, 1)"),
    ("datetime.timedelta(1)", "timedelta(days=1)"),
    ("collections.Counter('aab')", "Counter({'a': 2, 'b': 1})"),
    ("collections.Counter('aab')", "Counter('aab')"),
    ("collections.defaultdict(int, {1: 2})", "defaultdict(int, {1: 2})"),
    ("collections.defaultdict(int)", "defaultdict(int)"),
    ("collections.deque([1])", "deque([1])"),
    ("collections.OrderedDict(a=1)", "OrderedDict([('a', 1)])"),
    ("{1: 2}.keys()", "{1: 2}.keys()"),
    ("{1: 2}.items()", "{1: 2}.items()"),
    ("decimal.Decimal('1.5')", "Decimal('1.50')"),
    ("fractions.Fraction(1, 2)", "Fraction(2, 4)"),
    ("frozenset({1})", "frozenset([1])"),
    ("range(3)", "range(0, 3)"),
    ("float('inf')", "float('inf')"),
    ("1e999", "inf"),
    ("-2 - 2j", "-2 - 2j"),
    ("bytearray(b'a')", "b'a'"),
    ("{'a': int}", "{'a': int}"),
    ("math.pi", "math.pi"),
    ("'a' * 3", "'a' * 3"),
    ("...", "..."),
]


async def test_values_that_are_computed_keep_their_kind() -> None:
    """Constructors, arithmetic and methods of values, also where the program hides a module by its class."""
    modules = "import collections, decimal, fractions, math\nimport datetime as clock\n"
    shown = "from datetime import datetime, timedelta\n"
    masked = Masked("assert f(1) == ??", ("0",))
    async with open_sandbox() as sandbox:
        for made, filling in COMPUTED:
            program = f"{modules}{shown}def f(x):\n    return {made.replace('datetime.', 'clock.')}\n"
            found = await judged(sandbox, masked, f"assert f(1) == {filling}", program=program)
            assert found.correct, (filling, found)


NO_VALUES = [
    ("0x" + "f" * 4_000, Outcome.FAILED),
    ("10 ** 5000", Outcome.FAILED),
    ("1 / 0", Outcome.CRASHED),
    ("[0] * 10 ** 12", Outcome.CRASHED),
    ("'a' * 30_000", Outcome.FAILED),
    ("4", Outcome.FAILED),
]


async def test_what_comes_to_no_value_is_the_models_failure() -> None:
    """Too large, or it raises: the answer is wrong, and nothing else happens."""
    async with open_sandbox() as sandbox:
        for filling, outcome in NO_VALUES:
            found = await judged(sandbox, CALL, f"assert f(1, y=2) == {filling}")
            assert (found.outcome, bool(found.why)) == (outcome, True), (filling, found)


def test_a_test_is_filled_assertion_by_assertion() -> None:
    """Every mask gets what stands in its place; `self.` in front of an assertion does not matter."""
    answer = """box = Box()
thing = {'name': 'a'}
other = 'b'
self.assertEqual(box.put(thing), 1)
found = box.things
assertEqual(found, [{'name': 'a'}])"""
    assert fill(TEST, answer, PROGRAM).text.endswith(
        "assertEqual(box.put(thing), 1)\nfound = box.things\nassertEqual(found, [{'name': 'a'}])"
    )


def test_leading_statements_need_not_be_repeated() -> None:
    """What only sets something up is put back; an assertion is not."""
    answer = "assertEqual(box.put(thing), 1)\nfound = box.things\nassertEqual(found, [{'name': 'a'}])"
    assert fill(TEST, answer, PROGRAM).text.startswith("box = Box()\n")
    with pytest.raises(InvalidAnswerError, match="leaves an assertion out"):
        fill(TEST, "found = box.things\nassertEqual(found, [{'name': 'a'}])", PROGRAM)


def test_the_reference_itself_is_always_an_answer() -> None:
    """Also where it names things of the test, which other answers may not."""
    filled = fill(TEST, TEST.completed(), PROGRAM)
    assert (filled.text, filled.computed) == (TEST.completed(), {})


@pytest.mark.parametrize("filling", ["found", "box.things", "[thing]", "self.expected", "box.put(thing)"])
def test_reading_the_value_off_the_program_is_a_dodge(filling: str) -> None:
    """What the program made, holds or was handed is not given by the answer."""
    masked = Masked(TEST.text, ("1", "[{'name': 'a'}]"))
    answer = TEST.text.replace("??", "1", 1).replace("??", filling)
    with pytest.raises(InvalidAnswerError, match="reads the value off the program"):
        fill(masked, answer, PROGRAM)


def test_a_plain_name_of_the_test_may_be_used() -> None:
    """`other` is a value that the program has nothing to do with."""
    answer = TEST.text.replace("??", "1", 1).replace("??", "[other]")
    filled = fill(TEST, answer, PROGRAM)
    assert completed(filled).endswith("assertEqual(found, [other])")
    assert filled.setup == "other = 'b'"


MASKED_CALLS = [
    (Masked(f"box = Box()\n{form.format('??')}", (original,)), form)
    for form, original in (
        ("assertTrue({})", "box.put(1) == 1"),
        ("assertEqual(True, {})", "box.put(1) == 1"),
        ("assertAlmostEqual(1.0, {}, delta=0.1)", "box.put(1)"),
    )
]
"""DREval masks the only argument, or the side that calls the program, of some assertions."""


@pytest.mark.parametrize(("masked", "form"), MASKED_CALLS)
@pytest.mark.parametrize(
    "filling",
    [
        "True",
        "1.0",
        "not False",
        "1 == 1",
        "box",
        "box.things == box.things",
        "box.put(1) or True",
        "True if box.put(1) else True",
        "self.id()",
        "self.assertTrue",
        "[box.put(1)]",
        "len([box.put(1)])",
        "str(box.put(1))",
        "box.put(1) != 'x'",
        "box.put(1) < 9",
        "box.put(1) in [1, 2]",
        "box.things.append(1)",
        "box.put(1) == box.put(1)",
        "(y for y in [0]).gi_frame.f_globals",
        "box.put((y for y in [0]).gi_frame)",
    ],
)
def test_an_assertion_has_to_call_the_program(masked: Masked, form: str, filling: str) -> None:
    """Where the call is masked the answer has to make one, and not beside something that holds of itself."""
    with pytest.raises(InvalidAnswerError, match=r"does not call the program|has no place"):
        fill(masked, f"box = Box()\n{form.format(filling)}", PROGRAM)


@pytest.mark.parametrize(
    "filling", ["box.put", "Box()", "box.things", "not box.put", "bool(Box())", "bool(box.put)"]
)
def test_what_is_always_true_is_no_call_of_the_program(filling: str) -> None:
    """Where only the truth is asserted, an object or a method would hold of itself."""
    with pytest.raises(InvalidAnswerError, match="does not call the program"):
        fill(MASKED_CALLS[0][0], f"box = Box()\nassertTrue({filling})", PROGRAM)


@pytest.mark.parametrize(("masked", "form"), MASKED_CALLS)
@pytest.mark.parametrize(
    "filling",
    [
        "box.put(1)",
        "box.put('a') == 1",
        "len(box.things) == 0",
        "f(1, 0)",
        "not f(0)",
        "box.things == []",
        "True is bool(box.put(1))",
        "round(f(1.2), 1)",
        "Box().put(LIMIT)",
        "len(box.things)",
        "f(box.put(1), y=2)",
    ],
)
def test_calls_of_the_program_are_answers_where_the_call_is_masked(
    masked: Masked, form: str, filling: str
) -> None:
    """Whether they hold is decided by executing them."""
    filled = fill(masked, f"box = Box()\n{form.format(filling)}", PROGRAM)
    assert filled.text.endswith(form.format(filling))


def test_values_that_the_program_was_handed_belong_to_it() -> None:
    """A list that the program sorts in place is the program's work when it is looked at afterwards."""
    masked = Masked("numbers = [2, 1]\nsort(numbers)\nassertEqual(numbers, ??)", ("[1, 2]",))
    program = "def sort(numbers):\n    numbers.sort()\n"
    answer = "numbers = [2, 1]\nsort(numbers)\nassertEqual(numbers, {})"
    assert fill(masked, answer.format("[1, 2]"), program).text == answer.format("[1, 2]")
    with pytest.raises(InvalidAnswerError, match="reads the value off the program"):
        fill(masked, answer.format("sorted(numbers)"), program)


def test_question_marks_inside_text_are_no_masks() -> None:
    """A string that holds ?? stays what it is."""
    masked = Masked("assert f('??', y='a??') == ??", ("'??a??'",))
    assert fill(masked, "assert f('??', y='a??') == 'x'", PROGRAM).text == "assert f('??', y='a??') == 'x'"
    assert masked.completed() == "assert f('??', y='a??') == '??a??'"


def test_originals_are_read_off_the_unmasked_text() -> None:
    """What stands behind each mask, in order."""
    complete = "box = Box()\nassertEqual(box.put( 1 ), 1)\nassertEqual(box.things, [1,\n 2])"
    masked = "box = Box()\nassertEqual(box.put(1), ??)\nassertEqual(box.things, ??)"
    assert originals(masked, complete) == ("1", "[1, 2]")
    with pytest.raises(InvalidAnswerError):
        originals(masked, complete.replace("put( 1 )", "put(2)"))
