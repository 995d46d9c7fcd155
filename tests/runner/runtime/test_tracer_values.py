"""How values are recorded, limits of the tracer, and what a run leaves behind."""

import pytest

from support.traced import LIMITS, lines, texts, traced, traced_test
from triathlon_runner.runtime._sandboxed.tracer import trace
from triathlon_runner.runtime._trace import read_trace


def test_attributes_of_self_are_variables_and_self_is_not() -> None:
    """They are named as the program writes them, private ones too."""
    found = traced_test(
        """
        class C:
            def __init__(self, n):
                self.n = n
                self.__hidden = [n]
            def up(self):
                self.n += 1
                return self.n
        """,
        """
        import unittest
        class T(unittest.TestCase):
            def setUp(self):
                self.c = C(1)
            def test(self):
                pass
        """,
        "self.c.up()\nassertEqual(self.c.n, 2)\n",
        {6: ["self.n", "self.__hidden"]},
    )
    assert lines(found) == [6, 7]
    assert texts(found, 6, "self.n") == ["2; int"]
    assert texts(found, 6, "self.__hidden") == ["[1]; list"]
    assert set(found.steps[0].before) == {"self.n", "self.__hidden"}


@pytest.mark.parametrize(
    ("expression", "text", "kind"),
    [
        ("0.1 + 0.2", "0.30000000000000004", "float"),
        ("float('nan')", "nan", "float"),
        ("-float('inf')", "-inf", "float"),
        ("2 ** 70", "1180591620717411303424", "int"),
        ("{3, 1, 2}", "{1, 2, 3}", "set"),
        ("set()", "set()", "set"),
        ("frozenset({'b', 'a'})", "frozenset({'a', 'b'})", "frozenset"),
        ("(1,)", "(1,)", "tuple"),
        ("{'k': [None, True]}", "{'k': [None, True]}", "dict"),
        ("b'\\x00a'", "b'\\x00a'", "bytes"),
        ("1 + 2j", "(1+2j)", "complex"),
        ("int", "int", "type"),
        ("datetime.datetime(2024, 5, 1)", "datetime.datetime(2024, 5, 1, 0, 0)", "datetime.datetime"),
        ("collections.Counter('aab')", "Counter({'a': 2, 'b': 1})", "collections.Counter"),
        ("collections.defaultdict(list, {1: [2]})", "defaultdict({1: [2]})", "collections.defaultdict"),
        ("collections.deque([1], maxlen=3)", "deque([1])", "collections.deque"),
        ("decimal.Decimal('1.50')", "Decimal('1.50')", "decimal.Decimal"),
        ("Color.RED", "Color.RED", "Color"),
        ("Point(1, y='a')", "Point(x=1, y='a')", "Point"),
        ("Pair(1, 2)", "Pair(left=1, right=2)", "Pair"),
    ],
)
def test_values_have_one_text(expression: str, text: str, kind: str) -> None:
    """Each kind of value is written in one way, the same on every machine."""
    program = f"""
import collections, dataclasses, datetime, decimal, enum
class Color(enum.Enum):
    RED = 1
@dataclasses.dataclass
class Point:
    x: int
    y: str
Pair = collections.namedtuple("Pair", "left right")
def f():
    x = {expression}
    return x
"""
    found = traced(program, watches={10: ["x"]})
    assert texts(found, 10, "x") == [f"{text}; {kind}"]


@pytest.mark.parametrize("expression", ["iter([1])", "(a for a in [1])", "len", "f", "datetime", "[].append"])
def test_iterators_functions_and_modules_are_no_variables(expression: str) -> None:
    """REval leaves them out."""
    found = traced(f"import datetime\ndef f():\n    x = {expression}\n    return 1", watches={3: ["x"]})
    assert found.observed(3, "x") == ()
    assert "x" not in found.steps[1].before


def test_objects_of_the_program_have_no_literal_form() -> None:
    """Their own __repr__ is never called: it could change what is looked at."""
    found = traced(
        """
        class Counted:
            calls = 0
            def __repr__(self):
                Counted.calls += 1
                return "Counted()"
        def f():
            x = Counted()
            return Counted.calls
        """,
        watches={7: ["x"]},
    )
    (value,) = found.observed(7, "x")
    assert (value.text, value.literal) == ("", False)
    assert found.result is not None
    assert found.result.text == "0"


