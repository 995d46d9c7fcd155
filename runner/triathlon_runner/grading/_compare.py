"""The oracles that compare one output with the reference's. Both are plain decoded values."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from triathlon_runner.datasets import Comparison
from triathlon_runner.sandbox import MalformedError, Tagged, refuse_collisions

RELATIVE_TOLERANCE = 1e-7
"""EvalPlus allows this on top of a task's absolute tolerance (the default of numpy's `assert_allclose`)."""

TYPED_RELATIVE_TOLERANCE = 1e-5
"""EvoEval allows this on top of 1e-6 (the default of numpy's `allclose`)."""


def agree(comparison: Comparison, expected: Any, got: Any) -> bool:
    """Whether `got` counts as the reference's `expected`, for every oracle but `checker`."""
    return _ORACLES[comparison.oracle](expected, got, comparison.tolerance)


def exact(expected: Any, got: Any, _tolerance: float = 0.0) -> bool:
    """Python's own equality on plain data, and nan equals nan."""
    return bool(expected == got) or close(expected, got, 0.0)


def close(expected: Any, got: Any, tolerance: float) -> bool:
    """Equal but for floats within `tolerance + 1e-7 |expected|`, at any depth: EvalPlus' base rule.

    A single number must have the expected type, as there; inside a container an int equals an equal float.
    """
    if expected == got or _same_keys(expected, got):
        return True
    return type(expected) is type(got) and _close(expected, got, tolerance)


_SET_LIKE = ("builtins.dict_keys", "builtins.dict_items")


def _same_keys(expected: Any, got: Any) -> bool:
    """Whether both are sets, or keys or items of a dict, with the same elements: Python calls these equal."""
    sets = [_items(value) for value in (expected, got)]
    if any(items is None for items in sets):
        return False
    try:
        refuse_collisions(sets[1] or ())
        return set(sets[0] or ()) == set(sets[1] or ())
    except (TypeError, MalformedError):
        return False


def _items(value: Any) -> list[Any] | set[Any] | frozenset[Any] | None:
    if isinstance(value, Tagged):
        return value.value if value.type in _SET_LIKE and isinstance(value.value, list) else None
    return value if isinstance(value, set | frozenset) else None


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
    kind = _kind(expected)
    if kind is not _kind(got):
        return False
    if isinstance(expected, float):
        return _near_numpy(expected, got, tolerance)
    if isinstance(expected, list | tuple):
        return len(expected) == len(got) and all(
            typed(left, right, tolerance) for left, right in zip(expected, got, strict=True)
        )
    if isinstance(expected, dict):
        return len(expected) == len(got) and all(
            key in got and typed(value, got[key], tolerance) for key, value in expected.items()
        )
    return bool(expected == got)


def _kind(value: Any) -> type:
    floats = isinstance(value, list | tuple) and all(isinstance(item, float) for item in value)
    return list if floats else type(value)


def _near_numpy(expected: float, got: float, tolerance: float) -> bool:
    if expected == got or (math.isnan(expected) and math.isnan(got)):
        return True
    return abs(expected - got) <= tolerance + TYPED_RELATIVE_TOLERANCE * abs(got) < math.inf


def unordered(expected: Any, got: Any, tolerance: float) -> bool:
    """Sequences with the same items, each as often, in any order."""
    if not isinstance(expected, list | tuple) or not isinstance(got, list | tuple):
        return close(expected, got, tolerance)
    if len(expected) != len(got):
        return False
    missing, left = _without_common(expected, got)
    for item in missing:
        for index, candidate in enumerate(left):
            if close(item, candidate, tolerance):
                del left[index]
                break
        else:
            return False
    return True


def _without_common(expected: Sequence[Any], got: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Returns what is left of both sides without pairs of equal items; unhashable items all stay."""
    try:
        refuse_collisions(got)
        first, second = Counter(expected), Counter(got)
    except (TypeError, MalformedError):
        return list(expected), list(got)
    return list((first - second).elements()), list((second - first).elements())


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
    "exact": exact,
    "close": close,
    "typed": typed,
    "unordered": unordered,
    "set": as_sets,
    "not-none": not_none,
}
