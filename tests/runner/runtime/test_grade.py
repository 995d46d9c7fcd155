"""Grading answers about coverage, path and state."""

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
from triathlon_runner.runtime._states import grade_state

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


# State: the forms of a value and its type

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
    (("(1, 2)", "tuple"), "(1, 2); int, int"),
    (("(1, 2)", "tuple"), "1, 2; int, int"),
    (("([1], {})", "tuple"), "([1], {}); list[int], dict[str, tuple[int, int]]"),
    (("[1, True, 'a', 1.0]", "list"), "[1, True, 'a', 1.0000001]; list"),
    (("[Decimal('1.50')]", "list"), "[Decimal('1.5')]; list"),
    (("dict_keys([1, 2])", "dict_keys"), "dict_keys([1, 2]); dict_keys"),
    (("dict_keys([1, 2])", "dict_keys"), "{2, 1}; dict_keys"),
    (("dict_keys([1, 2])", "dict_keys"), "[1, 2]; dict_keys"),
    (("dict_items([(1, [2])])", "dict_items"), "dict_items([(1, [2])]); dict_items"),
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
    (("5", "int"), "**5; int**"),
    (("5", "int"), "**5**; **int**"),
    (("5", "int"), "`5`; `int`"),
    (("5", "int"), "'5; int'"),
    (("5", "int"), "5; int."),
    (("5", "int"), "5; int;"),
    (("5", "int"), "5; int (since x is 4)"),
    (("5", "int"), "5; int\nbecause x is 4; it was 3"),
    (("5", "int"), "Value: 5; Type: int"),
    (("5", "int"), "5; class int"),
    (("-5", "int"), "−5; int"),
    (("True", "bool"), "true; bool"),
    (("True", "bool"), "np.True_; bool"),
    (("None", "NoneType"), "none; type(None)"),
    (("1000.0", "float"), "1e3; float"),
    (("0.0", "float"), "-0.0; float"),
    (("(1, 2)", "tuple"), "1, 2; tuple"),
    (("3.5", "numpy.float64"), "np.float64(3.5); np.float64"),
    (("[1.5]", "list"), "[np.float64(1.5)]; list"),
    (("{'a': 2}", "dict"), "{'a': np.int64(2)}; dict"),
    (("'nil'", "str"), "'nil'; str"),
    (("3.5", "numpy.float64"), "3.5; float"),
    (("2", "int"), "1 + 1; int"),
    (("[1.0]", "list"), "[1]; list"),
    (("[1]", "list"), "[1.0]; list"),
    (("(1, [2])", "tuple"), "(1, [2.0]); tuple"),
    (("{(1, 2)}", "set"), "{(1.0, 2)}; set"),
    (("(100, 0)", "tuple"), "(10 ** 2, 0); tuple"),
    (("['(']", "list"), "[' ' * 0 + '(']; list"),
    (("3", "numpy.int64"), "3; int"),
    (("True", "numpy.bool_"), "True; bool"),
    (("range(0, 3)", "range"), "range(3); range"),
    (("b'ab'", "bytearray"), "bytearray(b'ab'); bytearray"),
    (("datetime.timedelta(days=1, seconds=5400)", "datetime.timedelta"), "1 day, 1:30:00; timedelta"),
    (("Fraction(1, 2)", "fractions.Fraction"), "1/2; Fraction"),
    (("Color", "type"), "<class '__main__.Color'>; type"),
    (("1", "f.<locals>.Count"), "1; <class '__main__.f.<locals>.Count'>"),
]  # fmt: skip


