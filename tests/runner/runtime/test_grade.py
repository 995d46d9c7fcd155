"""Taking the answer out of a reply, and grading answers about coverage, path and state."""

import pytest

from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.runtime import InputQuestions, ProgramQuestions, StatementQuestion, Value
from triathlon_runner.runtime._grade import (
    Graded,
    expected_answers,
    extract_answer,
    grade_coverage,
    grade_path,
    grade_state,
)
from triathlon_runner.runtime._questions import STYLES, QuestionKind, Style

DIRECT = {
    "[ANSWER]\nYES\n[/ANSWER]": "YES",
    "[ANSWER]\nYES\n": "YES",  # the closing tag is the stop sequence
    "[ANSWER]YES[/ANSWER": "YES",
    "[ANSWER]\nYES\n[/ANS": "YES",
    "[ANSWER]\nYES\n[": "YES",
    "[answer] yes [/answer]": "yes",
    "YES": "YES",
    "YES\n[/ANSWER]\n[PYTHON]\ndef g(): pass": "YES",
    "Sure!\n[ANSWER]\n```python\nassert f(1) == 2\n```\n[/ANSWER]": "assert f(1) == 2",
    "[ANSWER]\n`x = 1`\n[/ANSWER]": "x = 1",
    "[ANSWER]\n```python\nx = 1\n[/ANSWER]": "x = 1",
    "````\n5; int\n````": "5; int",
    "[ANSWER]\n    x = 1\n    y = 2\n[/ANSWER]": "x = 1\ny = 2",
    "```python\n    x = 1\n    y = 2\n```": "x = 1\ny = 2",
    "[ANSWER]\n[1, 2]; list\n[/ANSWER]": "[1, 2]; list",
    "[ANSWER]\n[]; list": "[]; list",
    "[THOUGHT]\nwell\n[/THOUGHT]\n[ANSWER]\n-1\n[/ANSWER]": "-1",
    "[ANSWER]\nNO\n[/ANSWER]\n\n[ANSWER]\nYES\n[/ANSWER]": "NO",
    "[ANSWER]\n```\nreturn x\n```\nfor x is 1\n[/ANSWER]": "return x",
    "[ANSWER]\nAnswer: 5; int\n[/ANSWER]": "5; int",
    "[ANSWER]\n**Answer:** -1\n[/ANSWER]": "-1",
    "The answer is: 5; int": "5; int",
    "**[ANSWER]**\nYES": "YES",
    "[ANSWER]: YES": "YES",
    "[ANSWER]**5; int**": "**5; int**",
    "[ANSWER]\n[ANSWER]\nYES\n[ANSWER]\nYES": "YES",
    "[ANSWER]\nanswer = 5\n[/ANSWER]": "answer = 5",
    "[ANSWER]\nanswer: int = 5\n[/ANSWER]": "answer: int = 5",
}
BEHIND_A_THOUGHT = {
    "[THOUGHT]\nline 2 runs\n[/THOUGHT]\n[ANSWER]\nYES\n[/ANSWER]": "YES",
    "line 2 runs\n[/THOUGHT]\n[ANSWER]\nYES\n": "YES",
    "line 2 runs\n[/THOUGHT]\nYES": "YES",
    "[THOUGHT] is [ANSWER] a tag? [/THOUGHT] [ANSWER] NO [/ANSWER]": "NO",
    "no tags of thought [ANSWER]\nNO": "NO",
}


@pytest.mark.parametrize(
    ("style", "text", "answer"),
    [*(("direct", *one) for one in DIRECT.items()), *(("cot", *one) for one in BEHIND_A_THOUGHT.items())],
)
def test_answers_in_replies(style: Style, text: str, answer: str) -> None:
    """Tags may be missing, cut or in small letters; fences, `Answer:` and a thought are no part of it."""
    assert extract_answer(Reply(text=text), style) == answer


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


YES = ["YES", "yes", "Yes.", "**YES**", "'YES'", "YES, line 4 runs", "Answer: yes", "YES\nNO", "[YES]",
       "Yes the line runs, for no return stands before it"]  # fmt: skip
