"""Arguments become source text that gives the same values back; examples become assertions."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon_runner.datasets._problem import arguments_source
from triathlon_runner.datasets.rows import example_assertion

NUMBERS = [math.inf, -math.inf, math.nan, "nan, inf"]
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(NUMBERS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.lists(_PLAIN, max_size=4))
def test_round_trip(arguments: list[Any]) -> None:
    """inf, -inf and nan survive at any depth, and strings that read like them stay strings."""
    assert repr(eval(arguments_source(arguments))) == repr(tuple(arguments))


@pytest.mark.parametrize(
    ("example", "test", "assertion"),
    [
        (">>> f(1)\n    2\n    ", "", "f(1) == 2"),
        (">>> f(1)\n    2", "", "f(1) == 2"),
        ('>>> f(1)\n    "it\'s"\n    ', "", 'f(1) == "it\'s"'),
        (">>> f(1) == 2\n    True\n    ", "", "(f(1) == 2) == True"),
        ("", "assert candidate(1, b=2) == 3", "f(1, b=2) == 3"),
        ("", "assert candidate(b=object()) == 3\n    assert candidate(b=2) is None", "f(b=2) is None"),
    ],
)
def test_the_first_example(example: str, test: str, assertion: str) -> None:
    """Of a docstring, whatever quotes its value has; else of the tests, with the names of arguments."""
    prompt = f'def f(a=0, b=0):\n    """Says something.\n\n    {example}"""\n'
    check = f"def check(candidate):\n    {test or 'pass'}\n"
    assert example_assertion("mine/1", prompt, check, "f") == f"assert {assertion}"
