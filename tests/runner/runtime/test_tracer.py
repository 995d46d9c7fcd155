"""What the tracer records. It runs here in this process: these programs are ours."""

import textwrap
from typing import Any

import pytest

from triathlon_runner.runtime._sandboxed.tracer import trace
from triathlon_runner.runtime._trace import Trace, read_trace

LIMITS = {"steps": 5_000, "text": 2_000, "characters": 200_000}


def traced(
    program: str,
    arguments: str = "()",
    watches: dict[int, list[str]] | None = None,
    limits: dict[str, int] = LIMITS,
) -> Trace:
    """The trace of `f(*arguments)`."""
    run = {"function": "f", "arguments": arguments}
    return _read(trace(textwrap.dedent(program).strip(), run, watches or {}, limits), watches)


def traced_test(program: str, module: str, body: str, watches: dict[int, list[str]] | None = None) -> Trace:
    """The trace of the statements of `T.test` behind its set-up."""
    run = {"test": textwrap.dedent(module), "class": "T", "method": "test", "body": textwrap.dedent(body)}
    return _read(trace(textwrap.dedent(program).strip(), run, watches or {}, LIMITS), watches)


def _read(plain: dict[str, Any], watches: dict[int, list[str]] | None) -> Trace:
    found = read_trace(plain, watches or {})
    assert isinstance(found, Trace), found
    return found


def lines(found: Trace) -> list[int]:
    return [step.line for step in found.steps]


def texts(found: Trace, line: int, variable: str) -> list[str]:
    return [f"{value.text}; {value.type}" for value in found.observed(line, variable)]


def test_every_statement_is_a_step_and_a_loop_header_one_each_time_it_is_looked_at() -> None:
    """Steps are statements begun; a loop's header is begun before each round and at the end."""
    found = traced(
        """
        def f(n):
            total = 0
            for i in range(n):
                total += i
            return total
        """,
        "(2,)",
    )
    assert lines(found) == [2, 3, 4, 3, 4, 3, 5]
    assert found.outcome == "returned"
    assert found.result is not None
    assert (found.result.text, found.result.type) == ("1", "int")


def test_values_before_and_after_are_copies_of_that_moment() -> None:
    """A list that changes later is recorded as it was."""
    found = traced(
        """
        def f():
            xs = []
            xs.append(1)
            xs.append(2)
            return xs
        """
    )
    assert [step.before.get("xs") and step.before["xs"].text for step in found.steps] == [
        None,
        "[]",
        "[1]",
        "[1, 2]",
    ]
    assert [step.after["xs"].text for step in found.steps if step.after] == ["[]", "[1]", "[1, 2]", "[1, 2]"]


def test_successors_go_over_frames_in_the_order_of_execution() -> None:
    """A line that calls is followed by the callee's first line, a return by the caller's next line."""
    found = traced(
        """
        def f(n):
            a = g(n)
            b = g(a)
            return b
        def g(n):
            return n + 1
        """,
        "(1,)",
    )
    assert lines(found) == [2, 6, 3, 6, 4]
    assert found.successors(2) == {6}
    assert found.successors(6) == {3, 4}
    assert found.successors(4) == {-1}
    assert found.successors(5) == {-1}
    assert not found.executed(5)


def test_the_state_after_a_call_is_the_callers_own() -> None:
    """A line's state is that of its frame when the line is done, not that of the callee where it goes on."""
    found = traced(
        """
        def f():
            x = g(1)
            return x
        def g(x):
            return x + 10
        """,
        watches={2: ["x"]},
    )
    assert texts(found, 2, "x") == ["11; int"]


def test_recursion_keeps_frames_apart() -> None:
    """Every activation of a function has its own open statement."""
    found = traced(
        """
        def f(n):
            if n == 0:
                return 0
            rest = f(n - 1)
            return rest + n
        """,
        "(2,)",
        {4: ["rest"]},
    )
    assert lines(found) == [2, 4, 2, 4, 2, 3, 5, 5]
    assert texts(found, 4, "rest") == ["1; int", "0; int"]


