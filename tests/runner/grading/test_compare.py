"""The oracles that compare plain values: no value that a program returns ends a run."""

import itertools
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.case_files import rows
from support.values import nested
from triathlon_runner.datasets import Comparison
from triathlon_runner.grading._compare import _ORACLES, SPECIAL, agree, shown, special
from triathlon_runner.sandbox import Language, Opaque, Tagged
from triathlon_runner.translation._task import plain, same

decimal, fraction = partial(Tagged, "decimal.Decimal"), partial(Tagged, "fractions.Fraction")


def keys(*items: Any) -> Tagged:
    return Tagged("builtins.dict_keys", list(items))


VALUES_BY_NAME: dict[str, Any] = {
    "decimal": decimal, "fraction": fraction, "keys": keys, "Tagged": Tagged, "Opaque": Opaque,
    "nan": math.nan, "inf": math.inf, "MAZE": [[0, 0, 0], [1, 1, 0], [1, 1, 0]], "CELLS": [[1, 0], [1, 1]],
}  # fmt: skip


def cases(name: str) -> list[list[Any]]:
    """The rows of a table, each but its first column and its note a value that is written as in Python."""
    return [
        [first, *(eval(text, VALUES_BY_NAME) for column, text in row if column != "note")]
        for (_, first), *row in (row.items() for row in rows(Path(__file__).with_name(name)))
    ]


@pytest.mark.parametrize(("oracles", "expected", "got", "same"), cases("oracles.csv"))
def test_oracles(oracles: str, expected: Any, got: Any, same: bool) -> None:
    """Each oracle tells apart what it should, and nothing else.

    Decimal numbers and fractions are equal by their value, also to other numbers; keys of a dict in any
    order, also to a set; generators never. EvoEval's oracle tells types apart, too.
    """
    for oracle in oracles.split():
        comparison = Comparison(oracle, tolerance=1e-6)  # type: ignore[arg-type]
        assert agree(comparison, expected, got) is same, oracle


@pytest.mark.parametrize(("name", "arguments", "expected", "got", "right"), cases("special_oracles.csv"))
def test_special_oracles(name: str, arguments: Any, expected: Any, got: Any, right: bool) -> None:
    """Problems with several right answers take each of them and no wrong one."""
    assert special(name, arguments, expected, got, 1e-6) is right


def test_large_answers_are_compared_in_linear_time() -> None:
    """Neither a long list in another order nor items built to share a hash keep the grader busy."""
    numbers = list(range(60_000))
    colliding = [number * (2**61 - 1) for number in numbers]
    assert agree(Comparison("set"), numbers, numbers[::-1])
    assert not agree(Comparison("set"), numbers, colliding)


NUMBERS = (
    0, -1, 2**53, 10**400, -(10**400), 10**5000, 0.0, -0.0, 1.5, float("nan"), float("inf"), float("-inf"),
    1e308, 5e-324, 1j, complex("nan+infj"), complex(1e308, 1e308), True, None,
)  # fmt: skip
OTHERS = (
    "", "a", "9" * 5000, "nan", "\ud800", "\0", b"", b"\xff", Opaque("f"), Opaque("undefined"),
    Tagged("decimal", "sNaN"), Tagged("fraction", (1, 0)), Tagged("numpy", ((0,), [])),
)  # fmt: skip
ODD = st.integers(0, len(NUMBERS) + len(OTHERS) - 1).map(lambda place: (*NUMBERS, *OTHERS)[place])
SHORT = st.text(max_size=4) | st.integers() | st.floats()
VALUES = nested(ODD | SHORT | st.binary(max_size=4), SHORT | st.none())


DEEP: Any = []
for _ in range(90):
    DEEP = [DEEP]
CORNERS: tuple[Any, ...] = (
    *NUMBERS, *OTHERS, [], {}, set(), (), [10**400], (float("nan"),), {10**5000: 1}, {"a": [1j]}, DEEP,
    1 << 3_000_000, decimal("7" * 1_000_000),
)  # fmt: skip


def compare(expected: Any, got: Any) -> None:
    """Every oracle, those of single problems included, and every language of the translation loop."""
    for oracle in _ORACLES:
        for tolerance in (0.0, 1e-6):
            comparison = Comparison(oracle=oracle, tolerance=tolerance)  # type: ignore[arg-type]
            assert agree(comparison, expected, got) in (True, False)
    for name in SPECIAL:
        assert special(name, ([1, 2], 3), expected, got, 1e-6) in (True, False)
    try:
        crossed = plain(expected)
    except ValueError:  # what does not cross is expected of no program
        crossed = None
    for language in Language:
        assert same(crossed, got, language) in (True, False)
    assert isinstance(shown(got), str)


def test_corners() -> None:
    for expected, got in itertools.product(CORNERS, CORNERS):
        compare(expected, got)


def test_values_are_shown_as_python_writes_them() -> None:
    """Also named types; 500 characters at most, the last of them a sign that more follows."""
    assert shown([decimal("1.50"), keys(1)]) == "[Decimal('1.50'), dict_keys([1])]"
    assert shown((Opaque("builtins.generator"),)) == "(<generator object>,)"
    assert shown("x" * 498) == f"'{'x' * 498}'"
    assert shown("x" * 499) == f"'{'x' * 498}…"


@pytest.mark.parametrize("examples", [600, pytest.param(5_000, marks=pytest.mark.slow)])
def test_values_at_random(examples: int) -> None:
    settings(max_examples=examples, deadline=None, database=None)(given(VALUES, VALUES)(compare))()
