"""Literals: values as text, read without executing anything, and compared as Python would compare them.

Beside Python's own literals the text may hold constructor calls that read like literals, as a `repr` does:
`Counter({'a': 1})`, `datetime.date(2024, 5, 1)`, `array([1, 2])`, `Point(x=1, y=2)`. Numbers, text and dates
become what they are in Python, anything else a name with content; a call is never made.
"""

import ast
import cmath
import datetime
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Final

from triathlon_runner.runtime._expressions import is_number
from triathlon_runner.runtime._sandboxed.literal import MAX_TEXT, NUMPY_SCALARS
from triathlon_runner.syntax import parse_expression

MAX_NODES: Final = 20_000
MAX_DEPTH: Final = 60
_MAX_BITS: Final = 10_000
"""Of a power's value."""
_MOST_PRODUCTS: Final = 200
"""Of a text: `[[0] * 3] * 3` has two."""
_MOST_PAIRS: Final = 200
"""Elements without an exact equal on the other side that are compared with all others."""
TOLERANCE: Final = 1e-6
"""Floats are equal to 1e-6, as in REval's own evaluation."""


class NotALiteralError(ValueError):
    """The text is no literal, or larger than any answer needs to be."""


@dataclass(frozen=True, slots=True)
class Named:
    """A value of a named type: `Named("list", (1, 2))`, `Named("name", ("Color.RED",))`, `Named("True")`.

    Collections have their items, dictionaries pairs (`Named(":", (key, value))`), other calls their arguments
    as content, those with a name as `Named("x=", (value,))`. Of a dotted name the last part counts, of an
    attribute the last two.
    """

    name: str
    content: tuple[Any, ...] = ()


CLASS: Final = re.compile(r"<class '(?:[\w.<>]*\.)?(\w+)'>")
_ENUM: Final = re.compile(r"<([A-Za-z_][\w.]*): [^<>]*>")
_COLLECTIONS: Final = ("list", "tuple", "set", "frozenset", "dict")
_UNORDERED: Final = ("set", "frozenset", "dict")
_DICTIONARIES: Final = ("dict", "Counter", "OrderedDict", "defaultdict")
_WRAPPERS: Final = (*_DICTIONARIES[1:], "dict_keys", "dict_items", "dict_values", "deque", "array", "matrix")
"""Containers that are read as their content with a name."""
_PLAIN_NAMES: Final = {
    "nan": math.nan, "NaN": math.nan, "inf": math.inf, "Infinity": math.inf,
    "True_": Named("True"), "False_": Named("False"),
}  # fmt: skip
_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip


def kind_of(value: Any) -> str:
    """The name of a value's type; of True, None and the like their own name."""
    return value.name if isinstance(value, Named) else type(value).__name__


def read_literal(text: str) -> Any:
    """The value that a text spells: a number, text, bytes, date or time as such, anything else `Named`.

    Raises:
        NotALiteralError: it spells none, or one larger than any answer needs to be.
    """
    if len(text) > MAX_TEXT:
        raise NotALiteralError(f"{len(text)} characters are more than {MAX_TEXT}")
    plain = _ENUM.sub(r"\1", CLASS.sub(r"\1", text.strip()))
    try:
        tree = parse_expression(plain)
        parts = list(ast.walk(tree))
        if len(parts) > MAX_NODES or sum(isinstance(part, ast.Mult) for part in parts) > _MOST_PRODUCTS:
            raise NotALiteralError("too many parts")
        return _value(tree, 0)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise NotALiteralError(f"{text[:80]!r} is no literal: {error}") from None