def test_a_statement_on_several_lines_is_one_step() -> None:
    """Lines of one statement are named by its first, also where a call stands between them."""
    found = traced(
        """
        def f(n):
            x = [
                a
                for a in range(n)
                if a
            ]
            y = g(1,
                  g(2))
            while (n
                   > 1):
                n -= 1
            return (x,
                    y)
        def g(a, b=0):
            return a
        """,
        "(3,)",
    )
    assert lines(found) == [2, 7, 15, 15, 9, 11, 9, 11, 9, 12]


def test_a_loop_on_one_line_is_one_step() -> None:
    """The line is left once, however often it goes round."""
    found = traced("def f(n):\n    for i in range(n): n += i\n    return n", "(3,)", {2: ["n"]})
    assert lines(found) == [2, 3]
    assert texts(found, 2, "n") == ["6; int"]


def test_a_line_that_starts_anew_is_a_new_step() -> None:
    """A statement that is executed again right after itself is executed twice."""
    found = traced(
        """
        def f(n):
            while n:
                n = n - 1 if n else n
            return n
        """,
        "(2,)",
    )
    assert lines(found) == [2, 3, 2, 3, 2, 4]


def test_exceptions_go_to_their_handlers() -> None:
    """The line that raised is followed by the `except` that was tried, then the handler, then `finally`."""
    found = traced(
        """
        def f(text):
            try:
                n = int(text)
            except KeyError:
                n = 0
            except ValueError:
                n = 1
            finally:
                done = True
            return n
        """,
        "('x',)",
        {3: ["n"], 7: ["n"]},
    )
    assert lines(found) == [2, 3, 4, 6, 7, 9, 10]
    assert texts(found, 3, "n") == []
    assert texts(found, 7, "n") == ["1; int"]


def test_a_return_inside_try_runs_finally_next() -> None:
    """The state after the return is the one in which `finally` begins."""
    found = traced(
        """
        def f(n):
            try:
                return n
            finally:
                n = 4
        """,
        "(3,)",
        {3: ["n"], 5: ["n"]},
    )
    assert lines(found) == [2, 3, 5]
    assert texts(found, 3, "n") == ["3; int"]
    assert texts(found, 5, "n") == ["4; int"]


def test_with_is_looked_at_again_when_it_is_left() -> None:
    """Leaving a context manager executes the `with` line, as the interpreter itself counts."""
    found = traced(
        """
        import contextlib
        def f():
            with contextlib.nullcontext(1) as x:
                y = x
            return y
        """
    )
    assert lines(found) == [3, 4, 3, 5]


def test_generators_are_resumed_where_they_were() -> None:
    """Consumer and generator take turns; the statement with the `yield` ends after it was resumed."""
    found = traced(
        """
        def f():
            total = 0
            for x in g():
                total += x
            return total
        def g():
            a = yield 1
            yield 2
        """,
        watches={7: ["a"]},
    )
    assert lines(found) == [2, 3, 7, 4, 3, 8, 4, 3, 5]
    assert texts(found, 7, "a") == ["None; NoneType"]


def test_a_generator_function_is_read_out() -> None:
    """The result of a generator is the list of what it yields."""
    found = traced("def f():\n    yield 1\n    yield 2")
    assert found.result is not None
    assert found.result.text == "[1, 2]"
    assert lines(found) == [2, 3]


def test_coroutines_are_run() -> None:
    """`async def` is run to its end in an event loop; awaiting goes into the other coroutine."""
    found = traced(
        """
        async def g(x):
            return x + 1
        async def f():
            a = await g(1)
            return a
        """,
        watches={4: ["a"]},
    )
    assert lines(found) == [4, 2, 5]
    assert texts(found, 4, "a") == ["2; int"]
    assert found.result is not None
    assert found.result.text == "2"


