"""Runs beside a program in the sandbox: loads it and the test around it, and checks assertions with it.

Values leave as text: literals, and constructor calls that read like literals (`Counter({'a': 2})`,
`datetime.date(2024, 5, 1)`), the same on every machine (sets are sorted). What an answer states comes in as
plain data; an expression of an answer is evaluated by `compute` alone, where no program is.
"""

import ast
import builtins
import contextlib
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import io
import linecache
import math
import operator
import random
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

FILE = "<traced>"
TEST_FILE = "<test>"
MAX_TEXT = 20_000  # Characters of one value, wherever it is read or written
_MAX_DEPTH = 30

# Values as text


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
        if depth > _MAX_DEPTH:
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
            fields = [(name, getattr(value, name)) for name in kind._fields]
        elif dataclasses.is_dataclass(value) and kind.__dataclass_params__.repr:  # type: ignore[attr-defined]
            shown = [field.name for field in dataclasses.fields(value) if field.repr]
            fields = [(name, getattr(value, name, None)) for name in shown]
        else:
            raise NoLiteralFormError("no literal form")
        inside = ", ".join([f"{field}={self.text(item, depth)}" for field, item in fields])
        return self._spend(f"{kind.__name__}({inside})", counted=True)


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
_NO_VARIABLES = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.CoroutineType,
    Iterator,
)  # fmt: skip
"""What REval does not count as a variable: iterators, generators, functions, modules."""


def described(value: Any, most: int) -> tuple[str, str, bool] | None:
    """Type and text of a value, and whether the text is a literal; None for what is no variable.

    The type's module is named unless it is the built-ins or the program: `int`, `numpy.ndarray`, `Account`.
    The text is empty where there is none of at most so many characters. A library's value without a literal
    form has its `repr`, unless that names a place in memory; the `__repr__` of a program's class is not
    called: it could change the object.
    """
    if isinstance(value, _NO_VARIABLES):
        return None
    kind = type(value)
    module, name = getattr(kind, "__module__", "builtins"), getattr(kind, "__qualname__", kind.__name__)
    full_name = name if module in ("builtins", "program") else f"{module}.{name}"
    try:
        return full_name, LiteralWriter(most).text(value), True
    except NoLiteralFormError as error:
        is_own = kind.__module__ == "program" or getattr(kind, "__repr__", None) is object.__repr__
        if error.too_large or is_own:
            return full_name, "", False
    try:
        text = repr(value)
    except Exception:  # a library's own __repr__ may raise anything
        text = ""
    return full_name, "" if " at 0x" in text or len(text) > most else text, False


# Values that an answer states

