"""No reply ends a run: hostile ones through extraction and judgement of all four questions."""

from itertools import cycle, islice, product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from support import hostile_replies
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import AnswerRecord, Finish, Outcome, Reply
from triathlon_runner.runtime import Graded, StatementQuestion, Value
from triathlon_runner.runtime._answers import extract_answer, grade_coverage, grade_path, grade_state
from triathlon_runner.runtime._outputs import grade_prediction
from triathlon_runner.runtime._questions import STYLES
from triathlon_runner.sandbox import Ended, Execution, Job, Raised, Sandbox

PROGRAM = "def f(x):\n    y = [x]\n    return y\n"
STATES = (
    ("5", "int"), ("5.0", "float"), ("nan", "float"), ("(1+2j)", "complex"), ("True", "bool"),
    ("None", "NoneType"), ("'a'", "str"), ("b'a'", "bytes"), ("[1, 2.5, 'a']", "list"), ("(1, [2])", "tuple"),
    ("{1, 2}", "set"), ("frozenset({1})", "frozenset"), ("{'a': {1: 2.0}}", "dict"),
    ("dict_keys([1, 2])", "dict_keys"), ("Decimal('1.50')", "decimal.Decimal"),
    ("[Decimal('1.5')]", "list"), ("Fraction(1, 2)", "fractions.Fraction"),
    ("datetime.datetime(2024, 5, 1)", "datetime.datetime"), ("array([1.0, 2.0])", "numpy.ndarray"),
    ("Counter({'a': 1})", "collections.Counter"), ("range(0, 3)", "range"),
)  # fmt: skip
TASK = CruxevalTask("t", PROGRAM, "3", "[3]")


def question(*states: tuple[str, str]) -> StatementQuestion:
    """About a line that runs and leaves these values, or does not run."""
    return StatementQuestion(
        line=2,
        variable="y",
        executed=bool(states),
        states=tuple(Value(text=text, type=kind) for text, kind in states),
        next_lines=(3,) if states else (-1,),
    )


ASKED = cycle([question(one) for one in STATES])
MANNERS = cycle(product(STYLES, (Finish.STOP, Finish.LENGTH)))


class Idle:
    """A sandbox that executes nothing: every call raises."""

    async def run(self, job: Job) -> Execution:
        return Execution(Ended.FINISHED, (Raised("Idle", ""),) * len(job.calls))


class Remembering:
    """A sandbox that executes the same calls once."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._known: dict[str, Execution] = {}

    async def run(self, job: Job) -> Execution:
        key = repr(job.calls)
        if key not in self._known:
            self._known[key] = await self._sandbox.run(job)
        return self._known[key]


def check(answer: str, judged: Graded) -> None:
    """A verdict is an outcome of the model, with a reason, that can be written down."""
    assert judged.correct or judged.why
    assert judged.outcome in (
        Outcome.PASSED, Outcome.FAILED, Outcome.NO_ANSWER, Outcome.CRASHED, Outcome.TIMED_OUT
    )  # fmt: skip
    record = AnswerRecord(
        reply=Reply(text=""), answer=answer[:1_000], expected=(), outcome=judged.outcome,
        correct=judged.correct, why=judged.why,
    )  # fmt: skip
    record.model_dump_json()


async def judge(sandbox: Any, text: str) -> None:
    """Grades the answers of a reply to each kind of question; styles and ends of the reply take turns."""
    extracted = [extract_answer(Reply(text=text, finish=end), style) for style, end in islice(MANNERS, 2)]
    for answer in {answer for answer in extracted if isinstance(answer, str)}:
        for asked in (next(ASKED), question()):
            check(answer, grade_coverage(asked, answer))
            check(answer, await grade_state(sandbox, asked, answer))
            check(answer, grade_path(PROGRAM, asked, answer))
        for side in ("output", "input"):
            check(answer, await grade_prediction(sandbox, TASK, side, answer))


@pytest.mark.slow
async def test_no_hostile_reply_raises(sandbox: Sandbox) -> None:
    """More than 10,000: each comes to an outcome of the model, some when they used up all their time."""
    replies = list(hostile_replies.replies())
    assert len(replies) >= 10_000
    remembering = Remembering(sandbox)
    for text in replies:
        await judge(remembering, text)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(hostile_replies.generated())
async def test_no_generated_reply_raises(text: str) -> None:
    """Parts of hostile replies, put together at random; what would be executed is not."""
    await judge(Idle(), text)
    await judge(Idle(), f"assert f(3) == {text}")
