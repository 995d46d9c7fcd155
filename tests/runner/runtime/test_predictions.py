"""Judging completed assertions about one call, on programs of our own."""

from collections.abc import AsyncIterator

import pytest

from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import Outcome
from triathlon_runner.runtime.prediction import grade_prediction
from triathlon_runner.sandbox import Sandbox, open_sandbox

SORTED = CruxevalTask(
    "own_1",
    "def f(words, n):\n    return sorted(words, key=len)[:n]\n",
    "['kiwi', 'fig', 'date'], 2",
    "['fig', 'kiwi']",
)
SAME = CruxevalTask("own_2", "def f(x):\n    return x\n", "7", "7")
APPLIED = CruxevalTask("own_3", "def f(g, x):\n    return g(x)\n", "lambda n: n + 1, 4", "5")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox(jobs=2) as one:
        yield one


@pytest.mark.parametrize(
    "answer",
    [
        "assert f(['kiwi', 'fig', 'date'], 2) == ['fig', 'kiwi']",
        "f(['kiwi', 'fig', 'date'], 2) == ['fig', 'kiwi']",
        "['fig', 'kiwi']",
        '[ "fig",\n  "kiwi" ]',
        "sorted(['kiwi', 'fig'])",
        "[\u2018fig\u2019, \u2018kiwi\u2019]",
    ],
)
async def test_right_outputs(sandbox: Sandbox, answer: str) -> None:
    """An output is right where its value equals, as a whole assertion or alone, however it is written."""
    judged = await grade_prediction(sandbox, SORTED, "output", answer)
    assert (judged.outcome, judged.why) == (Outcome.PASSED, "")


@pytest.mark.parametrize(
    "answer",
    [
        "['kiwi', 'fig']",
        "f(['kiwi', 'fig', 'date'], 2)",
        "assert f(['kiwi', 'fig', 'date'], 2) == f(['kiwi', 'fig', 'date'], 2)",
        "assert f([], 2) == []",
        "assert True",
        "assert f(['kiwi', 'fig', 'date'], 2)",
        "['fig', 'kiwi'] or f([], 0)",
        "import os",
        "words[:2]",
        "??",
        "['fig', 'ki",
        "(" * 3000 + ")" * 3000,
    ],
)
async def test_wrong_and_dodging_outputs(sandbox: Sandbox, answer: str) -> None:
    """Another value fails, and so does an answer that calls the program or changes the assertion."""
    judged = await grade_prediction(sandbox, SORTED, "output", answer)
    assert not judged.correct
    assert judged.why


@pytest.mark.parametrize(
    "answer",
    [
        "assert f(['kiwi', 'fig', 'date'], 2) == ['fig', 'kiwi']",
        "f(['kiwi', 'fig'], 9)",
        "['fig', 'kiwi', 'melon'], 2",
        "words=['kiwi', 'fig'], n=2",
        "f(*[['kiwi', 'fig'], 2])",
        "f(['k' + 'iwi', 'fig'], len('ab'))",
        "f(words=('fig', 'kiwi'), **{'n': 2})",
    ],
)
async def test_right_inputs(sandbox: Sandbox, answer: str) -> None:
    """Any arguments that give the output are right, as the assertion, the call or the arguments alone."""
    judged = await grade_prediction(sandbox, SORTED, "input", answer)
    assert (judged.outcome, judged.why) == (Outcome.PASSED, "")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("f(['kiwi'], 2)", Outcome.FAILED),
        ("f(3, 2)", Outcome.CRASHED),
        ("f()", Outcome.CRASHED),
        ("assert f([], 0) == []", Outcome.FAILED),
        ("f(['fig', 'kiwi'], 2), 1) or (1", Outcome.FAILED),
        ("assert ['fig', 'kiwi'] == ['fig', 'kiwi']", Outcome.FAILED),
        ("g(1)", Outcome.FAILED),
        ("no idea", Outcome.FAILED),
    ],
)
async def test_wrong_inputs(sandbox: Sandbox, answer: str, outcome: Outcome) -> None:
    """Arguments that give another value fail, those that the program refuses crash; other text fails."""
    judged = await grade_prediction(sandbox, SORTED, "input", answer)
    assert judged.outcome is outcome
    assert judged.why


@pytest.mark.parametrize(
    "answer",
    [
        "f(type('E', (), {'__eq__': lambda a, b: True})())",
        "f(__import__('unittest.mock').mock.ANY)",
        "f(f(7))",
        "f((y := 7))",
        "f([].__class__)",
        "f(open('/etc/passwd').read())",
    ],
)
async def test_dodging_inputs(sandbox: Sandbox, answer: str) -> None:
    """What is no plain value is no argument: an object that equals everything passes no assertion."""
    judged = await grade_prediction(sandbox, SAME, "input", answer)
    assert judged.outcome is Outcome.FAILED
    assert judged.why


async def test_functions_as_arguments(sandbox: Sandbox) -> None:
    """A function of values is an argument; one that reaches for more is none."""
    for answer, correct in (
        ("f(lambda n: n + 1, 4)", True),
        ("f(lambda n: n * 5, 1)", True),
        ("f(lambda n: n, 4)", False),
        ("f(lambda n: n.__class__, 5)", False),
        ("f(lambda n: open('x'), 5)", False),
    ):
        judged = await grade_prediction(sandbox, APPLIED, "input", answer)
        assert judged.correct is correct, answer


async def test_an_endless_call_times_out(sandbox: Sandbox) -> None:
    """Arguments for which the program does not end are timed out, as an outcome of its own."""
    endless = CruxevalTask("own_4", "def f(n):\n    while n:\n        pass\n    return n\n", "0", "0")
    judged = await grade_prediction(sandbox, endless, "input", "f(1)")
    assert judged.outcome is Outcome.TIMED_OUT
