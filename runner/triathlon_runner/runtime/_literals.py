"""Literals: values as text, read without executing anything, and compared as Python would compare them.

Beside Python's own literals the text may hold constructor calls that read like literals, as a `repr` does:
`Counter({'a': 1})`, `datetime.date(2024, 5, 1)`, `array([1, 2])`, `Point(x=1, y=2)`. Known containers are
read as their content with a name; any other call is a name with arguments and is never made.
"""

import ast
import cmath
import datetime
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final

from triathlon_runner.syntax import parse_expression

MAX_TEXT: Final = 20_000
MAX_NODES: Final = 20_000
MAX_DEPTH: Final = 60
_MAX_BITS: Final = 10_000
"""Of a power's value."""
TOLERANCE: Final = 1e-6
"""Floats are equal to 1e-6, as in REval's own evaluation."""


class NotALiteralError(ValueError):
    """The text is no literal, or larger than any answer needs to be."""


@dataclass(frozen=True, slots=True)
class Named:
    """A value of a named type: `Named("Counter", (content,), {})`, `Named("Color.RED", (), {})`."""

    name: str
    """The last part of a dotted name (of an attribute: the last two)."""
    arguments: tuple[Any, ...] = ()
    keywords: tuple[tuple[str, Any], ...] = ()


_CLASS: Final = re.compile(r"<class '(?:[\w.<>]*\.)?(\w+)'>")
_ENUM: Final = re.compile(r"<([A-Za-z_][\w.]*): [^<>]*>")
_WRAPPERS: Final = {
    "Counter", "OrderedDict", "deque", "array", "matrix", "dict_keys", "dict_values", "dict_items",
}  # fmt: skip
"""Containers that are read as their content with a name."""
_PLAIN_NAMES: Final = {
    "nan": math.nan, "NaN": math.nan, "inf": math.inf, "Infinity": math.inf, "True_": True, "False_": False,
}  # fmt: skip
_COLLECTIONS: Final[dict[type[ast.expr], Callable[[list[Any]], Any]]] = {
    ast.List: list,
    ast.Tuple: tuple,
    ast.Set: set,
}
_SCALARS: Final = (
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128", "bool_", "str_"),
)
"""Names of NumPy's numbers and texts, as NumPy 2 writes them in front of each."""
_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_NO_BUILDING: Final = (TypeError, ValueError, OverflowError, ZeroDivisionError, InvalidOperation)


def read_literal(text: str) -> Any:
    """The value that a text spells.

    Raises:
        NotALiteralError: it spells none, or one larger than any answer needs to be.
    """
    if len(text) > MAX_TEXT:
        raise NotALiteralError(f"{len(text)} characters are more than {MAX_TEXT}")
    plain = _ENUM.sub(r"\1", _CLASS.sub(r"\1", text.strip()))
    try:
        tree = parse_expression(plain)
        if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
            raise NotALiteralError("too many parts")
        return _value(tree, 0)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise NotALiteralError(f"{text[:80]!r} is no literal: {error}") from None


