"""The truths of REval's own tracer: the next step of any function, and what its frame holds."""

from collections.abc import AsyncIterator

import pytest

from triathlon_runner.records import AnswerRecord, Outcome, Reply
from triathlon_runner.runtime import ProgramQuestions
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._grade import expected_answers
from triathlon_runner.runtime._outputs import by_authors_rule
from triathlon_runner.runtime._questions import InputQuestions, StatementQuestion
from triathlon_runner.runtime._states import grade_state
from triathlon_runner.runtime._trace import with_reval_truths
from triathlon_runner.sandbox import Sandbox, open_sandbox

PROGRAM = """def plus(number):
    return number + 1

def total(numbers):
    added = 0
    for one in numbers:
        added = plus(one) if one > 1 else one
    added += 1
    return added
"""
PLACES = ((5, "added"), (7, "added"), (8, "added"), (9, "added"))


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox() as opened:
        yield opened


def asked() -> ProgramQuestions:
    """One input, on which line 7 calls a function in one of its two executions."""
    statements = tuple(
        StatementQuestion(line=line, variable=name, executed=False, states=(), next_lines=())
        for line, name in PLACES
    )
    call = InputQuestions(
        index=0,
        text="total([1, 2])",
        arguments="([1, 2],)",
        masked="assert total([1, 2]) == ??",
        originals=("4",),
        statements=statements,
    )
    return ProgramQuestions(task_id="t/1", program=PROGRAM, entry_point="total", inputs=(call,))


async def test_after_a_call_the_tracer_looks_at_the_called_function(sandbox: Sandbox) -> None:
    """Where line 7 calls, the next step is in `plus`, which has no `added`; elsewhere both agree."""
    (ours,), _ = await construct([asked()], sandbox)
    theirs = await with_reval_truths(sandbox, ours)
    states = {
        name: {
            one.line: expected_answers("state", program, program.inputs[0], one)
            for one in program.inputs[0].statements
        }
        for name, program in (("ours", ours), ("theirs", theirs))
    }
    assert states["ours"] == {5: ("0; int",), 7: ("1; int", "3; int"), 8: ("4; int",), 9: ("4; int",)}
    assert states["theirs"] == {**states["ours"], 7: ("1; int", "Nil")}
    paths = [[one.next_lines for one in program.inputs[0].statements] for program in (ours, theirs)]
    assert paths == [[(6,), (2, 6), (9,), (-1,)], [(6,), (2, 6), (9,), (-1,)]]


@pytest.mark.parametrize(("answer", "right"), [("1; int", True), ("Nil", True), ("3; int", False)])
async def test_a_value_and_none_may_both_be_right(sandbox: Sandbox, answer: str, right: bool) -> None:
    """One execution showed a value, one showed none."""
    program = await with_reval_truths(sandbox, asked())
    line_7 = program.inputs[0].statements[1]
    assert grade_state(line_7, answer).correct is right


@pytest.mark.parametrize("right", [True, False])
def test_the_authors_verdict_takes_the_place_of_ours(right: bool) -> None:
    """A verdict that is another gets outcome and reason; an answer that nobody could read stays as it is."""
    record = AnswerRecord(
        reply=Reply(text="x"), answer="x", expected=("y",), outcome=Outcome.FAILED, correct=False, why="other"
    )
    found = by_authors_rule(record, right=right)
    assert (found.correct, found.outcome) == (right, Outcome.PASSED if right else Outcome.FAILED)
    assert found.why == ("" if right else "other")
    unread = record.model_copy(update={"answer": None, "outcome": Outcome.NO_ANSWER})
    assert by_authors_rule(unread, right=right) is unread
