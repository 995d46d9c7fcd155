"""Judging answers about coverage, state and path."""

import pytest

from triathlon_runner.records import Outcome
from triathlon_runner.runtime._judge import (
    expected_coverage,
    expected_path,
    expected_state,
    judge_coverage,
    judge_path,
    judge_state,
)
from triathlon_runner.runtime._questions import StatementQuestion, Value

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
    "answer", ["YES", "yes", "Yes.", "**YES**", "'YES'", "YES, line 4 runs", "Answer: yes", "YES\nNO"]
)
def test_yes(answer: str) -> None:
    """Case, punctuation and a reason behind the word do not matter."""
    assert judge_coverage(question(("1", "int")), answer).correct
    assert not judge_coverage(question(executed=False), answer).correct


@pytest.mark.parametrize("answer", ["NO", "no", "No, it is not executed", "- no", "The answer is NO."])
def test_no(answer: str) -> None:
    """The same for the other word."""
    assert judge_coverage(question(executed=False), answer).correct
    assert not judge_coverage(question(("1", "int")), answer).correct


@pytest.mark.parametrize("answer", ["maybe", "YES or NO", "I know nothing", "nothing", "yesterday", "1"])
def test_neither(answer: str) -> None:
    """What says neither, or both, is no answer and so wrong."""
    judged = judge_coverage(question(executed=False), answer)
    assert judged.outcome is Outcome.NO_ANSWER
    assert not judged.correct


# State

MAY_DAY = ("datetime.datetime(2024, 5, 1, 0, 0)", "datetime.datetime")
RIGHT = [
    (("5", "int"), "5; int"),
    (("5", "int"), "5;int"),
    (("5", "int"), "5; <class 'int'>"),
    (("5", "int"), "5; Integer"),
    (("5", "int"), "5; `int`"),
    (("-5", "int"), "-5; int"),
    (("5.0", "float"), "5.0; float"),
    (("5.0", "float"), "5; float"),
    (("0.1", "float"), "0.10000001; float"),
    (("nan", "float"), "nan; float"),
    (("inf", "float"), "float('inf'); float"),
    (("True", "bool"), "True; bool"),
    (("True", "bool"), "True; boolean"),
    (("None", "NoneType"), "None; NoneType"),
    (("None", "NoneType"), "None; None"),
    (("'ab'", "str"), "'ab'; str"),
    (("'ab'", "str"), '"ab"; str'),
    (("'ab'", "str"), "ab; str"),
    (("'ab'", "str"), "ab; string"),
    (("'5'", "str"), "5; str"),
    (("'a; b'", "str"), "'a; b'; str"),
    (("'it’s'", "str"), "'it’s'; str"),
    (("'ab'", "str"), "‘ab’; str"),
    (("''", "str"), "''; str"),
    (("[1, 2]", "list"), "[1, 2]; list"),
    (("[1, 2]", "list"), "[1,2]; List[int]"),
    (("[1, 2]", "list"), "[1, 2]; list[int]"),
    (("[1, 2]", "list"), "[1, 2]; list of int"),
    (("(1, 'a')", "tuple"), "(1, 'a'); tuple"),
    (("(1, 'a')", "tuple"), "(1, 'a'); Tuple[int, str]"),
    (("(1, 'a')", "tuple"), "(1, 'a'); (int, str)"),
    (("{1, 2}", "set"), "{2, 1}; set"),
    (("set()", "set"), "set(); set"),
    (("{'a': [1]}", "dict"), "{'a': [1]}; dict[str, list[int]]"),
    (("{'a': 1}", "dict"), "{'a': 1}; dictionary"),
    (("array([1, 2])", "numpy.ndarray"), "[1 2]; numpy.ndarray"),
    (("array([1, 2])", "numpy.ndarray"), "array([1, 2]); np.ndarray"),
    (("array([1.0, 2.5])", "numpy.ndarray"), "[1.  2.5]; ndarray"),
    (("array([[1, 2], [3, 4]])", "numpy.ndarray"), "[[1 2]\n [3 4]]; numpy.array"),
    (("3.5", "numpy.float64"), "3.5; numpy.float64"),
    (MAY_DAY, "datetime.datetime(2024, 5, 1, 0, 0); datetime.datetime"),
    (MAY_DAY, "2024-05-01 00:00:00; datetime"),
    (("datetime.date(2024, 5, 1)", "datetime.date"), "2024-05-01; datetime.date"),
    (("Decimal('1.50')", "decimal.Decimal"), "1.5; Decimal"),
    (("Counter({'a': 2})", "collections.Counter"), "Counter({'a': 2}); Counter"),
    (("int", "type"), "<class 'int'>; type"),
    (("Color.RED", "Color"), "<Color.RED: 1>; Color"),
]  # fmt: skip


@pytest.mark.parametrize(("state", "answer"), RIGHT)
def test_right_states(state: tuple[str, str], answer: str) -> None:
    """Quotes, generics, class names and the ways in which `str` and `repr` write a value."""
    assert judge_state(question(state), answer).correct