def _value(node: ast.expr, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise NotALiteralError("nested too deep")
    match node:
        case ast.Constant(value):
            return value
        case ast.List() | ast.Tuple() | ast.Set():
            return _COLLECTIONS[type(node)](_values(node.elts, depth))
        case ast.Dict():
            keys = [key for key in node.keys if key is not None]
            return dict(zip(_values(keys, depth), _values(node.values, depth), strict=True))
        case ast.Name() | ast.Attribute():
            parts = _dotted(node).split(".")
            return _PLAIN_NAMES.get(parts[-1], Named(".".join(parts[-2:])))
        case ast.Call():
            return _call(node, depth + 1)
    return _number(node, depth)


def _number(node: ast.expr, depth: int) -> Any:
    match node:
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
            number = _value(operand, depth + 1)
            if _is_number(number):
                return -number if isinstance(sign, ast.USub) else number
        case ast.BinOp(left, operation, right):
            return _operation(operation, *_values([left, right], depth))
    raise NotALiteralError(f"{type(node).__name__} is no part of a literal")


def _operation(operation: ast.operator, left: Any, right: Any) -> Any:
    """The value of `10 ** 2`, `' ' * 3` or `[1] + [2]`; no larger than any answer needs to be."""
    compute = _OPERATORS.get(type(operation))
    numbers = _is_number(left) and _is_number(right)
    sequence, count = (right, left) if isinstance(left, int) else (left, right)
    is_text = isinstance(sequence, (str, bytes, list, tuple))
    if isinstance(operation, ast.Pow):
        allowed = numbers and abs(right) * (math.log2(abs(left) + 1) + 1) <= _MAX_BITS
    elif isinstance(operation, ast.Mult) and is_text:
        allowed = isinstance(count, int) and len(sequence) * count <= MAX_NODES
    else:
        allowed = numbers or (isinstance(operation, ast.Add) and is_text and type(left) is type(right))
    if compute is None or not allowed:
        raise NotALiteralError("an operation that is no part of a literal")
    return compute(left, right)


def _values(nodes: list[ast.expr], depth: int) -> list[Any]:
    return [_value(node, depth + 1) for node in nodes]


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise NotALiteralError("expected a name")


def _call(node: ast.Call, depth: int) -> Any:
    name = _dotted(node.func).rpartition(".")[2]
    arguments = tuple(_value(argument, depth) for argument in node.args)
    if any(keyword.arg is None for keyword in node.keywords):
        raise NotALiteralError("** is no part of a literal")
    keywords = {keyword.arg or "": _value(keyword.value, depth) for keyword in node.keywords}
    build = _KNOWN.get(name)
    if build is not None:
        try:
            return build(*arguments, **keywords)
        except _NO_BUILDING:
            pass
    if name in _WRAPPERS and len(arguments) >= 1:
        return Named(name, (_content(name, arguments[0]),))
    if name == "defaultdict" and len(arguments) >= 1:
        return Named(name, (_content(name, arguments[-1] if isinstance(arguments[-1], dict) else {}),))
    return Named(name, arguments, tuple(sorted(keywords.items())))


def _content(name: str, content: Any) -> Any:
    """`OrderedDict([('a', 1)])` and `OrderedDict({'a': 1})` are the same."""
    if name in ("OrderedDict", "defaultdict", "Counter") and isinstance(content, list):
        try:
            return dict(content)
        except _NO_BUILDING:
            return content
    return content


def _fraction(*parts: Any) -> Fraction:
    """Fractions of whole numbers: `Fraction('1e99999999')` would be computed for hours."""
    if not all(isinstance(part, int) or re.fullmatch(r"-?\d+(/\d+)?", str(part)) for part in parts):
        raise ValueError(parts)
    return Fraction(*parts)


def decimal(*parts: Any) -> Decimal:
    """A decimal number, which is not one of the kind that can't be compared.

    Raises:
        ValueError: the parts make none.
    """
    try:
        number = Decimal(*parts)
    except (InvalidOperation, TypeError) as error:
        raise ValueError(parts) from error
    if number.is_snan():
        raise ValueError(parts)
    return number


def _scalar(value: Any) -> Any:
    """`np.float64(1.5)`, as NumPy 2 shows its numbers, is the number."""
    if not isinstance(value, (bool, int, float, complex, str)):
        raise TypeError(value)
    return value


def _bytearray(content: bytes = b"") -> bytes:
    """A bytearray is read as its content."""
    if not isinstance(content, bytes):
        raise TypeError(content)
    return content


def _sized(build: Callable[[Any], Any]) -> Callable[..., Any]:
    """Containers are built from containers only: `list(range(...))` could grow without bound."""

    def checked(content: Any = ()) -> Any:
        if not isinstance(content, (list, tuple, set, frozenset, dict)):
            raise TypeError(content)
        return build(content)

    return checked


_KNOWN: Final[Mapping[str, Callable[..., Any]]] = {
    "set": _sized(set),
    "frozenset": _sized(frozenset),
    "list": _sized(list),
    "tuple": _sized(tuple),
    "dict": _sized(dict),
    "float": float,
    "Decimal": decimal,
    "Fraction": _fraction,
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "range": range,
    "bytearray": _bytearray,
    **dict.fromkeys(_SCALARS, _scalar),
}


def equal(left: Any, right: Any) -> bool:
    """Whether two values are the same, where the caller compares the names of their types.

    As `same`, but a set equals a frozenset, and a Counter the dict that it holds, whose texts are alike.
    """
    if isinstance(left, Named) or isinstance(right, Named):
        return _equal_named(left, right)
    if isinstance(left, (set, frozenset)):
        return isinstance(right, (set, frozenset)) and _equal_sets(left, right)
    return same(left, right)


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal and of one type, at any depth; numbers by value, floats to 1e-6.

    NaN equals itself.
    """
    if _is_number(left) and _is_number(right):
        return _near(left, right)
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
        if left.name in _WRAPPERS and len(left.arguments) == len(right.arguments) == 1:
            return _equal_content(left.name, left.arguments[0], right.arguments[0])
        return same(left.arguments, right.arguments) and same(dict(left.keywords), dict(right.keywords))
    named, plain = (left, right) if isinstance(left, Named) else (right, left)
    wrapped = named.name in _WRAPPERS or named.name == "defaultdict"
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
    Decimal: _equal_decimals,
    list: _equal_items,
    tuple: _equal_items,
    dict: _equal_dicts,
    set: _equal_sets,
    frozenset: _equal_sets,
}
