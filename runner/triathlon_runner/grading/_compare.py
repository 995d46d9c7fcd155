"""The oracles that compare one output with the reference's, and how values are shown.

Both outputs are plain decoded values. Single problems that have more than one right answer have oracles of
their own, by the names that data sets use. Each docstring says where its rule comes from; the words are ours.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from triathlon_runner.datasets import Comparison
from triathlon_runner.sandbox import MalformedError, Tagged, refuse_collisions

RELATIVE_TOLERANCE = 1e-7
"""EvalPlus allows this on top of a task's absolute tolerance (the default of numpy's `assert_allclose`)."""

TYPED_RELATIVE_TOLERANCE = 1e-5
"""EvoEval allows this on top of 1e-6 (the default of numpy's `allclose`)."""

SHOWN: Final = 500
"""Characters of a value that a verdict shows."""


def shown(value: object) -> str:
    """A value as text, shortened; never fails, however large the value."""
    try:
        return shorten(repr(value))
    except ValueError:  # an int of more digits than Python writes
        return f"<{type(value).__name__} with an int too long to write>"


def shorten(text: str) -> str:
    """The beginning of a text, as characters that every record can hold."""
    text = text[: SHOWN + 1].encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def agree(comparison: Comparison, expected: Any, got: Any) -> bool:
    """Whether `got` counts as the reference's `expected`, for every oracle but `checker`."""
    return _ORACLES[comparison.oracle](expected, got, comparison.tolerance)


def close(expected: Any, got: Any, tolerance: float) -> bool:
    """Equal but for floats within `tolerance + 1e-7 |expected|`, at any depth: EvalPlus' base rule.

    Without a tolerance it is Python's own equality on plain data, and nan equals nan.
    A single number must have the expected type, as there; inside a container an int equals an equal float.
    """
    if expected == got or _same_keys(expected, got):
        return True
    return type(expected) is type(got) and _close(expected, got, tolerance)


_SET_LIKE = ("builtins.dict_keys", "builtins.dict_items")


def _same_keys(expected: Any, got: Any) -> bool:
    """Whether both are sets, or keys or items of a dict, with the same elements: Python calls these equal."""
    sets: list[Any] = []
    for value in (expected, got):
        if isinstance(value, Tagged) and value.type in _SET_LIKE and isinstance(value.value, list):
            sets.append(value.value)
        elif isinstance(value, set | frozenset):
            sets.append(value)
        else:
            return False
    return as_sets(sets[0], sets[1], 0.0)


def _close(expected: Any, got: Any, tolerance: float) -> bool:
    if isinstance(expected, float | complex) or isinstance(got, float | complex):
        return _near(expected, got, tolerance)
    if type(expected) is not type(got) or isinstance(expected, Tagged):
        return bool(expected == got) or _same_keys(expected, got)
    if isinstance(expected, list | tuple):
        return len(expected) == len(got) and all(
            _close(left, right, tolerance) for left, right in zip(expected, got, strict=True)
        )
    if isinstance(expected, dict):
        return expected.keys() == got.keys() and all(
            _close(value, got[key], tolerance) for key, value in expected.items()
        )
    return bool(expected == got)


def _near(expected: Any, got: Any, tolerance: float) -> bool:
    """Whether numbers are within the tolerance; nan equals nan, an infinity only itself."""
    if expected == got:
        return True
    if not all(isinstance(value, int | float | complex) for value in (expected, got)):
        return False
    if expected != expected or got != got:  # noqa: PLR0124 (nan, real or complex)
        return bool(expected != expected and got != got)  # noqa: PLR0124
    try:
        distance, size = abs(expected - got), abs(expected)
    except OverflowError:  # an int beyond every float
        return False
    relative = RELATIVE_TOLERANCE * size if tolerance else 0.0
    return math.isfinite(distance) and bool(distance <= tolerance + relative)


def typed(expected: Any, got: Any, tolerance: float) -> bool:
    """EvoEval's rule: equal types at every depth, floats within `tolerance + 1e-5 |got|`, nan equal to nan.

    A list and a tuple that hold nothing but floats are one type there, empty ones included.
    """
    kinds = {
        list
        if isinstance(value, list | tuple) and all(isinstance(item, float) for item in value)
        else type(value)
        for value in (expected, got)
    }
    if len(kinds) > 1:
        return False
    if isinstance(expected, float):
        if expected == got or (math.isnan(expected) and math.isnan(got)):
            return True
        return bool(abs(expected - got) <= tolerance + TYPED_RELATIVE_TOLERANCE * abs(got) < math.inf)
    if isinstance(expected, list | tuple):
        return len(expected) == len(got) and all(
            typed(left, right, tolerance) for left, right in zip(expected, got, strict=True)
        )
    if isinstance(expected, dict):
        return len(expected) == len(got) and all(
            key in got and typed(value, got[key], tolerance) for key, value in expected.items()
        )
    return bool(expected == got)


def as_sets(expected: Any, got: Any, _tolerance: float) -> bool:
    """Both sides as sets (EvalPlus' rule for Mbpp/2, 7, 111, 140, 232, 579, 769)."""
    try:
        refuse_collisions(got)
        return set(expected) == set(got)
    except (TypeError, MalformedError):
        return False


def not_none(expected: Any, got: Any, _tolerance: float) -> bool:
    """Whether there is a result at all (EvalPlus' rule for tasks that return match objects).

    A bool is taken as the verdict: True for a match.
    """
    there = expected if isinstance(expected, bool) else expected is not None
    return there == (got if isinstance(got, bool) else got is not None)


_ORACLES: dict[str, Callable[[Any, Any, float], bool]] = {
    "exact": lambda expected, got, _tolerance: close(expected, got, 0.0),
    "close": close,
    "typed": typed,
    "set": as_sets,
    "not-none": not_none,
}


# Single problems


def special(name: str, arguments: tuple[Any, ...], expected: Any, got: Any, tolerance: float) -> bool:
    """Whether `got` is right for these arguments by the oracle of that name.

    Anything that is not of the form that the problem asks for, or that makes an oracle fail, is wrong.
    """
    try:
        return SPECIAL[name](arguments, expected, got, tolerance)
    except (TypeError, ValueError, IndexError, KeyError, ArithmeticError):
        return False


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _polynomial(coefficients: list[float], x: float) -> float:
    """The sum of c_i x^i, in powers as the problems' own text computes them.

    Added one by one: from Python 3.12 on `sum` rounds otherwise.
    """
    total = 0.0
    for i, c in enumerate(coefficients):
        total += c * math.pow(x, i)
    return total


def _root(arguments: tuple[Any, ...], expected: Any, got: Any, tolerance: float) -> bool:
    """HumanEval/32 (EvalPlus): any x at which the polynomial is zero within the tolerance.

    What the reference returns is right, too. Some polynomials are so steep that rounding alone decides
    whether it is such an x: from Python 3.12 on it is not on 5 of HumanEval+'s 888 inputs.
    """
    return _number(got) and (got == expected or abs(_polynomial(arguments[0], got)) <= tolerance)


def _odd_root(arguments: tuple[Any, ...], expected: Any, got: Any, tolerance: float) -> bool:
    """EvoEval subtle/32: as HumanEval/32, the coefficients being those of the powers 0, 1, 3, 5 and so on."""
    first, *more = arguments[0]
    spread = [first] + [part for c in more for part in (c, 0)]
    return _root((spread,), expected, got, tolerance)


def _root_in_interval(arguments: tuple[Any, ...], expected: Any, got: Any, _tolerance: float) -> bool:
    """EvoEval difficult/32: a root to two decimals in the interval, None where the reference has none."""
    if expected is None:
        return got is None
    coefficients, (start, end) = arguments
    return _number(got) and start <= got <= end and abs(_polynomial(coefficients, got)) <= 2e-2


def _pyramid_surface(arguments: tuple[Any, ...], expected: Any, got: Any, tolerance: float) -> bool:
    """Mbpp/581 (EvalPlus): the height may also be taken for the one over the centre; then rounded."""
    if close(expected, got, tolerance):
        return True
    base, height = arguments
    slant = math.hypot(base / 2, height)
    return _number(got) and abs(got - round(base**2 + 2 * base * slant)) <= tolerance


def _square_sum(arguments: tuple[Any, ...], expected: Any, got: Any, tolerance: float) -> bool:
    """Mbpp/287: the exact integer is right, too; the reference divides, and its float is rounded for large n.

    Documented in docs/judging.md, since EvalPlus refuses it there.
    """
    if close(expected, got, tolerance):
        return True
    (n,) = arguments
    return isinstance(n, int) and type(got) is int and got == 2 * n * (n + 1) * (2 * n + 1) // 3


def _digit_distance(arguments: tuple[Any, ...], expected: Any, got: Any, tolerance: float) -> bool:
    """Mbpp/558 (EvalPlus): the shorter number may also be filled up with leading zeros."""
    if close(expected, got, tolerance):
        return True
    left, right = map(str, arguments)
    width = max(len(left), len(right))
    pairs = zip(left.zfill(width), right.zfill(width), strict=True)
    return _number(got) and bool(got == sum(abs(int(a) - int(b)) for a, b in pairs))


def _palindrome(arguments: tuple[Any, ...], expected: Any, got: Any, _tolerance: float) -> bool:
    """EvoEval difficult/10: begins with the string, a palindrome but for case, as long as the reference's."""
    if not isinstance(got, str):
        return False
    folded = got.lower()
    return len(got) == len(expected) and got.startswith(arguments[0]) and folded == folded[::-1]


_STEPS = {"right": (0, 1), "left": (0, -1), "up": (-1, 0), "down": (1, 0)}


def _is_open(maze: list[list[int]], row: int, column: int, *, wall: int) -> bool:
    return 0 <= row < len(maze) and 0 <= column < len(maze[row]) and maze[row][column] != wall


def _directions(arguments: tuple[Any, ...], expected: Any, got: Any, _tolerance: float) -> bool:
    """EvoEval creative/26: directions that lead over open cells (0) from start to end, of any length."""
    if not expected or not isinstance(got, list | tuple):
        return bool(got == [] and not expected)
    maze, (row, column), end = arguments
    for move in got:
        down, right = _STEPS[move]
        row, column = row + down, column + right
        if not _is_open(maze, row, column, wall=1):
            return False
    return (row, column) == tuple(end)


def _cells(arguments: tuple[Any, ...], expected: Any, got: Any, _tolerance: float) -> bool:
    """EvoEval creative/30: cells from start to end, each open (1) and next to the one before."""
    if not expected or not isinstance(got, list | tuple):
        return bool(got == [] and not expected)
    maze, start, end = arguments
    if got[0] != start or got[-1] != end:
        return False
    return all(_is_open(maze, row, column, wall=0) for row, column in got) and all(
        abs(row - next_row) + abs(column - next_column) == 1
        for (row, column), (next_row, next_column) in pairwise(got)
    )


def _two_cards(arguments: tuple[Any, ...], expected: Any, got: Any, _tolerance: float) -> bool:
    """EvoEval creative/69: any two places in ascending order whose cards multiply to the magic number."""
    if isinstance(expected, str):
        return bool(got == expected)
    cards, product = arguments
    if not isinstance(got, tuple):
        return False
    first, second = got
    return 0 <= first < second < len(cards) and bool(cards[first] * cards[second] == product)


SPECIAL: dict[str, Callable[[tuple[Any, ...], Any, Any, float], bool]] = {
    "humaneval-32": _root,
    "mbpp-287": _square_sum,
    "mbpp-558": _digit_distance,
    "mbpp-581": _pyramid_surface,
    "evoeval-difficult-10": _palindrome,
    "evoeval-difficult-32": _root_in_interval,
    "evoeval-creative-26": _directions,
    "evoeval-creative-30": _cells,
    "evoeval-creative-69": _two_cards,
    "evoeval-subtle-32": _odd_root,
}
