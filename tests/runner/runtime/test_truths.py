"""Truths: traced where it really happens, hostile references included; what the constructor leaves out."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.case_files import sections
from triathlon_runner.datasets import Problem
from triathlon_runner.records import AnswerRecord, Outcome, Reply
from triathlon_runner.runtime import ProgramQuestions, StatementQuestion
from triathlon_runner.runtime._construct import construct, trace_runs, with_reval_truths
from triathlon_runner.runtime._grade import expected_answers, grade_state
from triathlon_runner.runtime._outputs import by_authors_rule
from triathlon_runner.runtime._programs import function_program
from triathlon_runner.runtime._questions import QuestionKind
from triathlon_runner.sandbox import Sandbox

TEXTS = sections(Path(__file__).with_name("truths.txt"))


def called(program: str, *arguments: str) -> ProgramQuestions:
    """A program whose function `f` is called with each of these, before anything is known."""
    return function_program(Problem("t/f", "f", "", program, arguments))


SETS = "it sets a trace function of its own, or starts a thread"
ATTACKS = [
    ("import os; os._exit(0)", "lost", ""),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "lost", ""),
    ("import sys; sys.exit()", "raised", ""),
    ("import os; [os.write(fd, b'\\x00\\xff' * 99) for fd in (1, 2)]", "returned", ""),
    ("x = [0] * 10**9", "raised lost", ""),
    ("while n:\n            n = 2", "limit", ""),
    ("import sys; sys._getframe(2).f_locals", "returned", ""),
    # what it does unseen would make a truth that is none; the outcome says how it got away
    ("import sys; sys.settrace(None)", "untraceable", SETS),
    ("import sys; sys.settrace(lambda *_: None)", "untraceable", SETS),
    ("import sys; own = sys.gettrace(); sys.settrace(None); x = 0; sys.settrace(own)", "untraceable", SETS),
    ("import threading; own = threading.Thread(target=print); own.start(); own.join()", "untraceable", SETS),
    ("import os; os.fork() or os._exit(0)", "untraceable", "it forks"),
]  # fmt: skip


@pytest.mark.parametrize(("attack", "ends", "why"), ATTACKS)
async def test_a_hostile_reference_harms_itself(sandbox: Sandbox, attack: str, ends: str, why: str) -> None:
    program = TEXTS["attacks on 2"].replace("ATTACK", attack)
    first, hostile, last = await trace_runs(sandbox, called(program, "(1,)", "(2,)", "(3,)"))
    assert hostile.outcome in ends.split()
    assert why in ("", hostile.error)
    assert (first.outcome, last.outcome) == ("returned", "returned")
    assert [value.text for one in last.statements if one.line == 2 for value in one.states] == ["3"]


# What the constructor leaves out

LENGTHS = Problem(
    task_id="t/lengths",
    entry_point="lengths",
    prompt="",
    reference="def lengths(words):\n    sizes = [len(word) for word in words]\n    return sizes\n",
    inputs=("(['a', 'bb'],)", "([],)", "(['long'],)"),
)


async def test_what_hangs_on_chance_is_not_asked_for(sandbox: Sandbox) -> None:
    """Neither a result nor a line; others of the same program are, and chance with a seed is none."""
    bodies = ("x = random.random()\n    return n + x", "x = n\n    return random.choice([x, -x, 0, 7, 8, 9])")
    candidates = [called(f"import random\ndef f(n):\n    {body}\n", "(3,)") for body in bodies]
    programs, report = await construct(candidates, sandbox)
    assert programs == ()
    assert report.left_out_inputs == {"the result differs from run to run": 2}
    programs, report = await construct([called(TEXTS["chance with and without a seed"], "(3,)")], sandbox)
    asked = [one.line for one in programs[0].inputs[0].statements]
    assert asked == [4, 9, 10]
    assert report.left_out_statements["differs from run to run"] == 1


async def test_references_that_cannot_be_asked_about_are_reported(sandbox: Sandbox) -> None:
    raising = replace(LENGTHS, task_id="t/raising", inputs=("(None,)", "(['a'],)"))
    plain = replace(LENGTHS, task_id="t/plain", reference="def lengths(words):\n    return 1\n")
    needs = replace(LENGTHS, task_id="t/needs", libraries=frozenset({"no_such_library"}))
    chance = replace(LENGTHS, task_id="t/chance", reference=TEXTS["looks at the clock"], inputs=("(['a'],)",))
    odd = [function_program(one) for one in (raising, plain, needs, chance)]
    _, report = await construct(odd, sandbox)
    assert report.left_out_inputs["the reference raises"] == 1
    assert report.left_out_inputs["no line to ask about"] == 3
    assert report.left_out_programs == {
        "t/needs": "needs no_such_library, not installed here",
        "t/plain": "no input with a question",
    }
    assert report.left_out_statements["differs from run to run"] == 1
    assert (report.programs, report.inputs) == (2, 2)
    assert report.block_ends == report.questions + sum(report.left_out_statements.values())


# The truths of REval's own tracer: the next step of any function, and what its frame holds


def expected(kind: QuestionKind, program: ProgramQuestions) -> dict[int, tuple[str, ...]]:
    """The right answers by line."""
    (asked,) = program.inputs
    return {one.line: expected_answers(kind, program, asked, one) for one in asked.statements}


async def test_after_a_call_the_tracer_looks_at_the_called_function(sandbox: Sandbox) -> None:
    """Where line 7 calls, the next step is in `plus`, which has no `added`; elsewhere both agree."""
    statements = tuple(
        StatementQuestion(line=line, variable="added", executed=False, states=(), next_lines=())
        for line in (5, 7, 8, 9)
    )
    program = called(TEXTS["calls another function"], "([1, 2],)")
    asked = program.inputs[0].model_copy(update={"statements": statements})
    (ours,), _ = await construct([program.model_copy(update={"inputs": (asked,)})], sandbox)
    theirs = await with_reval_truths(sandbox, ours)
    states = expected("state", ours)
    assert states == {5: ("0; int",), 7: ("1; int", "3; int"), 8: ("4; int",), 9: ("4; int",)}
    assert expected("state", theirs) == {**states, 7: ("1; int", "Nil")}
    # One execution showed a value, one showed none: either is right.
    line_7 = theirs.inputs[0].statements[1]
    right = {text: grade_state(line_7, text).correct for text in ("1; int", "Nil", "3; int")}
    assert right == {"1; int": True, "Nil": True, "3; int": False}
    after_7 = ("return number + 1", "for one in numbers:")
    paths = {5: ("for one in numbers:",), 7: after_7, 8: ("return added",), 9: ("-1",)}
    assert expected("path", ours) == expected("path", theirs) == paths


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