@pytest.mark.parametrize(("state", "answer"), RIGHT)
def test_right_states(state: tuple[str, str], answer: str) -> None:
    """Quotes, generics, class names and the ways in which `str` and `repr` write a value."""
    assert grade_state(question(state), answer).correct


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
    (("datetime.date(2024, 5, 1)", "datetime.date"), "2024-05-02; date"),
    (("datetime.date(2024, 5, 1)", "datetime.date"), "2024-05-01; str"),
    (("1", "int"), "__import__('os').getpid(); int"),
    (("[1]", "list"), "[x for x in [1]]; list"),
    (("5", "int"), "6; int\n5; int"),
    (("5", "int"), "5 or 6; int"),
    (("5", "int"), "x = 5; int"),
    (("1000.0", "float"), "1,000.0; float"),
    (("True", "bool"), "'true'; bool"),
    (("None", "NoneType"), "null; NoneType"),
    (("{1: 'a'}", "dict"), "{'1': 'a'}; dict"),
    (("['a', 'b']", "list"), "[a, b]; list"),
    (("datetime.timedelta(days=1)", "datetime.timedelta"), "1 day; timedelta"),
    (("[1]", "list"), "[True]; list"),
    (("[True]", "list"), "[1]; list"),
    (("{1: 'a'}", "dict"), "{True: 'a'}; dict"),
    (("{'a': False}", "dict"), "{'a': 0}; dict"),
    (("{1}", "set"), "{True}; set"),
    (("[{1}]", "list"), "[frozenset({1})]; list"),
    (("[Decimal('1')]", "list"), "[1]; list"),
    (("[Counter({'a': 1})]", "list"), "[{'a': 1}]; list"),
    (("dict_keys([1, 2])", "dict_keys"), "{1}; dict_keys"),
    (("dict_keys([1])", "dict_keys"), "{True}; dict_keys"),
    (("dict_values([1, 2])", "dict_values"), "{1, 2}; dict_values"),
    (("Decimal('1.5')", "decimal.Decimal"), "Decimal('sNaN'); Decimal"),
    (("[Decimal('1.5')]", "list"), "[Decimal('sNaN')]; list"),
    (("5", "int"), "5; int, int"),
    (("3.5", "numpy.float64"), "3.5; int"),
    (("5", "int"), "10 ** 10 ** 10; int"),
    (("'a'", "str"), "'a' * 10 ** 9; str"),
    (("'a'", "str"), "'%99999999d' % 1; str"),
    (("5", "int"), "Nil"),
    (("None", "NoneType"), "Nil"),
]


@pytest.mark.parametrize(("state", "answer"), WRONG)
def test_wrong_states(state: tuple[str, str], answer: str) -> None:
    """Value and type both have to match; no name, no comprehension and nothing endless is computed."""
    assert grade_state(question(state), answer).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    "answer",
    ["Nil", "nil", "NIL", "[Nil]", "'Nil'", "Nil; Nil", "Nil; NoneType", "Nil\nIt is not executed; x is 4.",
     "Nil\nx = 5; int", "**Nil**\n\nIt is not reached.", "Nil (line 4 is not executed)", "Nil, it never runs",
     "`Nil` - the loop is empty", "Nil."],
)  # fmt: skip
def test_nil(answer: str) -> None:
    """Right where the line is not executed, or runs and leaves the variable without a value."""
    assert grade_state(question(executed=False), answer).correct
    assert grade_state(question(), answer).correct
    assert not grade_state(question(("0", "int")), answer).correct


def test_a_value_at_a_line_that_is_not_executed_is_wrong() -> None:
    """None is a value, too."""
    assert not grade_state(question(executed=False), "None; NoneType").correct
    assert not grade_state(question(executed=False), "0; int").correct


def test_any_observed_value_is_right_with_its_own_type() -> None:
    """A line may run many times; value and type have to come from the same time."""
    asked = question(("1", "int"), ("'a'", "str"))
    assert grade_state(asked, "1; int").correct
    assert grade_state(asked, "a; str").correct
    assert not grade_state(asked, "a; int").correct


@pytest.mark.parametrize("answer", ["5", "int", "the value is 5"])
def test_a_state_without_a_type_is_no_answer(answer: str) -> None:
    """The form is `value; type`."""
    assert grade_state(question(("5", "int")), answer).outcome is Outcome.NO_ANSWER


def test_a_value_without_a_literal_form_has_to_be_repeated() -> None:
    """Its `repr` counts, blank space aside; where nothing can be written no answer is right."""
    asked = question(("[<p>a</p>, <p>b</p>]", "bs4.element.ResultSet"), literal=False)
    assert grade_state(asked, "[<p>a</p>,  <p>b</p>]; bs4.element.ResultSet").correct
    assert not grade_state(asked, "[<p>a</p>]; ResultSet").correct
    assert not grade_state(question(("", "Node"), literal=False), "Node(); Node").correct