def test_comprehensions_belong_to_the_statement_that_holds_them() -> None:
    """Lists, sets, dicts and nested ones are one step, and their own variables are none of the function's."""
    found = traced(
        """
        def f(rows):
            a = [x * y for x in rows for y in rows if y]
            b = {
                x: {y for y in rows if y > x}
                for x in rows
            }
            total = sum(x for x in a)
            return total, b
        """,
        "([1, 2],)",
        watches={2: ["a"], 3: ["b"], 7: ["total"]},
    )
    assert lines(found) == [2, 3, 7, 8]
    assert texts(found, 2, "a") == ["[1, 2, 2, 4]; list"]
    assert texts(found, 3, "b") == ["{1: {2}, 2: set()}; dict"]
    assert texts(found, 7, "total") == ["9; int"]
    assert all(set(step.after or {}) <= {"rows", "a", "b", "total"} for step in found.steps)


def test_with_runs_its_exit_where_python_does() -> None:
    """The body's lines, then `__exit__`; an exception that it swallows goes on behind the block."""
    found = traced(
        """
        class Quiet:
            def __enter__(self):
                return 7
            def __exit__(self, *details):
                return True
        def f():
            with Quiet() as seven:
                x = seven
                1 / 0
                x = 0
            return x
        """,
        watches={8: ["x"]},
    )
    assert found.outcome == "returned"
    assert [line for line in lines(found) if line != 7] == [3, 8, 9, 5, 11]
    assert texts(found, 8, "x") == ["7; int"]
    assert found.result is not None
    assert found.result.text == "7"


def test_async_with_and_async_for_are_followed() -> None:
    """Their methods run where they are awaited, between the lines of the function."""
    found = traced(
        """
        class Steps:
            async def __aenter__(self):
                return self
            async def __aexit__(self, *details):
                return None
            def __aiter__(self):
                return self.give()
            async def give(self):
                yield 1
                yield 2
        async def f():
            total = 0
            async with Steps() as steps:
                async for step in steps:
                    total += step
            return total
        """,
        watches={15: ["total"]},
    )
    assert found.result is not None
    assert found.result.text == "3"
    assert texts(found, 15, "total") == ["1; int", "3; int"]
    assert [line for line in lines(found) if line in (9, 10, 15)] == [9, 15, 10, 15]


def test_try_else_and_nested_finally() -> None:
    """The `else` part runs where nothing was raised; every `finally` on the way out, the inner one first."""
    found = traced(
        """
        def f(n):
            try:
                try:
                    x = 1 // n
                except ZeroDivisionError as fault:
                    x = -1
                    raise ValueError(x) from fault
                else:
                    x = x + 1
                finally:
                    x = x * 10
            except ValueError:
                x -= 1
            return x
        """,
        "(0,)",
        watches={10: ["x"]},
    )
    assert [line for line in lines(found) if line not in (2, 3)] == [4, 5, 6, 7, 11, 12, 13, 14]
    fine = traced(
        "def f(n):\n    try:\n        x = n\n    except ValueError:\n        x = 0\n"
        "    else:\n        x += 1\n    finally:\n        x += 10\n    return x",
        "(1,)",
    )
    assert [line for line in lines(fine) if line != 2] == [3, 7, 9, 10]


def test_match_decorators_and_lambdas() -> None:
    """Cases are steps where their pattern is tried; a lambda is one where it stands on another line."""
    found = traced(
        """
        def twice(function):
            def inner(n):
                return function(function(n))
            return inner
        @twice
        def f(n):
            match n:
                case 1:
                    step = lambda v: v + 1
                case _:
                    step = lambda v: v * 2
            n = step(n)
            return n
        """,
        "(1,)",
    )
    assert lines(found) == [3, 7, 8, 9, 12, 9, 13, 7, 8, 10, 11, 12, 11, 13]


