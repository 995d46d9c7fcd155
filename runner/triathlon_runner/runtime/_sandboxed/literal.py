"""Values of the traced program as text: literals, and constructor calls that read like literals.

The text says all that a question needs (`[1, 2.5]`, `Counter({'a': 2})`, `datetime.date(2024, 5, 1)`), is the
same on every machine (sets are sorted), and is read back by the runner without executing anything. The other
way, `build` makes a value of what the runner read.
"""

import builtins
import dataclasses
import datetime
import decimal
import enum
import fractions
import math
import operator
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 30
MAX_TEXT = 20_000
"""Characters of one value, wherever it is read or written."""

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
            is_long = isinstance(value, (str, bytes, bytearray)) and len(value) > self._left
            if is_long or (kind is int and value.bit_length() > min(10_000, 4 * self._left + 64)):
                raise NoLiteralFormError("too large", too_large=True)
            return self._spend("..." if value is ... else repr(value))
        if kind in _CONTAINERS:
            return self._spend(self._container(value, kind, depth + 1), counted=True)
        return self._uncommon(value, kind, depth + 1)

    def _container(self, value: Any, kind: type, depth: int) -> str:
        if isinstance(value, dict):
            parts = [f"{self.text(key, depth)}: {self.text(item, depth)}" for key, item in dict.items(value)]
        else:
            parts = [self.text(item, depth) for item in value]
        if kind in (set, frozenset):
            if not parts:
                return f"{kind.__name__}()"
            parts.sort()
        inside = ", ".join(parts)
        return _CONTAINERS[kind].format(f"{inside}," if kind is tuple and len(parts) == 1 else inside)

    def _spend(self, text: str, *, counted: bool = False) -> str:
        self._left -= 2 if counted else len(text) + 2
        if self._left < 0:
            raise NoLiteralFormError("too large", too_large=True)
        return text

    def _uncommon(self, value: Any, kind: type, depth: int) -> str:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            return self.text(value.item(), depth)
        if numpy is not None and isinstance(value, numpy.ndarray):
            if value.size > self._left:
                raise NoLiteralFormError("too large", too_large=True)
            name = "matrix" if isinstance(value, numpy.matrix) else "array"
            return f"{name}({self.text(value.tolist(), depth)})"
        if kind is type:
            return self._spend(value.__name__)
        if isinstance(value, enum.Enum):
            return self._spend(f"{kind.__name__}.{value.name}")
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self._call(kind.__name__, [(name, getattr(value, name)) for name in kind._fields], depth)
        if dataclasses.is_dataclass(value) and kind.__dataclass_params__.repr:  # type: ignore[attr-defined]
            shown = [field.name for field in dataclasses.fields(value) if field.repr]
            return self._call(kind.__name__, [(name, getattr(value, name, None)) for name in shown], depth)
        raise NoLiteralFormError("no literal form")

    def _call(self, name: str, fields: list[tuple[str, Any]], depth: int) -> str:
        inside = ", ".join([f"{field}={self.text(item, depth)}" for field, item in fields])
        return self._spend(f"{name}({inside})", counted=True)


_SCALARS = {
    type(None), bool, int, float, complex, str, bytes, bytearray, type(...), range, datetime.date,
    datetime.datetime, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction,
}  # fmt: skip
_CONTAINERS = {
    list: "[{}]", tuple: "({})", set: "{{{}}}", frozenset: "frozenset({{{}}})", dict: "{{{}}}",
    deque: "deque([{}])", Counter: "Counter({{{}}})", defaultdict: "defaultdict({{{}}})",
    OrderedDict: "OrderedDict({{{}}})", type({}.keys()): "dict_keys([{}])",
    type({}.values()): "dict_values([{}])", type({}.items()): "dict_items([{}])",
}  # fmt: skip


def described(value: Any, most: int) -> tuple[str, str, bool] | None:
    """Type and text of a value, and whether the text is a literal; None for what is no variable.

    The text is empty where there is none of at most so many characters. A library's value without a literal
    form has its `repr`, unless that names a place in memory; the `__repr__` of a program's class is not
    called: it could change the object.
    """
    if isinstance(value, NO_VARIABLES):
        return None
    kind = type(value)
    try:
        return type_name(kind), LiteralWriter(most).text(value), True
    except NoLiteralFormError as error:
        is_own = kind.__module__ == "program" or getattr(kind, "__repr__", None) is object.__repr__
        if error.too_large or is_own:
            return type_name(kind), "", False
    try:
        text = repr(value)
    except Exception:  # a library's own __repr__ may raise anything
        text = ""
    return type_name(kind), "" if " at 0x" in text or len(text) > most else text, False


def type_name(kind: type) -> str:
    """`int`, `numpy.ndarray`, `Account`: the module is named unless it is the built-ins or the program."""
    module = getattr(kind, "__module__", "builtins")
    name = getattr(kind, "__qualname__", kind.__name__)
    return name if module in ("builtins", "program") else f"{module}.{name}"


# Values that an answer states

NUMPY_SCALARS = frozenset(
    {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
    | {"float16", "float32", "float64", "complex64", "complex128", "bool_", "str_"}
)
NUMPY = NUMPY_SCALARS | {"array"}
"""Names of NumPy that a value may use."""
CONSTANTS: dict[str, Any] = {"nan": math.nan, "inf": math.inf, "pi": math.pi, "True_": True, "False_": False}


CONSTRUCTORS: dict[str, Any] = {
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "deque": deque,
    # `defaultdict(list, {1: [2]})`, and as the text of a value has it, `defaultdict({1: [2]})`.
    "defaultdict": lambda *content: dict(content[-1]) if content and not callable(content[-1]) else {},
    "dict_keys": lambda keys: dict.fromkeys(keys).keys(),
    "dict_items": lambda items: dict(items).items(),
    "dict_values": lambda values: dict(enumerate(values)).values(),
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
}
"""Makers of values that are neither built-in nor NumPy's."""


def known_names() -> dict[str, Any]:
    """The names that a value may use, beside built-ins.

    Those of NumPy only where it has been imported; elsewhere Python's own types stand for them.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None:
        of_python = {name: getattr(builtins, name.strip("u_0123456789")) for name in NUMPY_SCALARS}
        return CONSTANTS | CONSTRUCTORS | of_python
    of_numpy = {name: getattr(numpy, name) for name in NUMPY} | {"matrix": numpy.asmatrix}
    return CONSTANTS | CONSTRUCTORS | of_numpy


def build(plain: Any) -> Any:
    """Returns the value of plain data as `_expressions.plain_value` has it: no text is evaluated for it."""
    if not isinstance(plain, tuple):
        return plain
    name, *content = plain
    if name == "dict":
        return {build(key): build(value) for _, key, value in content}
    if name in ("list", "tuple", "set"):
        return getattr(builtins, name)(map(build, content))
    known = {**vars(builtins), "negative": operator.neg, **known_names()}
    if name == "name":
        return known[content[0]]
    arguments = [build(part) for part in content if not is_keyword(part)]
    keywords = {part[0][:-1]: build(part[1]) for part in content if is_keyword(part)}
    return known[name.removesuffix("()")](*arguments, **keywords)


def is_keyword(plain: Any) -> bool:
    """Whether plain data is an argument with a name."""
    return isinstance(plain, tuple) and plain[0].endswith("=")
