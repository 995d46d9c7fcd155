"""Literals: values as text, read without executing anything, and compared as Python would compare them.

Beside Python's own literals the text may hold constructor calls that read like literals, as a `repr` does:
`Counter({'a': 1})`, `datetime.date(2024, 5, 1)`, `array([1, 2])`, `Point(x=1, y=2)`. Listed constructors make
what they make in Python; anything else is a name with content, and never called.
"""

import ast
import cmath
import math
import operator
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator, Set, ValuesView
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from triathlon_runner.runtime._expressions import InvalidAnswerError, is_number, plain_value, reading
from triathlon_runner.runtime._sandboxed.literal import CONSTANTS, CONSTRUCTORS, NUMPY_SCALARS, is_keyword
from triathlon_runner.syntax import parse_expression

_MAX_REPEATED: Final = 100_000
"""Characters that a product of a text or a collection would be written with."""
_MAX_BITS: Final = 10_000
"""Of a power's value."""
_MOST_PRODUCTS: Final = 200
"""Of a text: `[[0] * 3] * 3` has two."""
TOLERANCE: Final = 1e-6
"""Floats are equal to 1e-6, as in REval's own evaluation."""

CLASS: Final = re.compile(r"<class '(?:[\w.<>]*\.)?(\w+)'>")
_ENUM: Final = re.compile(r"<([A-Za-z_][\w.]*): [^<>]*>")
_CONSTANTS: Final = {**CONSTANTS, "NaN": math.nan, "Infinity": math.inf}
_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Named:
    """A name or a call that is not known here: `Color.RED`, `Point(x=1)`; and an array or a range."""

    name: str
    content: Any = ()


def read_literal(text: str) -> Any:
    """The value that a text spells. Of a dotted name the last part counts, of an attribute the last two.

    Raises:
        InvalidAnswerError: it spells none, or one larger than any answer needs to be.
    """
    with reading(text):
        tree = parse_expression(_ENUM.sub(r"\1", CLASS.sub(r"\1", text.strip())))
        if sum(isinstance(part, ast.Mult) for part in ast.walk(tree)) > _MOST_PRODUCTS:
            raise InvalidAnswerError("too many products")
        value = _value(plain_value(tree, listed=False))
        repr(value)  # fails for a number of more digits than Python writes, which are not compared either
        return value


def _value(plain: Any) -> Any:
    if not isinstance(plain, tuple):
        return plain
    name, *content = plain
    if name == "name":
        return _CONSTANTS.get(content[0], Named(content[0]))
    keywords = {part[0][:-1]: _value(part[1]) for part in content if is_keyword(part)}
    values = [_value(part) for part in content if not is_keyword(part)]
    if name in _OPERATORS:
        return _operation(name, *values)
    if name in _DISPLAYS:
        return _DISPLAYS[name](values)
    kind = name.removesuffix("()")
    if kind in _MADE:
        with suppress(TypeError, ValueError, ArithmeticError):
            return _MADE[kind](*values, **keywords)
    return Named(name, (*values, *sorted(keywords.items())))


def _operation(name: str, left: Any, right: Any) -> Any:
    """The value of `10 ** 2`, `' ' * 3` or `[1] + [2]`; no larger than any answer needs to be."""
    numbers = is_number(left) and is_number(right)
    sequence, count = (right, left) if isinstance(left, int) else (left, right)
    is_sequence = isinstance(sequence, str | bytes | list | tuple)
    if name == "Pow":
        allowed = numbers and abs(right) * (math.log2(abs(left) + 1) + 1) <= _MAX_BITS
    elif name == "Mult" and is_sequence:
        allowed = isinstance(count, int) and len(repr(sequence)) * count <= _MAX_REPEATED
    else:
        allowed = numbers or (name == "Add" and is_sequence and type(sequence) is type(count))
    if not allowed:
        raise InvalidAnswerError("an operation that is no part of a literal")
    return _OPERATORS[name](left, right)


def _fraction(*parts: Any) -> Fraction:
    """Fractions of whole numbers: `Fraction('1e99999999')` would be computed for hours."""
    if not all(isinstance(part, int) or re.fullmatch(r"-?\d+(/\d+)?", str(part)) for part in parts):
        raise ValueError(parts)
    return Fraction(*parts)


