"""Judging answers about coverage and path."""

import pytest

from triathlon_runner.records import Outcome
from triathlon_runner.runtime._asking import QuestionKind
from triathlon_runner.runtime._grade import expected_answers, grade_coverage, grade_path
from triathlon_runner.runtime._questions import (
    InputQuestions,
    ProgramQuestions,
    StatementQuestion,
    Value,
)

PROGRAM = """def f(xs):
    total = 0
    for x in xs:
        total += x  # add
        if total > 3:
            return total
    s = '# not a comment'
    return total
"""


def question(
    *states: tuple[str, str], executed: bool = True, next_lines: tuple[int, ...] = (5,), literal: bool = True
) -> StatementQuestion:
    values = tuple(Value(text=text, type=kind, literal=literal) for text, kind in states)
    return StatementQuestion(
        line=4, variable="v", executed=executed, states=values, next_lines=next_lines if executed else (-1,)
    )


# Coverage


@pytest.mark.parametrize(
    "answer",
    ["YES", "yes", "Yes.", "**YES**", "'YES'", "YES, line 4 runs", "Answer: yes", "YES\nNO",
     "[YES]", "Yes the line runs, for no return stands before it"],
)  # fmt: skip
def test_yes(answer: str) -> None:
    """Case, punctuation and a reason behind the word do not matter."""
    assert grade_coverage(question(("1", "int")), answer).correct
    assert not grade_coverage(question(executed=False), answer).correct


@pytest.mark.parametrize(
    "answer",
    ["NO", "no", "No, it is not executed", "- no", "The answer is NO.", "not executed",
     "The line is not executed.", "Line 4 is not executed, so it has no successor", "NOT EXECUTED"],
)  # fmt: skip
def test_no(answer: str) -> None:
    """The same for the other word, and for what it means."""
    assert grade_coverage(question(executed=False), answer).correct
    assert not grade_coverage(question(("1", "int")), answer).correct


@pytest.mark.parametrize(
    "answer",
    [
        "maybe",
        "YES or NO",
        "YES/NO",
        "no/yes",
        "yes no",
        "I know nothing",
        "nothing",
        "yesterday",
        "1",
        "executed",
        "It is executed.",
    ],
)
def test_neither(answer: str) -> None:
    """What says neither, or both, is no answer and so wrong."""
    judged = grade_coverage(question(executed=False), answer)
    assert judged.outcome is Outcome.NO_ANSWER
    assert not judged.correct


def test_expected_texts() -> None:
    """What the record shows as right."""
    asked = InputQuestions(
        index=0, text="f([])", masked="assert f([]) == ??", originals=("0",), statements=()
    )
    program = ProgramQuestions(task_id="t", program=PROGRAM, entry_point="f", inputs=(asked,))
    cases: list[tuple[QuestionKind, StatementQuestion | None, tuple[str, ...]]] = [
        ("coverage", question(executed=False), ("NO",)),
        ("state", question(("1", "int"), ("2", "int")), ("1; int", "2; int")),
        ("state", question(executed=False), ("Nil",)),
        ("path", question(next_lines=(-1, 5)), ("-1", "if total > 3:")),
        ("output", None, ("assert f([]) == 0",)),
    ]
    for kind, statement, expected in cases:
        assert expected_answers(kind, program, asked, statement) == expected


# Path


@pytest.mark.parametrize(
    "answer",
    ["if total > 3:", "  if total > 3:  ", "5\tif total > 3:", "5: if total > 3:", "Line 5: if total > 3:",
     "`if total > 3:`", "if total > 3:\nreturn total", "'if total > 3:'", "**if total > 3:**",
     "Line 5: `if total > 3:`", "line 5 if total > 3:", "L5: if total > 3:", "5) if total > 3:"],
)  # fmt: skip
def test_the_text_of_the_next_line(answer: str) -> None:
    """Blank space, backticks and a line number in front do not matter; the first line counts."""
    assert grade_path(PROGRAM, question(next_lines=(5,)), answer).correct


@pytest.mark.parametrize(
    "answer", ["return total", "5", "if total > 4:", "-1", "total > 3", "line 5", "-1 + 1"]
)
def test_another_line_is_wrong(answer: str) -> None:
    """The text counts, not the number."""
    assert not grade_path(PROGRAM, question(next_lines=(5,)), answer).correct


@pytest.mark.parametrize(
    "answer", ["-1", "- 1", "`-1`", "-1.", "'-1'", "−1", "**-1**", "-1 (it ends)", "[-1]: it ends"]
)
def test_minus_one(answer: str) -> None:
    """Where the line is not executed, or nothing comes after it."""
    assert grade_path(PROGRAM, question(executed=False), answer).correct
    assert grade_path(PROGRAM, question(next_lines=(-1, 3)), answer).correct
    assert not grade_path(PROGRAM, question(next_lines=(3,)), answer).correct


def test_a_text_on_several_lines_counts_if_any_of_them_comes_next() -> None:
    """`return total` stands on lines 6 and 8."""
    assert grade_path(PROGRAM, question(next_lines=(6,)), "return total").correct
    assert grade_path(PROGRAM, question(next_lines=(8,)), "return total").correct


def test_a_comment_at_the_end_of_a_line_need_not_be_repeated() -> None:
    """With or without; a hash inside quotes is no comment."""
    assert grade_path(PROGRAM, question(next_lines=(4,)), "total += x").correct
    assert grade_path(PROGRAM, question(next_lines=(4,)), "total += x  # add").correct
    assert not grade_path(PROGRAM, question(next_lines=(7,)), "s = '").correct


def test_no_line_is_no_answer() -> None:
    """An answer of blank space only."""
    assert grade_path(PROGRAM, question(), "\n \n").outcome is Outcome.NO_ANSWER
