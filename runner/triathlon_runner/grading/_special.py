"""Oracles of single problems that have more than one right answer, by the names that data sets use.

Each docstring says where its rule comes from; the words are ours. They see plain decoded values only;
anything that is not of the form that the problem asks for, or that makes an oracle fail, is wrong.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from triathlon_runner.grading._compare import close


def special(name: str, arguments: tuple[Any, ...], expected: Any, got: Any, tolerance: float) -> bool:
    """Whether `got` is right for these arguments by the oracle of that name."""
    try:
        return SPECIAL[name](arguments, expected, got, tolerance)
    except (TypeError, ValueError, IndexError, KeyError, ArithmeticError):
        return False


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _polynomial(coefficients: list[float], x: float) -> float:
    """The sum of c_i x^i, in powers as the problems' own text computes them."""
    return sum(c * math.pow(x, i) for i, c in enumerate(coefficients))


def _root(arguments: tuple[Any, ...], _expected: Any, got: Any, tolerance: float) -> bool:
    """HumanEval/32 (EvalPlus): any x at which the polynomial is zero within the tolerance."""
    return _number(got) and abs(_polynomial(arguments[0], got)) <= tolerance


def _odd_root(arguments: tuple[Any, ...], _expected: Any, got: Any, tolerance: float) -> bool:
    """EvoEval subtle/32: as HumanEval/32, the coefficients being those of the powers 0, 1, 3, 5 and so on."""
    first, *more = arguments[0]
    spread = [first] + [part for c in more for part in (c, 0)]
    return _number(got) and abs(_polynomial(spread, got)) <= tolerance


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


def _directions(arguments: tuple[Any, ...], expected: Any, got: Any, _tolerance: float) -> bool:
    """EvoEval creative/26: directions that lead over open cells (0) from start to end, of any length."""
    if not expected or not isinstance(got, list | tuple):
        return bool(got == [] and not expected)
    maze, (row, column), end = arguments
    for move in got:
        down, right = _STEPS[move]
        row, column = row + down, column + right
        if not _open(maze, row, column, wall=1):
            return False
    return (row, column) == tuple(end)


def _cells(arguments: tuple[Any, ...], expected: Any, got: Any, _tolerance: float) -> bool:
    """EvoEval creative/30: cells from start to end, each open (1) and next to the one before."""
    if not expected or not isinstance(got, list | tuple):
        return bool(got == [] and not expected)
    maze, start, end = arguments
    if got[0] != start or got[-1] != end:
        return False
    return all(_open(maze, row, column, wall=0) for row, column in got) and all(
        abs(row - next_row) + abs(column - next_column) == 1
        for (row, column), (next_row, next_column) in pairwise(got)
    )


def _open(maze: list[list[int]], row: int, column: int, *, wall: int) -> bool:
    return 0 <= row < len(maze) and 0 <= column < len(maze[row]) and maze[row][column] != wall


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
    "mbpp-558": _digit_distance,
    "mbpp-581": _pyramid_surface,
    "evoeval-difficult-10": _palindrome,
    "evoeval-difficult-32": _root_in_interval,
    "evoeval-creative-26": _directions,
    "evoeval-creative-30": _cells,
    "evoeval-creative-69": _two_cards,
    "evoeval-subtle-32": _odd_root,
}
