"""Literals: values as text, read without executing anything.

Beside Python's own literals the text may hold constructor calls that read like literals, as a `repr` does:
`Counter({'a': 1})`, `datetime.date(2024, 5, 1)`, `array([1, 2])`, `Point(x=1, y=2)`. Known containers are
read as their content with a name; any other call is a name with arguments and is never made.
"""

import ast
import datetime
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final

from triathlon_runner.syntax import parse_expression

MAX_TEXT: Final = 20_000
MAX_NODES: Final = 20_000
MAX_DEPTH: Final = 60


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
WRAPPERS: Final = {
    "Counter",
    "OrderedDict",
    "deque",
    "array",
    "matrix",
    "dict_keys",
    "dict_values",
    "dict_items",
}
_PLAIN_NAMES: Final = {
    "nan": math.nan, "NaN": math.nan, "inf": math.inf, "Infinity": math.inf, "True_": True, "False_": False,
}  # fmt: skip
_SCALARS: Final = (
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128", "bool_", "str_"),
)
"""Names of NumPy's numbers and texts, as NumPy 2 writes them in front of each."""
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
        raise NotALiteralError(f"{shorten(text)!r} is no literal: {error}") from None


def shorten(text: str, most: int = 80) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= most else f"{text[:most]}…"


def _value(node: ast.expr, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise NotALiteralError("nested too deep")
    read = _READERS.get(type(node))
    if read is None:
        raise NotALiteralError(f"{type(node).__name__} is no part of a literal")
    return read(node, depth + 1)


def _values(nodes: list[ast.expr], depth: int) -> list[Any]:
    return [_value(node, depth) for node in nodes]


def _hashable(value: Any) -> Any:
    """Raises TypeError for what can't stand in a set or as a key."""
    hash(value)
    return value


def _dict(node: ast.Dict, depth: int) -> dict[Any, Any]:
    if None in node.keys:
        raise NotALiteralError("** is no part of a literal")
    keys = [_hashable(_value(key, depth)) for key in node.keys if key is not None]
    return dict(zip(keys, _values(node.values, depth), strict=True))


def _signed(node: ast.UnaryOp, depth: int) -> Any:
    number = _value(node.operand, depth)
    if isinstance(number, bool) or not isinstance(number, (int, float, complex)):
        raise NotALiteralError("a sign stands before numbers only")
    if isinstance(node.op, ast.USub):
        return -number
    if isinstance(node.op, ast.UAdd):
        return number
    raise NotALiteralError(f"{type(node.op).__name__} is no part of a literal")


def _complex(node: ast.BinOp, depth: int) -> complex:
    left, right = _value(node.left, depth), _value(node.right, depth)
    if (
        isinstance(left, (int, float))
        and isinstance(right, complex)
        and isinstance(node.op, (ast.Add, ast.Sub))
    ):
        return left + right if isinstance(node.op, ast.Add) else left - right
    raise NotALiteralError("an operation is no literal")


def _name(node: ast.Name, _depth: int) -> Any:
    return _PLAIN_NAMES.get(node.id, Named(node.id))


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise NotALiteralError("expected a name")


def _attribute(node: ast.Attribute, _depth: int) -> Any:
    parts = _dotted(node).split(".")
    if parts[-1] in _PLAIN_NAMES:
        return _PLAIN_NAMES[parts[-1]]
    return Named(".".join(parts[-2:]))


def _call(node: ast.Call, depth: int) -> Any:
    name = _dotted(node.func).rpartition(".")[2]
    arguments = tuple(_values(node.args, depth))
    if any(keyword.arg is None for keyword in node.keywords):
        raise NotALiteralError("** is no part of a literal")
    keywords = {keyword.arg or "": _value(keyword.value, depth) for keyword in node.keywords}
    build = _KNOWN.get(name)
    if build is not None:
        try:
            return build(*arguments, **keywords)
        except _NO_BUILDING:
            pass
    if name in WRAPPERS and len(arguments) >= 1:
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


def _float(text: str | float = 0.0) -> float:
    return float(text)


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


_READERS: Final[dict[type[ast.expr], Callable[[Any, int], Any]]] = {
    ast.Constant: lambda node, _depth: node.value,
    ast.List: lambda node, depth: _values(node.elts, depth),
    ast.Tuple: lambda node, depth: tuple(_values(node.elts, depth)),
    ast.Set: lambda node, depth: set(_values(node.elts, depth)),
    ast.Dict: _dict,
    ast.UnaryOp: _signed,
    ast.BinOp: _complex,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
}
_KNOWN: Final[Mapping[str, Callable[..., Any]]] = {
    "set": _sized(set),
    "frozenset": _sized(frozenset),
    "list": _sized(list),
    "tuple": _sized(tuple),
    "dict": _sized(dict),
    "float": _float,
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