NUMPY_SCALARS = frozenset(
    {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
    | {"float16", "float32", "float64", "complex64", "complex128", "bool_", "str_"}
)
NUMPY = NUMPY_SCALARS | {"array"}  # Names of NumPy that a value may use
CONSTANTS: dict[str, Any] = {"nan": math.nan, "inf": math.inf, "pi": math.pi, "True_": True, "False_": False}


def _defaultdict(*content: Any) -> dict[Any, Any]:
    """`defaultdict(list, {1: [2]})`, and as the text of a value has it, `defaultdict({1: [2]})`."""
    return dict(content[-1]) if content and not callable(content[-1]) else {}


CONSTRUCTORS: dict[str, Any] = {
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "deque": deque,
    "defaultdict": _defaultdict,
    "dict_keys": lambda keys: dict.fromkeys(keys).keys(),
    "dict_items": lambda items: dict(items).items(),
    "dict_values": lambda values: dict(enumerate(values)).values(),
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
}
"""Makers of values that are neither built-in nor NumPy's."""
_DISPLAYS: dict[str, Any] = {
    "[]": lambda *items: list(items),
    "()": lambda *items: items,
    "{}": lambda *items: set(items),
    "negative": operator.neg,
}


def _known_names() -> dict[str, Any]:
    """The names that a value may use, beside built-ins; those of NumPy only where it has been imported."""
    numpy = sys.modules.get("numpy")
    of_numpy = {name: getattr(numpy, name) for name in NUMPY} | {"matrix": numpy.asmatrix} if numpy else {}
    return CONSTANTS | CONSTRUCTORS | of_numpy


def _built(plain: Any) -> Any:
    """The value of plain data as `_expressions.plain_value` has it: no text is evaluated for it."""
    if not isinstance(plain, tuple):
        return plain
    name, *content = plain
    if name == "{:}":
        return {_built(key): _built(value) for key, value in content[0]}
    known = _DISPLAYS | _known_names()
    made = known[name] if name in known else getattr(builtins, name)
    if not content:
        return made
    arguments, keywords = content
    return made(*map(_built, arguments), **{key: _built(value) for key, value in keywords.items()})


def compute(expression: str) -> str:
    """What an expression comes to as text; empty where that has none. No program is loaded.

    Raises:
        Exception: whatever the expression raises.
    """
    value = eval(expression, _names_in(expression))  # noqa: S307 (in the sandbox)
    try:
        return LiteralWriter(MAX_TEXT).text(value)
    except NoLiteralFormError:
        return ""


def _names_in(source: str) -> dict[str, Any]:
    """The global names of an expression: builtins, functions of `math`, and constructors of values."""
    used = {node.id for node in ast.walk(ast.parse(source, mode="eval")) if isinstance(node, ast.Name)}
    if used & NUMPY:
        importlib.import_module("numpy")
    known = {**vars(math), **vars(builtins), **_known_names()}
    return {"__builtins__": {}, **{name: known[name] for name in used & known.keys()}}


# Programs and tests


class _Discarded(io.TextIOBase):
    def write(self, text: str, /) -> int:
        return len(text)


@contextlib.contextmanager
def output_discarded() -> Iterator[None]:
    """Discards what a program prints."""
    with contextlib.redirect_stdout(_Discarded()), contextlib.redirect_stderr(_Discarded()):
        yield


def load(program: str) -> dict[str, Any]:
    """Executes a program as a fresh module named `program` and gives its names."""
    module = types.ModuleType("program")
    module.__file__ = FILE
    sys.modules["program"] = module
    _restore_removed_names()
    linecache.cache[FILE] = (len(program), None, program.splitlines(keepends=True), FILE)
    exec(compile(program, FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 (in the sandbox)
    return module.__dict__


def _restore_removed_names() -> None:
    """What NumPy 2 took from programs of DREval: the name `mat`, and float() of a matrix of one element."""
    numpy = sys.modules.get("numpy")
    if numpy is None or hasattr(numpy, "mat"):
        return

    class matrix(numpy.matrix):  # type: ignore[misc, name-defined]  # noqa: N801 (shows as its base)
        def __float__(self) -> float:
            return float(self.item())

    matrix.__module__, matrix.__qualname__ = "numpy", "matrix"
    numpy.mat = lambda data, dtype=None: numpy.asmatrix(data, dtype).view(matrix)  # type: ignore[attr-defined]


def seed_generators(seed: int) -> None:
    """Seeds the global random generators; a program's own seed still has its effect."""
    random.seed(seed)
    of_numpy = sys.modules.get("numpy.random")
    if of_numpy is not None:
        of_numpy.seed(seed)


def _names_of_test(program: dict[str, Any], run: dict[str, str]) -> dict[str, Any]:
    """What the statements of a test method see, behind its set-up: `self`, and assertions without `self.`."""
    known = dict(program)
    module = run["test"]
    linecache.cache[TEST_FILE] = (len(module), None, module.splitlines(keepends=True), TEST_FILE)
    exec(compile(module, TEST_FILE, "exec", dont_inherit=True), known)  # noqa: S102 (in the sandbox)
    case = known[run["class"]](run["method"])
    type(case).setUpClass()
    case.setUp()
    assertions = {name: getattr(case, name) for name in dir(case) if name.startswith("assert")}
    return {**known, **assertions, "self": case}


def prepared(program: str, run: dict[str, str]) -> Callable[[], Any]:
    """Loads a program and gives a function that makes one run of it.

    Args:
        program: the source; it is loaded anew.
        run: `{"function", "arguments"}` (source of a tuple), or `{"test", "class", "method", "body"}`.
    """
    names = load(program)
    if "test" in run:
        known, body = _names_of_test(names, run), compile(run["body"], TEST_FILE, "exec", dont_inherit=True)
        return lambda: exec(body, known)  # noqa: S102 (in the sandbox)
    arguments = eval(run["arguments"], names)  # noqa: S307 (in the sandbox)
    return lambda: names[run["function"]](*arguments)


def check(program: str, run: dict[str, str], completed: str, values: dict[str, Any]) -> str:
    """Runs a completed test with a freshly loaded program.

    Args:
        program: the source.
        run: as of `prepared`; only the set-up of a test counts.
        completed: the test, in which names stand for what answers state.
        values: plain data by these names; `("function", source)` for a function that the runner has checked,
            `("stub", value, whole)` for a call that stubs the program from there on.

    Returns:
        Why it failed; empty where it ran through.
    """
    seed_generators(0)
    with output_discarded():
        try:
            names = load(program)
            if "test" in run:
                names = _names_of_test(names, run)
            known = dict(names)
            for name, plain in values.items():
                match plain:
                    case ("function", str(source)):
                        known[name] = eval(source, _names_in(source))  # noqa: S307 (a checked tree)
                    case ("stub", value, whole):
                        known[name] = functools.partial(_stub, value, whole)
                    case _:
                        known[name] = _built(plain)
            exec(compile(completed, TEST_FILE, "exec", dont_inherit=True), known)  # noqa: S102 (in the sandbox)
        except BaseException as error:  # a program may raise anything, SystemExit too
            return f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def _stub(value: Any, whole: bool) -> None:
    """Lets functions and methods of the loaded program give one value from now on; attributes if `whole`."""

    def constant(*_: Any, **__: Any) -> Any:
        return value

    def attribute(owner: Any, name: str) -> Any:
        real = object.__getattribute__(owner, name)
        if name.startswith("__"):
            return real
        return constant if callable(real) else value

    module = sys.modules["program"]
    vars(module)["_STUB"] = value
    for thing in list(vars(module).values()):
        if isinstance(thing, types.FunctionType) and thing.__module__ == "program":
            thing.__code__ = (lambda *_, **__: _STUB).__code__  # type: ignore[name-defined]  # noqa: F821
        elif isinstance(thing, type) and thing.__module__ == "program":
            for name, member in list(vars(thing).items()):
                if isinstance(member, types.FunctionType | staticmethod | classmethod) and name[:2] != "__":
                    setattr(thing, name, staticmethod(constant))
            if whole:
                thing.__getattribute__ = attribute  # type: ignore[method-assign, assignment]