NO = ["NO", "no", "No, it is not executed", "- no", "The answer is NO.", "not executed",
      "The line is not executed.", "Line 4 is not executed, so it has no successor",
      "NOT EXECUTED"]  # fmt: skip
NEITHER = ["maybe", "YES or NO", "YES/NO", "no/yes", "yes no", "I know nothing", "nothing", "yesterday", "1",
           "executed", "It is executed."]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "said"),
    [*((text, True) for text in YES), *((text, False) for text in NO), *((text, None) for text in NEITHER)],
)
def test_coverage(answer: str, said: bool | None) -> None:
    """Case, punctuation and a reason behind the word do not matter; neither word, or both, is no answer."""
    for executed in (True, False):
        graded = grade_coverage(question(executed=executed), answer)
        assert graded.correct is (said is executed)
        assert (graded.outcome is Outcome.NO_ANSWER) is (said is None)


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


LINE_5 = [
    "if total > 3:", "  if total > 3:  ", "5\tif total > 3:", "5: if total > 3:", "Line 5: if total > 3:",
    "`if total > 3:`", "if total > 3:\nreturn total", "'if total > 3:'", "**if total > 3:**",
    "Line 5: `if total > 3:`", "line 5 if total > 3:", "L5: if total > 3:", "5) if total > 3:",
    "5 if total > 3:", "`if total > 3:` (line 5)", "if total > 3:",
    "Line 5 (`if total > 3:`)", "line 5 (`if total > 3:`).", "**Line 5:** `if total > 3:`",
    "**Line 5** (`if total > 3:`)",
]  # fmt: skip
MINUS_ONE = ["-1", "- 1", "`-1`", "-1.", "'-1'", "−1", "**-1**", "-1 (it ends)", "[-1]: it ends",
             "–1", "‑1", "-1 — it ends"]  # fmt: skip


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
        ((4,), ["total += x", "total += x  # add"], True),  # a comment need not be repeated
        ((7,), ["s = '"], False),  # a hash inside quotes is none
        ((7,), ["s = ‘# not a comment’"], True),
        ((5, 4), ["`return total` or `if total > 3:`"], False),
    ],
)
def test_paths(next_lines: tuple[int, ...], answers: list[str], right: bool) -> None:
    """The text of the line counts, not its number; blank space, backticks and a number in front do not."""
    for answer in answers:
        assert grade_path(PROGRAM, question(next_lines=next_lines), answer).correct is right, answer
    assert grade_path(PROGRAM, question(next_lines=next_lines), "\n \n").outcome is Outcome.NO_ANSWER


# State: the forms of a value and its type

