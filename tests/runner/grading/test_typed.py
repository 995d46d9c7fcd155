"""EvoEval's comparison: values of another type are other values."""

import math
from typing import Any

import pytest

from triathlon_runner.datasets import Comparison
from triathlon_runner.grading._compare import agree

RULE = Comparison("typed", tolerance=1e-6)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1, True),
        (1.0, 1),
        (0, False),
        ([1, 0], [True, 0]),
        ([1.0, 2.0], [1, 2]),
        ([1, 2], (1, 2)),
        ([[1.0], "a"], ([1.0], "a")),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        (None, False),
        ("1", 1),
        (1.0, 1.0001),
        ([1.0], [1.0, 1.0]),
        (math.inf, 1.0),
        (1.0, math.inf),
        (math.nan, 1.0),
        ({1}, {2}),
        ([1], None),
    ],
)
def test_different(expected: Any, got: Any) -> None:
    """Another type at any depth, another length or a float out of tolerance is another value."""
    assert not agree(RULE, expected, got)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1, 1),
        (True, True),
        (1.0, 1.0 + 5e-7),
        (1e9, 1e9 + 1000.0),
        ([1.0, 2.0], (1.0, 2.0)),
        ([], ()),
        ([1, [2.0000001, "a"]], [1, [2.0, "a"]]),
        ({"a": (1, 2.0)}, {"a": (1, 2.0)}),
        (math.nan, math.nan),
        ([math.inf, -math.inf], [math.inf, -math.inf]),
        ({1, "a"}, {1, "a"}),
        (None, None),
    ],
)
def test_same(expected: Any, got: Any) -> None:
    """Equal types with equal values, floats within the tolerance; tuples and lists of floats are one type."""
    assert agree(RULE, expected, got)
