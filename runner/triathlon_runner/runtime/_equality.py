"""Whether two values that were read from text are equal, as Python would compare them."""

import cmath
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from triathlon_runner.runtime._literals import WRAPPERS, Named

TOLERANCE: Final = 1e-6
"""Floats are equal to 1e-6, as in REval's own evaluation."""


def equal(left: Any, right: Any) -> bool:
    """Whether two values are the same: types count at any depth inside them, floats are equal to 1e-6.

    Of the values themselves the types may differ as texts of one value do: 5 and 5.0, a set and a frozenset,
    a Counter and the dict that it holds; the caller compares the names of their types. NaN equals itself.
    """
    if isinstance(left, Named) or isinstance(right, Named):
        return _equal_named(left, right)
    if _is_number(left) and _is_number(right):
        return _near(left, right)
    if isinstance(left, (set, frozenset)):
        return isinstance(right, (set, frozenset)) and _equal_sets(left, right)
    return same(left, right)


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal and of one type, at any depth; floats to 1e-6."""
    if type(left) is not type(right):
        return False
    compare = _COMPARISONS.get(type(left))
    return compare(left, right) if compare else bool(left == right)


_NUMBERS: Final = ("array", "matrix")
"""Containers whose numbers are all of one type, which `array([1.0, 2.0])` need not show."""
_UNORDERED: Final = ("dict_keys", "dict_items")


def _equal_named(left: Any, right: Any) -> bool:
    if isinstance(left, Named) and isinstance(right, Named):
        if left.name != right.name:
            return False
        if left.name in WRAPPERS and len(left.arguments) == len(right.arguments) == 1:
            return _equal_content(left.name, left.arguments[0], right.arguments[0])
        return same(left.arguments, right.arguments) and same(dict(left.keywords), dict(right.keywords))
    named, plain = (left, right) if isinstance(left, Named) else (right, left)
    wrapped = named.name in WRAPPERS or named.name == "defaultdict"
    return wrapped and len(named.arguments) == 1 and _equal_content(named.name, named.arguments[0], plain)


def _equal_content(name: str, left: Any, right: Any) -> bool:
    if name in _UNORDERED:
        if not all(isinstance(value, (list, tuple, set, frozenset)) for value in (left, right)):
            return False
        try:
            return _equal_sets(frozenset(left), frozenset(right))
        except TypeError:  # items of a dict, with values that are no elements of sets
            return _paired(list(left), list(right))
    return _equal_arrays(left, right) if name in _NUMBERS else equal(left, right)


def _equal_arrays(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(
            _equal_arrays(*items) for items in zip(left, right, strict=True)
        )
    return equal(left, right)


def _equal_items(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(same(*items) for items in zip(left, right, strict=True))


def _equal_decimals(left: Decimal, right: Decimal) -> bool:
    return bool(left == right) or (left.is_nan() and right.is_nan())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _near(left: complex, right: complex) -> bool:
    if left == right:
        return True
    if isinstance(left, int) and isinstance(right, int):
        return False
    try:
        return abs(left - right) < TOLERANCE or (cmath.isnan(left) and cmath.isnan(right))
    except OverflowError:
        return False


def _equal_dicts(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    if len(left) != len(right):
        return False
    if left.keys() == right.keys():
        keys = {key: key for key in right}
        return all(same(key, keys[key]) and same(value, right[key]) for key, value in left.items())
    return _paired(list(left.items()), list(right.items()))


def _equal_sets(left: set[Any] | frozenset[Any], right: set[Any] | frozenset[Any]) -> bool:
    if len(left) != len(right):
        return False
    items = {item: item for item in right}
    if any(item in items and not same(item, items[item]) for item in left):
        return False
    return _paired(list(left - right), list(right - left))


def _paired(left: list[Any], right: list[Any]) -> bool:
    """Whether the items of both sides can be paired as equal; False beyond 200: all pairs are compared."""
    if len(left) != len(right) or len(left) > 200:
        return False
    rest = list(right)
    for item in left:
        partner = next((index for index, candidate in enumerate(rest) if same(item, candidate)), None)
        if partner is None:
            return False
        del rest[partner]
    return True


_COMPARISONS: Final[dict[type, Callable[[Any, Any], bool]]] = {
    Named: _equal_named,
    float: _near,
    complex: _near,
    Decimal: _equal_decimals,
    list: _equal_items,
    tuple: _equal_items,
    dict: _equal_dicts,
    set: _equal_sets,
    frozenset: _equal_sets,
}