MAY_DAY = ("datetime.datetime(2024, 5, 1, 0, 0)", "datetime.datetime")
RIGHT = {
    ("5", "int"): ["5; int", "5;int", "5; <class 'int'>", "5; Integer", "5; `int`", "**5; int**",
        "**5**; **int**", "`5`; `int`", "'5; int'", "5; int.", "5; int;", "5; int (since x is 4)",
        "5; int\nbecause x is 4; it was 3", "Value: 5; Type: int", "5; class int",
        "v = 5; int", "v=5; int", "v: 5; int", "5; int  # since x is 4", "5; int — x is 4",
        "`v` = 5; int", "**v**: `5`; `int`", "**Value:** 5; **Type:** int", "**Value**: 5; **Type**: int"],
    ("-5", "int"): ["-5; int", "−5; int", "‑5; int"],
    ("5.0", "float"): ["5.0; float", "5; float"],
    ("0.1", "float"): ["0.10000001; float"],
    ("nan", "float"): ["nan; float"],
    ("inf", "float"): ["float('inf'); float"],
    ("True", "bool"): ["True; bool", "True; boolean", "true; bool", "np.True_; bool"],
    ("None", "NoneType"): ["None; NoneType", "None; None", "none; type(None)"],
    ("'ab'", "str"): ["'ab'; str", '"ab"; str', "ab; str", "ab; string", "‘ab’; str"],
    ("'5'", "str"): ["5; str"],
    ("'a; b'", "str"): ["'a; b'; str"],
    ("'it’s'", "str"): ["'it’s'; str"],
    ("''", "str"): ["''; str"],
    ("[1, 2]", "list"): ["[1, 2]; list", "[1,2]; List[int]", "[1, 2]; list[int]", "[1, 2]; list of int"],
    ("(1, 'a')", "tuple"): ["(1, 'a'); tuple", "(1, 'a'); Tuple[int, str]", "(1, 'a'); (int, str)",
        "(1, 'a'); tuple of (int, str)"],
    ("defaultdict({'a': [1]})", "collections.defaultdict"): ["{'a': [1]}; defaultdict(list)",
        "defaultdict(list, {'a': [1]}); collections.defaultdict(<class 'list'>)"],
    ("(1, 2)", "tuple"): ["(1, 2); int, int", "1, 2; int, int", "1, 2; tuple"],
    ("([1], {})", "tuple"): ["([1], {}); list[int], dict[str, tuple[int, int]]"],
    ("[1, True, 'a', 1.0]", "list"): ["[1, True, 'a', 1.0000001]; list"],
    ("[Decimal('1.50')]", "list"): ["[Decimal('1.5')]; list"],
    ("dict_keys([1, 2])", "dict_keys"): ["dict_keys([1, 2]); dict_keys", "{2, 1}; dict_keys",
        "[1, 2]; dict_keys"],
    ("dict_items([(1, [2])])", "dict_items"): ["dict_items([(1, [2])]); dict_items"],
    ("{1, 2}", "set"): ["{2, 1}; set"],
    ("set()", "set"): ["set(); set"],
    ("{'a': [1]}", "dict"): ["{'a': [1]}; dict[str, list[int]]"],
    ("{'a': 1}", "dict"): ["{'a': 1}; dictionary"],
    ("array([1, 2])", "numpy.ndarray"): ["[1 2]; numpy.ndarray", "array([1, 2]); np.ndarray"],
    ("array([1.0, 2.5])", "numpy.ndarray"): ["[1.  2.5]; ndarray"],
    ("array([[1, 2], [3, 4]])", "numpy.ndarray"): ["[[1 2]\n [3 4]]; numpy.array"],
    ("3.5", "numpy.float64"): ["3.5; numpy.float64", "np.float64(3.5); np.float64", "3.5; float"],
    MAY_DAY: [
        "datetime.datetime(2024, 5, 1, 0, 0); datetime.datetime", "2024-05-01 00:00:00; datetime"],
    ("datetime.date(2024, 5, 1)", "datetime.date"): ["2024-05-01; datetime.date"],
    ("Decimal('1.50')", "decimal.Decimal"): ["1.5; Decimal"],
    ("Counter({'a': 2})", "collections.Counter"): ["Counter({'a': 2}); Counter", "Counter('aa'); Counter"],
    ("deque([1, 2])", "collections.deque"): ["[1, 2]; deque", "deque((1, 2)); deque"],
    ("int", "type"): ["<class 'int'>; type"],
    ("Color.RED", "Color"): ["<Color.RED: 1>; Color"],
    ("1000.0", "float"): ["1e3; float"],
    ("0.0", "float"): ["-0.0; float"],
    ("[1.5]", "list"): ["[np.float64(1.5)]; list"],
    ("{'a': 2}", "dict"): ["{'a': np.int64(2)}; dict"],
    ("'nil'", "str"): ["'nil'; str"],
    ("2", "int"): ["1 + 1; int"],
    ("[1.0]", "list"): ["[1]; list"],
    ("[1]", "list"): ["[1.0]; list"],
    ("(1, [2])", "tuple"): ["(1, [2.0]); tuple"],
    ("{(1, 2)}", "set"): ["{(1.0, 2)}; set"],
    ("(100, 0)", "tuple"): ["(10 ** 2, 0); tuple"],
    ("['(']", "list"): ["[' ' * 0 + '(']; list"],
    ("3", "numpy.int64"): ["3; int"],
    ("True", "numpy.bool_"): ["True; bool"],
    ("range(0, 3)", "range"): ["range(3); range"],
    ("b'ab'", "bytearray"): ["bytearray(b'ab'); bytearray"],
    ("datetime.timedelta(days=1, seconds=5400)", "datetime.timedelta"): ["timedelta(1, 5400); timedelta"],
    ("Fraction(1, 2)", "fractions.Fraction"): ["1/2; Fraction"],
    ("Color", "type"): ["<class '__main__.Color'>; type"],
    ("1", "f.<locals>.Count"): ["1; <class '__main__.f.<locals>.Count'>"],
}  # fmt: skip