def _value(node: ast.expr, depth: int) -> Any:  # noqa: PLR0911 (one for each kind of value)
    if depth > MAX_DEPTH:
        raise NotALiteralError("nested too deep")
    match node:
        case ast.Constant(bool() | None as value):
            return Named(str(value))
        case ast.Constant(value):
            return value
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            return _collection(type(node).__name__.lower(), _values(items, depth))
        case ast.Dict(keys, values) if None not in keys:
            pairs = zip(_values([key for key in keys if key], depth), _values(values, depth), strict=True)
            return _collection("dict", [Named(":", pair) for pair in pairs])
        case ast.Name() | ast.Attribute():
            parts = _dotted(node).split(".")
            return _PLAIN_NAMES.get(parts[-1], Named("name", (".".join(parts[-2:]),)))
        case ast.Call():
            return _call(node, depth + 1)
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
            number = _value(operand, depth + 1)
            if is_number(number):
                return -number if isinstance(sign, ast.USub) else number
        case ast.BinOp(left, operation, right):
            return _operation(operation, *_values([left, right], depth))
    raise NotALiteralError(f"{type(node).__name__} is no part of a literal")


def _values(nodes: list[ast.expr], depth: int) -> list[Any]:
    return [_value(node, depth + 1) for node in nodes]


def _collection(kind: str, items: Iterable[Any]) -> Named:
    """Of equal keys the last value counts, of equal elements one."""
    if kind == "dict":
        items = {pair.content[0]: pair for pair in items}.values()
    return Named(kind, tuple(dict.fromkeys(items) if kind in _UNORDERED else items))


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise NotALiteralError("expected a name")


def _operation(operation: ast.operator, left: Any, right: Any) -> Any:
    """The value of `10 ** 2`, `' ' * 3` or `[1] + [2]`; no larger than any answer needs to be."""
    compute = _OPERATORS.get(type(operation))
    numbers = is_number(left) and is_number(right)
    sequence, count = (right, left) if isinstance(left, int) else (left, right)
    kind = kind_of(sequence)
    is_sequence = kind in ("str", "bytes", "list", "tuple")
    if isinstance(operation, ast.Pow):
        allowed = numbers and abs(right) * (math.log2(abs(left) + 1) + 1) <= _MAX_BITS
    elif isinstance(operation, ast.Mult) and is_sequence:
        allowed = isinstance(count, int) and _size(sequence) * count <= MAX_NODES
    else:
        allowed = numbers or (isinstance(operation, ast.Add) and is_sequence and kind == kind_of(count))
    if compute is None or not allowed:
        raise NotALiteralError("an operation that is no part of a literal")
    result = compute(*(value.content if isinstance(value, Named) else value for value in (left, right)))
    return Named(kind, result) if isinstance(result, tuple) else result


def _size(value: Any) -> int:
    """Returns how many values a value holds at any depth, which hashing it visits; counts to MAX_NODES."""
    size, waiting = 0, [value]
    while waiting and size <= MAX_NODES:
        item = waiting.pop()
        size += len(item) if isinstance(item, str | bytes) else 1
        waiting += item.content if isinstance(item, Named) else ()
    return size


def _call(node: ast.Call, depth: int) -> Any:
    name = _dotted(node.func).rpartition(".")[2]
    arguments = [_value(argument, depth) for argument in node.args]
    keywords = {keyword.arg or "**": _value(keyword.value, depth) for keyword in node.keywords}
    if "**" in keywords:
        raise NotALiteralError("** is no part of a literal")
    build = _BUILT.get(name)
    if build is not None:
        try:
            return build(*arguments, **keywords)
        except (TypeError, ValueError, ArithmeticError):
            pass
    if name in _WRAPPERS and arguments:
        content = arguments[-1 if name == "defaultdict" else 0]
        if name == "defaultdict" and kind_of(content) != "dict":
            content = Named("dict")
        return Named(name, (_content(name, content),))
    named = (Named(f"{key}=", (keywords[key],)) for key in sorted(keywords))
    return Named(f"{name}()", (*arguments, *named))


def _content(name: str, content: Any) -> Any:
    """What a container holds: `OrderedDict([('a', 1)])` and `OrderedDict({'a': 1})` are the same."""
    if name in ("dict_keys", "dict_items") and kind_of(content) in ("list", "tuple", "frozenset"):
        return _collection("set", content.content)
    if name in _DICTIONARIES and kind_of(content) == "list":
        pairs = [Named(":", item.content) for item in content.content if isinstance(item, Named)]
        if all(len(pair.content) == 2 for pair in pairs) and len(pairs) == len(content.content):
            return _collection("dict", pairs)
    return content