def test_a_class_inside_a_function() -> None:
    """The body of the class is executed where the class statement stands."""
    found = traced(
        """
        def f():
            class A:
                x = 1
                def m(self):
                    return self.x
            return A().m()
        """
    )
    assert lines(found) == [2, 3, 4, 6, 5]


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


def test_set_up_is_not_part_of_the_trace() -> None:
    """What setUpClass and setUp execute happened before."""
    found = traced_test(
        """
        class C:
            def __init__(self):
                self.n = 0
        """,
        """
        import unittest
        class T(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.shared = C()
            def setUp(self):
                self.c = C()
            def test(self):
                pass
        """,
        "assertEqual(self.c.n + self.shared.n, 0)",
    )
    assert found.outcome == "returned"
    assert lines(found) == []


def test_tests_use_every_assertion_without_self() -> None:
    """With assertRaises as a context manager, too; a failing assertion is an exception."""
    module = "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"
    program = "def f(n):\n    return 1 // n\n"
    fine = traced_test(
        program, module, "with assertRaises(ZeroDivisionError):\n    f(0)\nassertIn(1, [f(1)])"
    )
    wrong = traced_test(program, module, "assertEqual(f(1), 2)")
    assert (fine.outcome, lines(fine)) == ("returned", [2, 2])
    assert wrong.outcome == "raised"
    assert wrong.error.startswith("AssertionError")


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
    assert (value.text, value.reason) == ("", "no literal form")
    assert found.result is not None
    assert found.result.text == "0"


def test_a_library_value_without_a_literal_form_is_its_repr() -> None:
    """So that an answer can repeat it."""
    program = "import re\ndef f():\n    x = re.match('a', 'ab')\n    return 1"
    (value,) = traced(program, watches={3: ["x"]}).observed(3, "x")
    assert value.text == "<re.Match object; span=(0, 1), match='a'>"
    assert value.reason == "no literal form"


def test_a_value_that_contains_itself_ends() -> None:
    """It is nested too deep, not endless."""
    found = traced("def f():\n    x = []\n    x.append(x)\n    return 1", watches={3: ["x"]})
    (value,) = found.observed(3, "x")
    assert value.reason == "nested too deep"


def test_a_value_that_is_too_large_is_named_so() -> None:
    """The rest of the trace is unharmed."""
    found = traced("def f():\n    x = list(range(10_000))\n    return len(x)", watches={2: ["x"]})
    (value,) = found.observed(2, "x")
    assert (value.text, value.reason) == ("", "too large")
    assert found.result is not None
    assert found.result.text == "10000"


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


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("raise KeyError('k')", "KeyError: 'k'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("1 / 0", "ZeroDiv"),
    ],
)
def test_a_reference_that_raises_is_an_outcome(statement: str, error: str) -> None:
    """The trace up to there is kept."""
    found = traced(f"def f():\n    x = 1\n    {statement}")
    assert found.outcome == "raised"
    assert found.error.startswith(error)
    assert lines(found) == [2, 3]


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


def test_a_constant_that_the_compiler_folded_into_the_def_line_is_no_step() -> None:
    """Python 3.11 gives some instructions of `'%s' % x` the line of the `def`."""
    found = traced("def f(key):\n    return 'Chord: %s, Tune: %s' % (key, key)", "('a',)")
    assert lines(found) == [2]


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


def test_a_broken_trace_is_refused() -> None:
    """A program can reach the tracer's own lists; what is no trace any more gives no questions."""
    plain = trace("def f():\n    x = 1\n    return x", {"function": "f", "arguments": "()"}, {}, LIMITS)
    for name, wrong in (("lines", [1]), ("snapshots", []), ("types", None), ("before", ["a", "b"])):
        assert not isinstance(read_trace({**plain, name: wrong}, {}), Trace)
    assert not isinstance(read_trace("nothing", {}), Trace)
