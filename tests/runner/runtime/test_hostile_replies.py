"""No reply ends a run: hostile ones through extraction and judgement of all four questions."""

import itertools
from collections.abc import Iterable
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings

from support import hostile_replies
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import AnswerRecord, Finish, Outcome, Reply
from triathlon_runner.runtime import InputQuestions, ProgramQuestions, StatementQuestion, Value
from triathlon_runner.runtime._asking import STYLES, Style
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._grade import Graded, extract_answer, grade_coverage, grade_path
from triathlon_runner.runtime._outputs import grade_output, read_answer
from triathlon_runner.runtime._states import grade_state
from triathlon_runner.runtime.prediction import Asked, grade_prediction, output_question, read_arguments
from triathlon_runner.sandbox import Sandbox, open_sandbox

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


ASKED = itertools.cycle([question(one) for one in STATES])
NEVER = question()
INPUT = InputQuestions(
    index=0, text="f(3)", arguments="(3,)", masked="assert f(3) == ??", originals=("[3]",), statements=()
)
ABOUT = ProgramQuestions(task_id="t", program=PROGRAM, entry_point="f", inputs=(INPUT,))
TASK = CruxevalTask("t", PROGRAM, "3", "[3]")
PLAIN: Final[tuple[Style, Finish]] = ("direct", Finish.STOP)
MANNERS = list(itertools.product(STYLES, (Finish.STOP, Finish.LENGTH)))
TURNS = itertools.cycle(MANNERS)


def answers(text: str, manners: Iterable[tuple[Style, Finish]] = ()) -> set[str]:
    """What is extracted out of a reply; styles and ends of the reply take turns."""
    extracted = {
        extract_answer(Reply(text=text, finish=finish), style) for style, finish in manners or [next(TURNS)]
    }
    return {answer for answer in extracted if isinstance(answer, str)}


def judge_three(text: str) -> None:
    """All answers about coverage, state and path that a reply may hold; the true values take turns."""
    for asked in (next(ASKED), NEVER):
        for answer in answers(text):
            check(answer, grade_coverage(asked, answer))
            check(answer, grade_state(asked, answer))
            check(answer, grade_path(PROGRAM, asked, answer))


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


def fillings(replies: Iterable[str], manners: Iterable[tuple[Style, Finish]] = ()) -> list[str]:
    """The answers that complete the assertion, each once: what is left for the sandbox."""
    found: dict[str, str] = {}
    for text in replies:
        for answer in answers(text, manners):
            try:
                filled = read_answer(ABOUT, INPUT, answer)
            except InvalidAnswerError:
                continue
            found.setdefault(repr(filled), answer)
    return list(found.values())


async def judge_all(sandbox: Sandbox, found: Iterable[str]) -> None:
    for answer in found:
        check(answer, await grade_output(sandbox, ABOUT, INPUT, answer))


@pytest.mark.slow
async def test_no_hostile_reply_raises() -> None:
    """More than 10,000: each comes to an outcome of the model for each kind of question."""
    replies = list(hostile_replies.replies())
    assert len(replies) >= 10_000
    for text in replies:
        judge_three(text)
    found = [answer for answer in fillings(replies) if "**" not in answer and " * 10" not in answer]
    async with open_sandbox() as sandbox:
        await judge_all(sandbox, found[:8])


@pytest.mark.slow
async def test_no_hostile_filling_raises() -> None:
    """Every filling of the corpus, in the sandbox; some use up all their time there."""
    async with open_sandbox() as sandbox:
        await judge_all(sandbox, fillings(hostile_replies.replies(), MANNERS))


def judge_generated(text: str) -> None:
    judge_three(text)
    fillings([text, f"assert f(3) == {text}"])


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(hostile_replies.generated())
def test_no_generated_reply_raises(text: str) -> None:
    """Parts of hostile replies, put together at random."""
    judge_generated(text)


@pytest.mark.parametrize(
    "answer",
    [
        "[Decimal('sNaN')]; list",
        "Decimal('sNaN'); Decimal",
        "sNaN; Decimal",
        "9" * 400 + " + 1j; complex",
    ],
)
def test_a_state_that_cannot_be_compared_is_wrong(answer: str) -> None:
    """Signalling not-a-number, sums that overflow: the model's failure."""
    for state, kind in STATES:
        assert grade_state(question((state, kind)), answer).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("asked", "form"),
    [("output", "{}"), ("output", "assert f(3) == {}"), ("input", "{}"), ("input", "assert f({}) == [3]")],
)
async def test_a_number_too_large_to_write_is_wrong(asked: Asked, form: str) -> None:
    """Python writes no whole number of more than 4,300 digits, and reads one in hexadecimal."""
    async with open_sandbox() as sandbox:
        judged = await grade_prediction(sandbox, TASK, asked, form.format("0x" + "f" * 4_000))
    assert judged.outcome is Outcome.FAILED


@pytest.mark.slow
def test_no_hostile_reply_to_a_prediction_raises() -> None:
    """Each is an assertion that can be tried, or refused with a reason."""
    found = {answer for text in hostile_replies.replies() for answer in answers(text, [PLAIN])}
    for answer in found:
        try:
            read_arguments(*output_question(TASK), answer)
        except InvalidAnswerError as dodge:
            assert str(dodge)
