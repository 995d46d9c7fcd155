"""No reply ends a run: hostile ones through extraction and judgement of all four questions."""

from itertools import cycle, islice, product

import pytest
from hypothesis import HealthCheck, given, settings

from support import hostile_replies
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import AnswerRecord, Finish, Outcome, Reply
from triathlon_runner.runtime import StatementQuestion, Value
from triathlon_runner.runtime._assertions import fill
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._grade import Graded, extract_answer, grade_coverage, grade_path, grade_state
from triathlon_runner.runtime._outputs import grade_output, read_answer, read_arguments
from triathlon_runner.runtime._programs import output_question
from triathlon_runner.runtime._questions import STYLES
from triathlon_runner.sandbox import Sandbox

PROGRAM = "def f(x):\n    y = [x]\n    return y\n"
STATES = (
    ("5", "int"), ("5.0", "float"), ("nan", "float"), ("(1+2j)", "complex"), ("True", "bool"),
    ("None", "NoneType"),
    ("'a'", "str"), ("b'a'", "bytes"), ("[1, 2.5, 'a']", "list"), ("(1, [2])", "tuple"), ("{1, 2}", "set"),
    ("frozenset({1})", "frozenset"), ("{'a': {1: 2.0}}", "dict"), ("dict_keys([1, 2])", "dict_keys"),
    ("Decimal('1.50')", "decimal.Decimal"), ("[Decimal('1.5')]", "list"),
    ("Fraction(1, 2)", "fractions.Fraction"),
    ("datetime.datetime(2024, 5, 1)", "datetime.datetime"), ("datetime.timedelta(1)", "datetime.timedelta"),
    ("array([1.0, 2.0])", "numpy.ndarray"), ("Counter({'a': 1})", "collections.Counter"),
    ("range(0, 3)", "range"),
)  # fmt: skip


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
NEVER = question()
ABOUT, INPUT = output_question(CruxevalTask("t", PROGRAM, "3", "[3]"))
MASKED = ABOUT.masked_test(INPUT)
MANNERS = cycle(product(STYLES, (Finish.STOP, Finish.LENGTH)))


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


def judge(text: str) -> dict[str, str]:
    """Grades the answers of a reply to each kind of question; styles and ends of the reply take turns.

    Returns those that complete the assertion, by what it then is: they are left for the sandbox.
    """
    extracted = [extract_answer(Reply(text=text, finish=end), style) for style, end in islice(MANNERS, 2)]
    filled: dict[str, str] = {}
    for answer in (answer for answer in extracted if isinstance(answer, str)):
        for asked in (next(ASKED), NEVER):
            check(answer, grade_coverage(asked, answer))
            check(answer, grade_state(asked, answer))
            check(answer, grade_path(PROGRAM, asked, answer))
        for read in (read_arguments, fill):
            try:
                filled[repr(read_answer(MASKED, answer, read))] = answer
            except InvalidAnswerError as error:
                assert str(error)
    return filled


@pytest.mark.slow
async def test_no_hostile_reply_raises(sandbox: Sandbox) -> None:
    """More than 10,000: each comes to an outcome of the model, some when they used up all their time."""
    replies = list(hostile_replies.replies())
    assert len(replies) >= 10_000
    filled: dict[str, str] = {}
    for text in replies:
        filled |= judge(text)
    for answer in set(filled.values()):
        check(answer, await grade_output(sandbox, ABOUT, INPUT, answer))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(hostile_replies.generated())
def test_no_generated_reply_raises(text: str) -> None:
    judge(text)
    judge(f"assert f(3) == {text}")
