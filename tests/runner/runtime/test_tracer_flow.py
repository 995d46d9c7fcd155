"""Where control goes: exceptions, `with`, generators, coroutines, `match`."""

import pytest

from support.traced import lines, texts, traced, traced_test


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