@pytest.mark.parametrize(("state", "answers"), RIGHT.items())
def test_right_states(state: tuple[str, str], answers: list[str]) -> None:
    assert [text for text in answers if not grade_state(question(state), text).correct] == []


WRONG = {
    ("5", "int"): ["6; int", "5; str", "5; float", "5.0; int", "6; int\n5; int", "5 or 6; int",
        "x = 5; int", "v == 5; int", "5; int, int", "10 ** 10 ** 10; int", "Nil"],
    ("5.0", "float"): ["5.0; int", "5.1; float"],
    ("1", "int"): ["True; int", "__import__('os').getpid(); int"],
    ("True", "bool"): ["1; bool", "'True'; bool", "'true'; bool"],
    ("'ab'", "str"): ["'abc'; str"],
    ("'5'", "str"): ["5; int"],
    ("[1, 2]", "list"): ["(1, 2); list", "[2, 1]; list"],
    ("(1, 2)", "tuple"): ["[1, 2]; tuple"],
    ("set()", "set"): ["{}; set"],
    ("datetime.date(2024, 5, 1)", "datetime.date"): ["2024-05-02; date", "2024-05-01; str"],
    ("[1]", "list"): ["[x for x in [1]]; list", "[True]; list"],
    ("1000.0", "float"): ["1,000.0; float"],
    ("None", "NoneType"): ["null; NoneType", "Nil"],
    ("{1: 'a'}", "dict"): ["{'1': 'a'}; dict", "{True: 'a'}; dict"],
    ("['a', 'b']", "list"): ["[a, b]; list"],
    ("datetime.timedelta(days=1)", "datetime.timedelta"): ["1 day; timedelta"],
    ("[True]", "list"): ["[1]; list"],
    ("{'a': False}", "dict"): ["{'a': 0}; dict"],
    ("{1}", "set"): ["{True}; set"],
    ("[{1}]", "list"): ["[frozenset({1})]; list"],
    ("[Decimal('1')]", "list"): ["[1]; list"],
    ("[Counter({'a': 1})]", "list"): ["[{'a': 1}]; list"],
    ("dict_keys([1, 2])", "dict_keys"): ["{1}; dict_keys"],
    ("dict_keys([1])", "dict_keys"): ["{True}; dict_keys"],
    ("dict_values([1, 2])", "dict_values"): ["{1, 2}; dict_values"],
    ("Decimal('1.5')", "decimal.Decimal"): ["Decimal('sNaN'); Decimal"],
    ("[Decimal('1.5')]", "list"): ["[Decimal('sNaN')]; list"],
    ("(1+2j)", "complex"): [f"{'9' * 400} + 1j; complex", "Decimal('sNaN'); complex"],
    ("3.5", "numpy.float64"): ["3.5; int", "Counter(3.5); float64"],
    ("'a'", "str"): ["'a' * 10 ** 9; str", "'%99999999d' % 1; str"],
}  # fmt: skip


@pytest.mark.parametrize(("state", "answers"), WRONG.items())
def test_wrong_states(state: tuple[str, str], answers: list[str]) -> None:
    outcomes = {text: grade_state(question(state), text).outcome for text in answers}
    assert outcomes == dict.fromkeys(answers, Outcome.FAILED)


@pytest.mark.parametrize(
    "answer",
    ["Nil", "nil", "NIL", "[Nil]", "'Nil'", "Nil; Nil", "Nil; NoneType", "Nil\nIt is not executed; x is 4.",
     "Nil\nx = 5; int", "**Nil**\n\nIt is not reached.", "Nil (line 4 is not executed)", "Nil, it never runs",
     "`Nil` - the loop is empty", "Nil.", "“Nil”", "v = Nil", "`v`: Nil", "Value: Nil",
     "**Value:** Nil (never reached)"],
)  # fmt: skip
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
