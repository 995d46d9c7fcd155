"""Limits of the tracer, and what a run leaves behind."""

import pytest

from support.traced import LIMITS, traced
from triathlon_runner.runtime._sandboxed.tracer import trace
from triathlon_runner.runtime._trace import read_trace


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
