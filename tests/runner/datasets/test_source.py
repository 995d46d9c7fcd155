"""Values become source text that gives the same values back."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon_runner.datasets._problem import arguments_source, value_source

_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.sets(st.integers() | st.text(max_size=3), max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(_PLAIN, max_size=4))
def test_round_trip(arguments: list[Any]) -> None:
    """The source text of any plain arguments evaluates to a tuple of them, types included."""
    again = eval(arguments_source(arguments))
    assert again == tuple(arguments)
    assert repr(again) == repr(tuple(arguments)) or "{" in repr(again)


def test_not_a_number() -> None:
    """inf, -inf and nan survive at any depth, and strings that read like them stay strings."""
    inf, minus, (nan,), text = eval(arguments_source([math.inf, -math.inf, [math.nan], "nan, inf"]))
    assert (inf, minus, text) == (math.inf, -math.inf, "nan, inf")
    assert math.isnan(nan)


def test_values_without_a_plain_text() -> None:
    """An integer beyond the limit on decimal digits survives; a set has one text in every process.

    What has no source text is an error, not a text that evaluates to something else.
    """
    number = 7**9000
    assert eval(value_source(number)) == number
    assert value_source({"b", "a", "c"}) == "{'a', 'b', 'c'}"
    with pytest.raises(TypeError, match="object"):
        value_source(object())
