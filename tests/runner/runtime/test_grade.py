"""Taking the answer out of a reply, and grading answers about coverage, path and state."""

from pathlib import Path

import pytest

from support.case_files import listed
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.runtime import StatementQuestion, Value
from triathlon_runner.runtime._grade import (
    Graded,
    expected_path,
    extract_answer,
    grade_coverage,
    grade_path,
    grade_state,
)
from triathlon_runner.runtime._questions import STYLES, Style

FOLDER = Path(__file__).parent


@pytest.mark.parametrize(("heading", "replies"), listed(FOLDER / "answers_in_replies.txt").items())
def test_answers_in_replies(heading: str, replies: list[str]) -> None:
    """Tags may be missing, cut or in small letters; fences, `Answer:` and a thought are no part of it."""
    style, _, answer = heading.partition(": ")
    for text in replies:
        assert extract_answer(Reply(text=text), "cot" if style == "cot" else "direct") == answer, text


CLOSED = "[ANSWER]\nYES\n[/ANSWER]"
ENDLESS = "[THOUGHT]\n1. x is 1, so YES"


@pytest.mark.parametrize(
    ("style", "text", "finish", "outcome"),
    [
        ("cot", ENDLESS, Finish.STOP, Outcome.NO_ANSWER),
        ("cot", ENDLESS, Finish.LENGTH, Outcome.TRUNCATED),
        ("direct", "[ANSWER]\nYES", Finish.LENGTH, Outcome.TRUNCATED),
        ("cot", "[ANSWER]\nYES", Finish.LENGTH, Outcome.TRUNCATED),
        ("direct", "[ANSWER]\nYES", Finish.REFUSED, Outcome.REFUSED),
        ("direct", "[ANSWER]\nYES", Finish.CONTEXT_OVERFLOW, Outcome.CONTEXT_OVERFLOW),
        *(("direct", text, Finish.STOP, Outcome.NO_ANSWER)
          for text in ("", "  \n", "[ANSWER]\n[/ANSWER]", "[ANSWER]\n```\n\n```")),
    ],
)  # fmt: skip
def test_replies_without_an_answer(style: Style, text: str, finish: Finish, outcome: Outcome) -> None:
    """The reason is named; a separate field of reasoning is never looked at."""
    graded = extract_answer(Reply(text=text, finish=finish, reasoning=CLOSED), style)
    assert isinstance(graded, Graded)
    assert graded.outcome is outcome


@pytest.mark.parametrize("style", STYLES)
def test_an_answer_that_was_closed_was_not_cut(style: Style) -> None:
    assert extract_answer(Reply(text=f"{CLOSED}\nand so on", finish=Finish.LENGTH), style) == "YES"


