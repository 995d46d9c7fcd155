"""The oracles that compare plain values: no value that a program returns ends a run."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.values import nested
from triathlon_runner.datasets import Comparison
from triathlon_runner.grading._compare import _ORACLES, SPECIAL, agree, shown, special
from triathlon_runner.sandbox import Language, Opaque, Tagged
from triathlon_runner.translation._task import plain, same

NAN = math.nan


def decimal(text: str) -> Tagged:
    return Tagged("decimal.Decimal", text)


def fraction(text: str) -> Tagged:
    return Tagged("fractions.Fraction", text)


def keys(*items: Any) -> Tagged:
    return Tagged("builtins.dict_keys", list(items))


NAMED = [
    (decimal("1.50"), decimal("1.5"), True),
    ({"a": decimal("100")}, {"a": decimal("1E+2")}, True),
    ({decimal("1.0")}, {decimal("1")}, True),
    (decimal("NaN"), decimal("NaN"), True),
    (decimal("sNaN"), decimal("1"), False),
    (decimal("1.5"), decimal("1.6"), False),
    (decimal("1.5"), decimal("no number"), False),
    (decimal("1.5"), Tagged("decimal.Decimal", ["1.5"]), False),
    (decimal("1e999999999"), decimal("1"), False),
    (10, decimal("10"), True),
    (7.5, fraction("15/2"), True),
    (decimal("1.5"), fraction("3/2"), True),
    ([{"a": fraction("2")}, {1, 2}], [{"a": 2}, {decimal("1"), 2.0}], True),
    (0.1, decimal("0.1"), False),
    (10, decimal("10.0000001"), False),
    ("10", decimal("10"), False),
    (decimal("1.5"), fraction("1.5"), False),
    (1, fraction("1/0"), False),
    (1, fraction("1e99999999"), False),
    (1, decimal("1e999999999"), False),
    (keys(1, 2), {2, 1}, True),
    ({1, 2}, keys(2, 1), True),
    (keys(1, 2), keys(2, 1), True),
    ([keys("a"), NAN], [frozenset({"a"}), NAN], True),
    (Tagged("builtins.dict_items", [(1, 2)]), {(1, 2)}, True),
    ({1, 2}, keys(1, 1), False),
    ({1, 2}, keys(1, 3), False),
    (keys(1, 2), [1, 2], False),
    (keys(1, 2), keys([1], 2), False),
    ({1, 2}, Tagged("builtins.dict_values", [1, 2]), False),
    (Opaque("generator"), Opaque("generator"), False),
]
"""Decimal numbers and fractions are equal by their value, also to other numbers; keys of a dict in any order,
also to a set; generators never."""


@pytest.mark.parametrize(
    ("oracle", "expected", "got", "same"),
    [
        *((oracle, *row) for oracle in ("exact", "close") for row in NAMED),
        ("exact", 1, 1.0, True),
        ("exact", [1, 2], (1, 2), False),
        ("exact", NAN, NAN, True),
        ("exact", 0.1 + 0.2, 0.3, False),
        ("close", 0.1 + 0.2, 0.3, True),
        ("close", [[0.1 + 0.2], {"a": 0.3}], [[0.3], {"a": 0.1 + 0.2}], True),
        ("close", [0.3, True], [0.1 + 0.2, 1], True),
        ("close", [1.1], 1.1, False),
        ("close", 4.0, 4, True),
        ("close", NAN, NAN, True),
        ("close", [1, 2], (1, 2), False),
        ("close", [0.5, 50000000000000000], [0.5, 50000000000000001], False),
        ("close", 1.0, 1.00001, False),
        ("close", 1e9, 1e9 + 50, True),
        ("close", 1, 1.0000001, False),
        ("close", math.inf, math.inf, True),
        ("close", math.inf, 1e308, False),
        ("close", 1.0, math.inf, False),
        ("close", 1.0, NAN, False),
        ("close", [1.0], [10**400], False),
        ("close", 10**20, 10**20 + 1, False),
        ("set", [1, 2, 2], (2, 1), True),
        ("set", [1, 2], [1, 3], False),
        ("set", [1], 1, False),
        ("set", [1], [[1]], False),
        ("not-none", True, Opaque("re.Match"), True),
        ("not-none", Opaque("re.Match"), True, True),
        ("not-none", None, None, True),
        ("not-none", None, "x", False),
        ("not-none", Opaque("re.Match"), None, False),
        ("typed", 1, True, False),
        ("typed", 1.0, 1, False),
        ("typed", [1, 0], [True, 0], False),
        ("typed", [1.0, 2.0], [1, 2], False),
        ("typed", [1, 2], (1, 2), False),
        ("typed", {"a": 1}, {"a": 1.0}, False),
        ("typed", {"a": 1}, {"a": 1, "b": 2}, False),
        ("typed", None, False, False),
        ("typed", 1.0, 1.0001, False),
        ("typed", 1.0, math.inf, False),
        ("typed", math.nan, 1.0, False),
        ("typed", 1.0, 1.0 + 5e-7, True),
        ("typed", 1e9, 1e9 + 1000.0, True),
        ("typed", [1.0, 2.0], (1.0, 2.0), True),
        ("typed", [], (), True),
        ("typed", [1, [2.0000001, "a"]], [1, [2.0, "a"]], True),
        ("typed", {"a": (1, 2.0)}, {"a": (1, 2.0)}, True),
        ("typed", math.nan, math.nan, True),
        ("typed", [math.inf, -math.inf], [math.inf, -math.inf], True),
    ],
)
def test_oracles(oracle: Any, expected: Any, got: Any, same: bool) -> None:
    """Each oracle tells apart what it should, and nothing else; EvoEval's tells types apart, too."""
    assert agree(Comparison(oracle, tolerance=1e-6), expected, got) is same


