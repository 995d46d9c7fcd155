"""Values of the traced program as text: literals, and constructor calls that read like literals.

The text says all that a question needs (`[1, 2.5]`, `Counter({'a': 2})`, `datetime.date(2024, 5, 1)`), is the
same on every machine (sets are sorted), and is read back by the runner without executing anything.
"""

import dataclasses
import datetime
import decimal
import enum
import fractions
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

MAX_DEPTH = 30

NO_VARIABLES = (
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.CoroutineType,
    Iterator,
)
"""What REval does not count as a variable: iterators, generators, functions, modules."""


class NoLiteralFormError(Exception):
    """The value has no literal form, or is too large for one; the message says why."""

    def __init__(self, why: str, *, too_large: bool = False) -> None:
        super().__init__(why)
        self.too_large = too_large


class LiteralWriter:
    """Writes one value as a literal, up to a number of characters."""

    def __init__(self, max_text: int) -> None:
        self._left = max_text

    def text(self, value: Any, depth: int = 0) -> str:
        """The text of `value`.

        Raises:
            NoLiteralFormError: it is too large, too deep, or of a type without a literal form.
        """
        if depth > MAX_DEPTH:
            raise NoLiteralFormError("nested too deep")
        kind = type(value)
        if kind in _SCALARS:
            return self._spend(_SCALARS[kind](value, self._left))
        write = _CONTAINERS.get(kind)
        if write is not None:
            return self._spend(write(self, value, depth + 1), counted=True)
        return self._uncommon(value, kind, depth + 1)

    def items(self, values: Any, depth: int) -> str:
        return ", ".join([self.text(value, depth) for value in values])

    def pairs(self, mapping: Any, depth: int) -> str:
        return ", ".join(
            [f"{self.text(key, depth)}: {self.text(item, depth)}" for key, item in dict.items(mapping)]
        )

    def sorted_items(self, values: Any, depth: int) -> str:
        return ", ".join(sorted(self.text(value, depth) for value in values))

    def _spend(self, text: str, *, counted: bool = False) -> str:
        self._left -= 2 if counted else len(text) + 2
        if self._left < 0:
            raise NoLiteralFormError("too large", too_large=True)
        return text

    def _uncommon(self, value: Any, kind: type, depth: int) -> str:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            return self._numpy(value, numpy, depth)
        if kind is type:
            return self._spend(value.__name__)
        if isinstance(value, enum.Enum):
            return self._spend(f"{kind.__name__}.{value.name}")
        if type_name(value) in _BY_NAME:
            return self._spend(repr(value))
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self._call(kind.__name__, [(name, getattr(value, name)) for name in kind._fields], depth)
        if dataclasses.is_dataclass(value) and kind.__dataclass_params__.repr:  # type: ignore[attr-defined]
            shown = [field.name for field in dataclasses.fields(value) if field.repr]
            return self._call(kind.__name__, [(name, getattr(value, name, None)) for name in shown], depth)
        raise NoLiteralFormError("no literal form")

    def _call(self, name: str, fields: list[tuple[str, Any]], depth: int) -> str:
        inside = ", ".join([f"{field}={self.text(item, depth)}" for field, item in fields])
        return self._spend(f"{name}({inside})", counted=True)

    def _numpy(self, value: Any, numpy: Any, depth: int) -> str:
        if isinstance(value, numpy.ndarray):
            if value.size > self._left:
                raise NoLiteralFormError("too large", too_large=True)
            name = "matrix" if isinstance(value, numpy.matrix) else "array"
            return f"{name}({self.text(value.tolist(), depth)})"
        return self.text(value.item(), depth)


def _int(value: int, left: int) -> str:
    if value.bit_length() > min(10_000, 4 * left + 64):
        raise NoLiteralFormError("too large", too_large=True)
    return str(value)


def _str(value: str, left: int) -> str:
    if len(value) > left:
        raise NoLiteralFormError("too large", too_large=True)
    return repr(value)


def _bytes(value: bytes, left: int) -> str:
    if len(value) > left:
        raise NoLiteralFormError("too large", too_large=True)
    return repr(value)


def _repr(value: Any, _left: int) -> str:
    return repr(value)


_SCALARS: dict[type, Callable[[Any, int], str]] = {
    type(None): _repr,
    bool: _repr,
    int: _int,
    float: _repr,
    complex: _repr,
    str: _str,
    bytes: _bytes,
    bytearray: _bytes,
    type(...): lambda _value, _left: "...",
    range: _repr,
    datetime.date: _repr,
    datetime.datetime: _repr,
    datetime.time: _repr,
    datetime.timedelta: _repr,
    decimal.Decimal: _repr,
    fractions.Fraction: _repr,
}
_BY_NAME = {
    "uuid.UUID", "pathlib.PosixPath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath",
    "pathlib._local.PosixPath", "pathlib._local.PurePosixPath", "pathlib._local.PureWindowsPath",
}  # fmt: skip
"""Types of modules that most programs do not import; importing them here would cost every one of them."""
_CONTAINERS: dict[type, Callable[[LiteralWriter, Any, int], str]] = {
    list: lambda writer, value, depth: f"[{writer.items(value, depth)}]",
    tuple: lambda writer, value, depth: f"({writer.items(value, depth)}{',' if len(value) == 1 else ''})",
    set: lambda writer, value, depth: f"{{{writer.sorted_items(value, depth)}}}" if value else "set()",
    frozenset: lambda writer, value, depth: (
        f"frozenset({{{writer.sorted_items(value, depth)}}})" if value else "frozenset()"
    ),
    dict: lambda writer, value, depth: f"{{{writer.pairs(value, depth)}}}",
    deque: lambda writer, value, depth: f"deque([{writer.items(value, depth)}])",
    Counter: lambda writer, value, depth: f"Counter({{{writer.pairs(value, depth)}}})",
    defaultdict: lambda writer, value, depth: f"defaultdict({{{writer.pairs(value, depth)}}})",
    OrderedDict: lambda writer, value, depth: f"OrderedDict({{{writer.pairs(value, depth)}}})",
    type({}.keys()): lambda writer, value, depth: f"dict_keys([{writer.items(value, depth)}])",
    type({}.values()): lambda writer, value, depth: f"dict_values([{writer.items(value, depth)}])",
    type({}.items()): lambda writer, value, depth: f"dict_items([{writer.items(value, depth)}])",
}


def foreign_repr(value: Any, most: int) -> str:
    """How a library shows a value that has no literal form; empty where that names a place in memory.

    The `__repr__` of a program's class is not called: it could change the object.
    """
    kind = type(value)
    if kind.__module__ == "program" or getattr(kind, "__repr__", None) is object.__repr__:
        return ""
    try:
        text = repr(value)
    except Exception:  # a library's own __repr__ may raise anything
        return ""
    return "" if " at 0x" in text or len(text) > most else text


def type_name(value: Any) -> str:
    """`int`, `numpy.ndarray`, `Account`: the module is named unless it is the built-ins or the program."""
    kind = type(value)
    module = getattr(kind, "__module__", "builtins")
    name = getattr(kind, "__qualname__", kind.__name__)
    return name if module in ("builtins", "program") else f"{module}.{name}"