PROGRAM = """def f(xs):
    total = 0
    for x in xs:
        total += x  # don't count, add
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


STATEMENTS = listed(FOLDER / "statements.txt")
SAID = {"YES": True, "NO": False, "neither YES nor NO": None}


@pytest.mark.parametrize(
    ("answer", "said"), [(answer, said) for heading, said in SAID.items() for answer in STATEMENTS[heading]]
)
def test_coverage(answer: str, said: bool | None) -> None:
    """Case, punctuation and a reason behind the word do not matter; neither word, or both, is no answer."""
    for executed in (True, False):
        graded = grade_coverage(question(executed=executed), answer)
        assert graded.correct is (said is executed)
        assert (graded.outcome is Outcome.NO_ANSWER) is (said is None)


LINE_5, MINUS_ONE = STATEMENTS["line 5"], STATEMENTS["-1"]


@pytest.mark.parametrize(
    ("next_lines", "answers", "right"),
    [
        ((5,), LINE_5, True),
        ((5,), ["return total", "5", "if total > 4:", "-1", "total > 3", "line 5", "-1 + 1"], False),
        ((-1,), MINUS_ONE, True),
        ((-1, 3), MINUS_ONE, True),
        ((3,), MINUS_ONE, False),
        ((6,), ["return total"], True),  # it stands on lines 6 and 8
        ((8,), ["return total"], True),
        ((4,), ["total += x", "total += x  # don't count, add"], True),  # a comment need not be repeated
        ((7,), ["s = '", "s = ''"], False),  # a hash inside quotes is none
        ((7,), ["s = ‘# not a comment’"], True),
        ((5, 4), ["`return total` or `if total > 3:`"], False),
    ],
)
def test_paths(next_lines: tuple[int, ...], answers: list[str], right: bool) -> None:
    """The text of the line counts, not its number; blank space, backticks and a number in front do not."""
    for answer in answers:
        assert grade_path(PROGRAM, question(next_lines=next_lines), answer).correct is right, answer
    assert grade_path(PROGRAM, question(next_lines=next_lines), "\n \n").outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_of_paths_are_those_of_python(end: str) -> None:
    """A form feed ends none, nor does a line separator; a lone carriage return does."""
    for separator in "\x0b\f\x1c\x85\u2028":
        line = f"s = 'a{separator}b'"
        program = f"def f():{end}    {line}{end}    return s{end}"
        assert expected_path(program, question(next_lines=(2, 3))) == (line, "return s")
        assert grade_path(program, question(next_lines=(2,)), f"{line}{end}return s").correct


# State: the forms of a value and its type


def states(name: str) -> list[tuple[tuple[str, str], list[str]]]:
    """Each value of a file with its type, and answers about it."""
    found = listed(FOLDER / name).items()
    return [((state.rpartition("; ")[0], state.rpartition("; ")[2]), answers) for state, answers in found]


@pytest.mark.parametrize(("state", "answers"), states("right_states.txt"))
def test_right_states(state: tuple[str, str], answers: list[str]) -> None:
    assert [text for text in answers if not grade_state(question(state), text).correct] == []


HUGE = (("(1+2j)", "complex"), [f"{'9' * 400} + 1j; complex"])


@pytest.mark.parametrize(("state", "answers"), [*states("wrong_states.txt"), HUGE])
def test_wrong_states(state: tuple[str, str], answers: list[str]) -> None:
    outcomes = {text: grade_state(question(state), text).outcome for text in answers}
    assert outcomes == dict.fromkeys(answers, Outcome.FAILED)


@pytest.mark.parametrize("answer", STATEMENTS["Nil"])
def test_nil(answer: str) -> None:
    """Right where the line is not executed, or runs and leaves the variable without a value."""
    assert grade_state(question(executed=False), answer).correct
    assert grade_state(question(), answer).correct
    assert not grade_state(question(("0", "int")), answer).correct


ONE_OR_A = question(("1", "int"), ("'a'", "str"))
RESULTS = question(("[<p>a</p>, <p>b</p>]", "bs4.element.ResultSet"), literal=False)


@pytest.mark.parametrize(
    ("asked", "answer", "outcome"),
    [
        # None is a value, too
        (question(executed=False), "None; NoneType", Outcome.FAILED),
        (question(executed=False), "0; int", Outcome.FAILED),
        # a line may run many times; value and type have to come from the same time
        (ONE_OR_A, "1; int", Outcome.PASSED),
        (ONE_OR_A, "a; str", Outcome.PASSED),
        (ONE_OR_A, "a; int", Outcome.FAILED),
        # without a literal form the `repr` counts, blank space aside; where it has none, nothing is right
        (RESULTS, "[<p>a</p>,  <p>b</p>]; bs4.element.ResultSet", Outcome.PASSED),
        (RESULTS, "[<p>a</p>]; ResultSet", Outcome.FAILED),
        (question(("", "Node"), literal=False), "Node(); Node", Outcome.FAILED),
        # the form is `value; type`
        *((question(("5", "int")), text, Outcome.NO_ANSWER) for text in ("5", "int", "the value is 5")),
    ],
)
def test_states_of_other_questions(asked: StatementQuestion, answer: str, outcome: Outcome) -> None:
    assert grade_state(asked, answer).outcome is outcome
