"""Arguments become source text that gives the same values back."""

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from triathlon_runner.datasets._problem import arguments_source

_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.lists(_PLAIN, max_size=4))
def test_round_trip(arguments: list[Any]) -> None:
    assert repr(eval(arguments_source(arguments))) == repr(tuple(arguments))


def test_not_a_number() -> None:
    """inf, -inf and nan survive at any depth, and strings that read like them stay strings."""
    inf, minus, (nan,), text = eval(arguments_source([math.inf, -math.inf, [math.nan], "nan, inf"]))
    assert (inf, minus, text) == (math.inf, -math.inf, "nan, inf")
    assert math.isnan(nan)