WRONG = [
    (("5", "int"), "6; int"),
    (("5", "int"), "5; str"),
    (("5", "int"), "5; float"),
    (("5", "int"), "5.0; int"),
    (("5.0", "float"), "5.0; int"),
    (("5.0", "float"), "5.1; float"),
    (("1", "int"), "True; int"),
    (("True", "bool"), "1; bool"),
    (("True", "bool"), "'True'; bool"),
    (("'ab'", "str"), "'abc'; str"),
    (("'5'", "str"), "5; int"),
    (("[1, 2]", "list"), "(1, 2); list"),
    (("[1, 2]", "list"), "[2, 1]; list"),
    (("(1, 2)", "tuple"), "[1, 2]; tuple"),
    (("set()", "set"), "{}; set"),
    (("3.5", "numpy.float64"), "3.5; float"),
    (("datetime.date(2024, 5, 1)", "datetime.date"), "2024-05-02; date"),
    (("datetime.date(2024, 5, 1)", "datetime.date"), "2024-05-01; str"),
    (("1", "int"), "__import__('os').getpid(); int"),
    (("[1]", "list"), "[x for x in [1]]; list"),
    (("2", "int"), "1 + 1; int"),
    (("5", "int"), "Nil"),
    (("None", "NoneType"), "Nil"),
]


@pytest.mark.parametrize(("state", "answer"), WRONG)
def test_wrong_states(state: tuple[str, str], answer: str) -> None:
    """Value and type both have to match, and nothing is computed."""
    assert judge_state(question(state), answer).outcome is Outcome.FAILED


@pytest.mark.parametrize("answer", ["Nil", "nil", "NIL", "[Nil]", "'Nil'", "Nil; Nil", "Nil; NoneType"])
def test_nil(answer: str) -> None:
    """Right where the line is not executed, or runs and leaves the variable without a value."""
    assert judge_state(question(executed=False), answer).correct
    assert judge_state(question(), answer).correct
    assert not judge_state(question(("0", "int")), answer).correct


def test_a_value_at_a_line_that_is_not_executed_is_wrong() -> None:
    """None is a value, too."""
    assert not judge_state(question(executed=False), "None; NoneType").correct
    assert not judge_state(question(executed=False), "0; int").correct


def test_any_observed_value_is_right_with_its_own_type() -> None:
    """A line may run many times; value and type have to come from the same time."""
    asked = question(("1", "int"), ("'a'", "str"))
    assert judge_state(asked, "1; int").correct
    assert judge_state(asked, "a; str").correct
    assert not judge_state(asked, "a; int").correct


@pytest.mark.parametrize("answer", ["5", "int", "the value is 5"])
def test_a_state_without_a_type_is_no_answer(answer: str) -> None:
    """The form is `value; type`."""
    assert judge_state(question(("5", "int")), answer).outcome is Outcome.NO_ANSWER


def test_a_value_without_a_literal_form_has_to_be_repeated() -> None:
    """Its `repr` counts, blank space aside; where nothing can be written no answer is right."""
    asked = question(("[<p>a</p>, <p>b</p>]", "bs4.element.ResultSet"), literal=False)
    assert judge_state(asked, "[<p>a</p>,  <p>b</p>]; bs4.element.ResultSet").correct
    assert not judge_state(asked, "[<p>a</p>]; ResultSet").correct
    assert not judge_state(question(("", "Node"), literal=False), "Node(); Node").correct


def test_expected_texts() -> None:
    """What the record shows as right."""
    assert expected_coverage(question(executed=False)) == ("NO",)
    assert expected_state(question(("1", "int"), ("2", "int"))) == ("1; int", "2; int")
    assert expected_state(question(executed=False)) == ("Nil",)
    assert expected_path(PROGRAM, question(next_lines=(-1, 5))) == ("-1", "if total > 3:")


# Path


@pytest.mark.parametrize(
    "answer",
    ["if total > 3:", "  if total > 3:  ", "5\tif total > 3:", "5: if total > 3:", "Line 5: if total > 3:",
     "`if total > 3:`", "if total > 3:\nreturn total"],
)  # fmt: skip
def test_the_text_of_the_next_line(answer: str) -> None:
    """Blank space, backticks and a line number in front do not matter; the first line counts."""
    assert judge_path(PROGRAM, question(next_lines=(5,)), answer).correct


@pytest.mark.parametrize("answer", ["return total", "5", "if total > 4:", "-1", "total > 3"])
def test_another_line_is_wrong(answer: str) -> None:
    """The text counts, not the number."""
    assert not judge_path(PROGRAM, question(next_lines=(5,)), answer).correct


@pytest.mark.parametrize("answer", ["-1", "- 1", "`-1`", "-1.", "'-1'"])
def test_minus_one(answer: str) -> None:
    """Where the line is not executed, or nothing comes after it."""
    assert judge_path(PROGRAM, question(executed=False), answer).correct
    assert judge_path(PROGRAM, question(next_lines=(-1, 3)), answer).correct
    assert not judge_path(PROGRAM, question(next_lines=(3,)), answer).correct


def test_a_text_on_several_lines_counts_if_any_of_them_comes_next() -> None:
    """`return total` stands on lines 6 and 8."""
    assert judge_path(PROGRAM, question(next_lines=(6,)), "return total").correct
    assert judge_path(PROGRAM, question(next_lines=(8,)), "return total").correct


def test_a_comment_at_the_end_of_a_line_need_not_be_repeated() -> None:
    """With or without; a hash inside quotes is no comment."""
    assert judge_path(PROGRAM, question(next_lines=(4,)), "total += x").correct
    assert judge_path(PROGRAM, question(next_lines=(4,)), "total += x  # add").correct
    assert not judge_path(PROGRAM, question(next_lines=(7,)), "s = '").correct


def test_no_line_is_no_answer() -> None:
    """An answer of blank space only."""
    assert judge_path(PROGRAM, question(), "\n \n").outcome is Outcome.NO_ANSWER
