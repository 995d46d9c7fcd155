"""No value that a program returns ends a run: every comparison says yes or no."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triathlon_runner.datasets import Comparison
from triathlon_runner.grading._compare import _ORACLES, agree, shown
from triathlon_runner.sandbox import Language, Opaque, Tagged
from triathlon_runner.translation._values import crosses, plain, same

NUMBERS = (
    0, -1, 2**53, 10**400, -(10**400), 10**5000, 0.0, -0.0, 1.5, float("nan"), float("inf"), float("-inf"),
    1e308, 5e-324, 1j, complex("nan+infj"), complex(1e308, 1e308), True, None,
)  # fmt: skip
OTHERS = (
    "", "a", "9" * 5000, "nan", "\ud800", "\0", b"", b"\xff", Opaque("f"), Opaque("undefined"),
    Tagged("decimal", "sNaN"), Tagged("fraction", (1, 0)), Tagged("numpy", ((0,), [])),
)  # fmt: skip
PLAIN = st.one_of(
    st.integers(0, len(NUMBERS) + len(OTHERS) - 1).map(lambda place: (*NUMBERS, *OTHERS)[place]),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.binary(max_size=4),
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.sets(st.one_of(st.integers(), st.text(max_size=2), st.floats()), max_size=4),
        st.dictionaries(st.one_of(st.integers(), st.text(max_size=2), st.none()), inner, max_size=4),
    ),
    max_leaves=12,
)


def deep(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


CORNERS: tuple[Any, ...] = (
    *NUMBERS, *OTHERS, [], {}, set(), (), [10**400], (float("nan"),), {10**5000: 1}, {"a": [1j]}, deep(90),
)  # fmt: skip


def compare(expected: Any, got: Any) -> None:
    """Every oracle and every language of the translation loop."""
    for oracle in _ORACLES:
        for tolerance in (0.0, 1e-6):
            comparison = Comparison(oracle=oracle, tolerance=tolerance)  # type: ignore[arg-type]
            assert agree(comparison, expected, got) in (True, False)
    for language in Language if crosses(expected) else ():
        assert same(plain(expected), got, language) in (True, False)
    assert isinstance(shown(got), str)


def test_corners() -> None:
    """The values in which arithmetic and writing fail, each against each."""
    for expected, got in itertools.product(CORNERS, CORNERS):
        compare(expected, got)


@pytest.mark.parametrize("examples", [600, pytest.param(30_000, marks=pytest.mark.slow)])
def test_values_at_random(examples: int) -> None:
    """Nested values of every type that a child can send."""
    settings(max_examples=examples, deadline=None, database=None)(given(VALUES, VALUES)(compare))()