def _number(value: Any) -> Any:
    """`np.float64(1.5)`, as NumPy 2 shows its numbers, is the number."""
    if not (is_number(value) or isinstance(value, str | bool)):
        raise TypeError(value)
    return value


def _bytearray(content: bytes = b"") -> bytes:
    """A bytearray is read as its content."""
    if not isinstance(content, bytes):
        raise TypeError(content)
    return content


_DISPLAYS: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "list": list, "tuple": tuple, "set": set, "dict": dict, ":": tuple,
}  # fmt: skip
_MADE: Final[dict[str, Callable[..., Any]]] = {
    **CONSTRUCTORS,
    **dict.fromkeys(NUMPY_SCALARS, _number),
    **{kind.__name__: kind for kind in (list, tuple, set, frozenset, dict, float)},
    "array": lambda content, **_: Named("array", content),
    "matrix": lambda content, **_: Named("matrix", content),
    "Fraction": _fraction,
    "bytearray": _bytearray,
    # What is made of its members may be endless: nothing is.
    "range": lambda *parts: Named("range", range(*parts)),
}


_HELD: Final[dict[str, tuple[type, ...]]] = {
    "Counter": (dict,), "OrderedDict": (dict,), "frozenset": (set,), "deque": (list,), "array": (list,),
    "matrix": (list,), "dict_keys": (list, tuple, set), "dict_items": (list, tuple), "dict_values": (list,),
}  # fmt: skip
"""Containers, with what may be written in place of one."""


def equal(truth: Any, value: Any) -> bool:
    """Whether a value is the true one, where the caller compares the names of their types.

    As `_same`, but what a container holds may stand for it, as a dict for a Counter.
    """
    kind = truth.name if isinstance(truth, Named) else type(truth).__name__
    if type(value) in _HELD.get(kind, ()):
        with suppress(TypeError, ValueError):
            return _same(truth, _MADE[kind](value))
    return _same(truth, value)


def _same(left: Any, right: Any) -> bool:  # noqa: PLR0911 (one for each kind of value)
    """Whether two values are equal and of one type, at any depth; numbers by value, floats to 1e-6.

    NaN equals itself.
    """
    if is_number(left) and is_number(right):
        return _near(left, right)
    if type(left) is not type(right):
        return False
    if isinstance(left, Named):
        return left.name == right.name and _same(left.content, right.content)
    if isinstance(left, dict):
        is_ordered = isinstance(left, OrderedDict)
        pairs = zip(left, right, strict=False) if is_ordered else _pairs(left, right)
        return len(left) == len(right) and all(_same(a, b) and _same(left[a], right[b]) for a, b in pairs)
    if isinstance(left, set | frozenset):
        return len(left) == len(right) and all(_same(a, b) for a, b in _pairs(left, right))
    if isinstance(left, Set):
        left, right = sorted(left, key=_order), sorted(right, key=_order)
    if isinstance(left, list | tuple | deque | ValuesView):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, Decimal) and (left.is_nan() or right.is_nan()):
        return left.is_nan() and bool(right.is_nan())
    return bool(left == right)


def _pairs(left: Collection[Any], right: Collection[Any]) -> Iterator[tuple[Any, Any]]:
    """Yields each member with the one that Python finds for it; those without one in their order.

    By order alone, equal sets of sets could differ, because a set's text may have any order.
    """
    rest = {member: member for member in right}
    alone = []
    for member in left:
        if member in rest:
            yield member, rest.pop(member)
        else:
            alone.append(member)
    yield from zip(sorted(alone, key=_order), sorted(rest, key=_order), strict=False)


def _order(value: Any) -> tuple[bool, float, str]:
    """Numbers by size, other values by their text: the order in which two sets are compared."""
    is_real = isinstance(value, (int, float))
    return not is_real, value if is_real else 0, "" if is_real else repr(value)


def _near(left: complex, right: complex) -> bool:
    if left == right:
        return True
    if isinstance(left, int) and isinstance(right, int):
        return False
    try:
        return abs(left - right) < TOLERANCE or (cmath.isnan(left) and cmath.isnan(right))
    except OverflowError:
        return False