def _built_collection(kind: str, content: Any = Named("list")) -> Named:
    """Containers are built from containers only: `list(range(...))` could grow without bound."""
    content = _content(kind, content)
    if kind_of(content) not in _COLLECTIONS or (kind == "dict" and content.name != "dict"):
        raise TypeError(content)
    from_dict = content.name == "dict" != kind
    return _collection(kind, [item.content[0] for item in content.content] if from_dict else content.content)


def _fraction(*parts: Any) -> Named:
    """Fractions of whole numbers: `Fraction('1e99999999')` would be computed for hours."""
    if not all(isinstance(part, int) or re.fullmatch(r"-?\d+(/\d+)?", str(part)) for part in parts):
        raise ValueError(parts)
    return Named("Fraction", (Fraction(*parts),))


def _decimal(*parts: Any) -> Named:
    """A decimal number, which is not one of the kind that can't be compared."""
    number = Decimal(*parts)
    if number.is_snan():
        raise ValueError(parts)
    return Named("Decimal", (math.nan if number.is_nan() else number,))


def _numpy_scalar(value: Any) -> Any:
    """`np.float64(1.5)`, as NumPy 2 shows its numbers, is the number."""
    if not (is_number(value) or kind_of(value) in ("str", "True", "False")):
        raise TypeError(value)
    return value


def _bytearray(content: bytes = b"") -> bytes:
    """A bytearray is read as its content."""
    if not isinstance(content, bytes):
        raise TypeError(content)
    return content


_BUILT: Final[Mapping[str, Callable[..., Any]]] = {
    **{kind: partial(_built_collection, kind) for kind in _COLLECTIONS},
    **dict.fromkeys(NUMPY_SCALARS, _numpy_scalar),
    "float": float,
    "Decimal": _decimal,
    "Fraction": _fraction,
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "range": range,
    "bytearray": _bytearray,
}


def equal(left: Any, right: Any) -> bool:
    """Whether two values are the same, where the caller compares the names of their types.

    As `_same`, but a set equals a frozenset, and a Counter the dict that it holds, whose texts are alike.
    """
    return _same(_in_container_of(right, left), _in_container_of(left, right))


def _in_container_of(other: Any, value: Any) -> Any:
    if kind_of(other) in _WRAPPERS and kind_of(value) not in _WRAPPERS:
        name = kind_of(other)
        return Named(name, (value if name in _DICTIONARIES else _content(name, value),))
    return Named("set", value.content) if kind_of(value) == "frozenset" else value


def _same(left: Any, right: Any) -> bool:
    """Whether two values are equal and of one type, at any depth; numbers by value, floats to 1e-6.

    NaN equals itself.
    """
    if is_number(left) and is_number(right):
        return _near(left, right)
    if not (isinstance(left, Named) and isinstance(right, Named)):
        return type(left) is type(right) and bool(left == right)
    if left.name != right.name or len(left.content) != len(right.content):
        return False
    if left.name in _UNORDERED:
        return _paired(left.content, right.content)
    return all(map(_same, left.content, right.content))


def _paired(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether the items of both sides can be paired as equal; False beyond 200 without an exact equal."""
    all_left, all_right = set(left), set(right)
    without = [item for item in left if item not in all_right]
    rest = [item for item in right if item not in all_left]
    if not len(without) == len(rest) <= _MOST_PAIRS:
        return False
    for item in without:
        partner = next((index for index, candidate in enumerate(rest) if _same(item, candidate)), None)
        if partner is None:
            return False
        del rest[partner]
    return True


def _near(left: complex, right: complex) -> bool:
    if left == right:
        return True
    if isinstance(left, int) and isinstance(right, int):
        return False
    try:
        return abs(left - right) < TOLERANCE or (cmath.isnan(left) and cmath.isnan(right))
    except OverflowError:
        return False