def test_a_library_value_without_a_literal_form_is_its_repr() -> None:
    """So that an answer can repeat it."""
    program = "import re\ndef f():\n    x = re.match('a', 'ab')\n    return 1"
    (value,) = traced(program, watches={3: ["x"]}).observed(3, "x")
    assert value.text == "<re.Match object; span=(0, 1), match='a'>"
    assert not value.literal


def test_a_value_that_contains_itself_ends() -> None:
    """It is nested too deep, not endless."""
    found = traced("def f():\n    x = []\n    x.append(x)\n    return 1", watches={3: ["x"]})
    (value,) = found.observed(3, "x")
    assert not value.literal


def test_a_value_that_is_too_large_is_not_written_out_to_see_that() -> None:
    """`repr` of ten million items would take longer than the program."""
    program = """
        import re
        def f():
            x = [1] * 10_000 + [re.match('a', 'a')]
            y = [re.match('a', 'a')] + [1] * 9
            return 1
        """
    found = traced(program, watches={3: ["x"], 4: ["y"]})
    assert [(value.text, value.literal) for value in found.observed(3, "x")] == [("", False)]
    assert [value.text[:9] for value in found.observed(4, "y")] == ["[<re.Matc"]


def test_watching_never_calls_the_program() -> None:
    """An expression with a call is not read; one that fails has no value."""
    found = traced(
        """
        calls = []
        def key(n):
            calls.append(n)
            return n
        def f():
            x = {1: 2}
            return len(calls)
        """,
        watches={6: ["x[key(1)]", "x[3]", "x[1]", "(x, x[1])"]},
    )
    assert texts(found, 6, "x[key(1)]") == []
    assert texts(found, 6, "x[3]") == []
    assert texts(found, 6, "x[1]") == ["2; int"]
    assert texts(found, 6, "(x, x[1])") == ["({1: 2}, 2); tuple"]
    assert found.result is not None
    assert found.result.text == "0"


def test_too_many_steps_end_the_run() -> None:
    """The outcome says which limit it was, even where the program catches everything."""
    program = """
        def f():
            n = 0
            while n < 10 ** 6:
                try:
                    n += 1
                except BaseException:
                    n += 2
                    break
            return n
        """
    found = traced(program, limits={**LIMITS, "steps": 100})
    assert (found.outcome, found.error) == ("limit", "too many steps")


def test_too_many_different_values_end_the_run() -> None:
    """What all values take together is bounded, too."""
    program = "def f():\n    x = ''\n    for i in range(500):\n        x += 'abcdefgh'\n    return x"
    found = traced(program, limits={**LIMITS, "text": 5_000, "characters": 20_000})
    assert (found.outcome, found.error) == ("limit", "too large")


def test_every_run_starts_from_a_fresh_program() -> None:
    """Module state does not leak from one run into the next, and random numbers repeat."""
    program = "import random\nseen = []\ndef f():\n    seen.append(random.random())\n    return seen"
    first, second = traced(program), traced(program)
    assert first.result is not None
    assert first == second
    assert first.result.text.count(",") == 0


def test_printing_goes_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    """A program's output is no part of its trace."""
    traced("import sys\ndef f():\n    print('x')\n    sys.stderr.write('y')\n    return 1")
    assert capsys.readouterr() == ("", "")


def test_a_broken_trace_is_refused() -> None:
    """A program can reach the tracer's own lists; what is no trace any more gives no questions."""
    plain = trace("def f():\n    x = 1\n    return x", {"function": "f", "arguments": "()"}, {}, LIMITS)
    for name, wrong in (
        ("steps", [1]), ("steps", [["x", -1, -1, []]]), ("steps", [[1, "a", "b", []]]), ("snapshots", []),
        ("values", None), ("values", [[1, 2, 3]]), ("result", 99),
    ):  # fmt: skip
        assert read_trace({**plain, name: wrong}, {}).outcome == "lost"
    assert read_trace("nothing", {}).outcome == "lost"


@pytest.mark.parametrize(
    ("attribute", "error"),
    [("raise SystemExit", "SystemExit"), ("return len(self.__dict__)", "RecursionError")],
)
def test_values_that_fight_being_looked_at_spoil_the_trace(attribute: str, error: str) -> None:
    """Python then stops tracing: the reason names that, and no half of a trace is taken for the whole."""
    program = f"""
class Odd(dict):
    def __getattribute__(self, name):
        {attribute}
def f():
    self = Odd()
    return 1
"""
    found = traced(program)
    assert (found.outcome, found.error) == ("untraceable", f"its values can't be looked at ({error})")