MAZE = [[0, 0, 0], [1, 1, 0], [1, 1, 0]]
CELLS = [[1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("name", "arguments", "expected", "got", "right"),
    [
        ("humaneval-32", ([1, 2],), -0.5, -0.5000000001, True),
        ("humaneval-32", ([1, 2],), -0.5, -0.6, False),
        ("humaneval-32", ([1, 2],), -0.5, NAN, False),
        ("humaneval-32", ([1, 2],), -0.5, "x", False),
        ("humaneval-32", ([1, 2],), -0.5, 10**400, False),
        # Added from left to right these give 0; more exactly, as `sum` does from Python 3.12 on, 1.
        ("humaneval-32", ([1e17, 1.0, -1e17],), 5.0, 1.0, True),
        # A bit beside the root of so steep a polynomial it is -128: what the reference returned is right.
        ("humaneval-32", ([-1e18, 3e17],), 3.333333333333333, 3.333333333333333, True),
        ("humaneval-32", ([-1e18, 3e17],), 3.333333333333333, 3.3333333333333326, False),
        ("evoeval-subtle-32", ([-1e18, 3e17],), 3.333333333333333, 3.333333333333333, True),
        ("evoeval-subtle-32", ([-2, -3, 1],), -1.0, 2.0, True),
        ("evoeval-subtle-32", ([-2, -3, 1],), -1.0, 1.0, False),
        ("evoeval-difficult-32", ([-6, 11, -6, 1], (0, 4)), 2.0, 3.0, True),
        ("evoeval-difficult-32", ([-6, 11, -6, 1], (0, 4)), 2.0, 2.5, False),
        ("evoeval-difficult-32", ([1, 2], (5, 9)), None, None, True),
        ("evoeval-difficult-32", ([1, 2], (5, 9)), None, 0.0, False),
        ("evoeval-difficult-10", ("Cat",), "CataC", "CatAc", True),
        ("evoeval-difficult-10", ("Cat",), "CataC", "Cattac", False),
        ("evoeval-difficult-10", ("Cat",), "CataC", "cataC", False),
        # The reference divides, so that its float misses the exact integer from some n on.
        ("mbpp-287", (1000003,), 1.333347333382e18, 1333347333382000056, True),
        ("mbpp-287", (1000003,), 1.333347333382e18, 1333347333382000057, False),
        ("mbpp-287", (1000003,), 1.333347333382e18, 1.333347333382e18, True),
        ("mbpp-287", (True,), 4.0, 4, True),
        ("mbpp-287", (3,), 56.0, "56", False),
        ("mbpp-581", (3, 4), 33, 34, False),
        ("mbpp-581", (3, 4), 33, 35, True),
        ("mbpp-558", (1, 23), 1, 4, True),
        ("mbpp-558", (1, 23), 1, 3, False),
        ("evoeval-creative-26", (MAZE, (0, 0), (2, 2)), ["right"], ["right", "right", "down", "down"], True),
        ("evoeval-creative-26", (MAZE, (0, 0), (2, 2)), ["right"], ["down", "down", "right", "right"], False),
        ("evoeval-creative-26", (MAZE, (0, 0), (2, 2)), ["right"], ["up"], False),
        ("evoeval-creative-26", (MAZE, (0, 0), (0, 0)), [], [], True),
        ("evoeval-creative-26", (MAZE, (0, 0), (0, 0)), [], ["right", "left"], False),
        ("evoeval-creative-30", (CELLS, (0, 0), (1, 1)), [(0, 0)], [(0, 0), (1, 0), (1, 1)], True),
        ("evoeval-creative-30", (CELLS, (0, 0), (1, 1)), [(0, 0)], [(0, 0), (1, 1)], False),
        ("evoeval-creative-30", (CELLS, (0, 0), (1, 1)), [(0, 0)], [], False),
        ("evoeval-creative-30", (CELLS, (0, 0), (1, 1)), [(0, 0)], [(1, 0), (1, 1)], False),
        ("evoeval-creative-30", (CELLS, (0, 0), (1, 1)), [(0, 0)], [(0, 0), (1, 0)], False),
        ("evoeval-creative-69", ([2, 2, 5, 5], 10), (0, 2), (1, 3), True),
        ("evoeval-creative-69", ([2, 3, 4, 5], 20), (2, 3), (3, 2), False),
        ("evoeval-creative-69", ([2, 3, 4, 5], 20), (2, 3), (-2, -1), False),
        ("evoeval-creative-69", ([1, 2], 9), "No magic today", "No magic today", True),
    ],
)
def test_special_oracles(name: str, arguments: Any, expected: Any, got: Any, right: bool) -> None:
    """Problems with several right answers take each of them and no wrong one."""
    assert special(name, arguments, expected, got, 1e-6) is right


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_special_oracles_survive_any_answer(name: str) -> None:
    for got in (None, [], [None], {"a": 1}, "x", b"", Opaque("map"), [[[]]], object()):
        assert special(name, ([1, 2], 3), 5, got, 1e-6) is False


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
    """Every oracle and every language of the translation loop."""
    for oracle in _ORACLES:
        for tolerance in (0.0, 1e-6):
            comparison = Comparison(oracle=oracle, tolerance=tolerance)  # type: ignore[arg-type]
            assert agree(comparison, expected, got) in (True, False)
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
