"""Reading Python source that others wrote."""

import pytest

from triathlon_runner.syntax import argument_tuple, call_text, literal_tuple, top_functions


def test_a_call_is_written_as_a_reader_would() -> None:
    """Arguments come as the source of a tuple; other expressions are unpacked."""
    assert call_text("f", "([1, 2], 'a',)") == "f([1, 2], 'a')"
    assert call_text("f", "()") == "f()"
    assert call_text("f", "tuple(range(3))") == "f(*tuple(range(3)))"
    tuples = {"": "()", "1": "(1,)", "1, ": "(1,)", "'a,', [2]": "('a,', [2],)"}
    assert {source: argument_tuple(source) for source in tuples} == tuples


@pytest.mark.parametrize(
    ("source", "value"), [("(1, 'a')", (1, "a")), ("()", ()), ("[1]", None), ("(f(1),)", None), ("(", None)]
)
def test_a_tuple_is_read_from_literals_alone(source: str, value: object) -> None:
    """Nothing is evaluated: a call, another kind of value and broken text give no tuple."""
    assert literal_tuple(source) == value


def test_only_functions_at_the_top_level_are_listed() -> None:
    inner = "def f():\n    def inner():\n        pass\n"
    method = "class A:\n    def g(self):\n        pass\n"
    names = [function.name for function in top_functions(f"{inner}\n\n{method}\n\ndef h():\n    pass\n")]
    assert names == ["f", "h"]
