"""What counts as a step, what comes after it, and where control goes."""

import pytest

from support.traced import lines, texts, traced, traced_test

States = dict[tuple[int, str], list[str]]
"""Line and variable, with the values after the line."""
CASES: list[tuple[str, str, list[int], States]] = [
    (  # Every activation of a function has its own open statement.
        """
        def f(n):
            if n == 0:
                return 0
            rest = f(n - 1)
            return rest + n
        """,
        "(2,)",
        [2, 4, 2, 4, 2, 3, 5, 5],
        {(4, "rest"): ["1; int", "0; int"]},
    ),
    (  # Lines of one statement are named by its first, also where a call stands between them.
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
        [2, 7, 15, 15, 9, 11, 9, 11, 9, 12],
        {},
    ),
    (  # The line is left once, however often it goes round.
        """
        def f(n):
            for i in range(n): n += i
            return n
        """,
        "(3,)",
        [2, 3],
        {(2, "n"): ["6; int"]},
    ),
    (  # A statement that is executed again right after itself is executed twice.
        """
        def f(n):
            while n:
                n = n - 1 if n else n
            return n
        """,
        "(2,)",
        [2, 3, 2, 3, 2, 4],
        {},
    ),
    (  # The body of the class is executed where the class statement stands.
        """
        def f():
            class A:
                x = 1
                def m(self):
                    return self.x
            return A().m()
        """,
        "()",
        [2, 3, 4, 6, 5],
        {},
    ),
    (  # Python 3.11 gives some instructions of `'%s' % x` the line of the `def`.
        """
        def f(key):
            return 'Chord: %s, Tune: %s' % (key, key)
        """,
        "('a',)",
        [2],
        {},
    ),
    (  # The line that raised is followed by the `except` that was tried, then the handler, then `finally`.
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
        [2, 3, 4, 6, 7, 9, 10],
        {(3, "n"): [], (7, "n"): ["1; int"]},
    ),
    (  # The state after the return is the one in which `finally` begins.
        """
        def f(n):
            try:
                return n
            finally:
                n = 4
        """,
        "(3,)",
        [2, 3, 5],
        {(3, "n"): ["3; int"], (5, "n"): ["4; int"]},
    ),
    (  # Consumer and generator take turns; the statement with the `yield` ends after it was resumed.
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
        "()",
        [2, 3, 7, 4, 3, 8, 4, 3, 5],
        {(7, "a"): ["None; NoneType"]},
    ),
    (  # Cases are steps where their pattern is tried; a lambda is one where it stands on another line.
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
        [3, 7, 8, 9, 12, 9, 13, 7, 8, 10, 11, 12, 11, 13],
        {},
    ),
]


@pytest.mark.parametrize(("program", "arguments", "steps", "states"), CASES)
def test_steps(program: str, arguments: str, steps: list[int], states: States) -> None:
    """Statements in the order in which they are begun; each rule stands beside its program."""
    found = traced(program, arguments, {line: [name] for line, name in states})
    assert lines(found) == steps
    assert {place: texts(found, *place) for place in states} == states


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


def test_a_generator_function_is_read_out() -> None:
    """The result of a generator is the list of what it yields."""
    found = traced("def f():\n    yield 1\n    yield 2")
    assert found.result is not None
    assert found.result.text == "[1, 2]"
    assert lines(found) == [2, 3]


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
