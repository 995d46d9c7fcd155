"""Loads a program and the test around it, checks assertions with it, and computes values without it."""

import ast
import builtins
import contextlib
import functools
import importlib
import io
import linecache
import math
import random
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from triathlon_runner.runtime._sandboxed.literal import (
    MAX_TEXT,
    NUMPY,
    LiteralWriter,
    build,
    known_names,
)

FILE = "<traced>"
TEST_FILE = "<test>"


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
    module = ModuleType("program")
    module.__file__ = FILE
    sys.modules["program"] = module
    _restore_removed_names()
    linecache.cache[FILE] = (len(program), None, io.StringIO(program, newline=None).readlines(), FILE)
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


def names_of_test(program: dict[str, Any], run: dict[str, str]) -> dict[str, Any]:
    """What the statements of a test method see, behind its set-up: `self`, and assertions without `self.`."""
    known = dict(program)
    module = run["test"]
    linecache.cache[TEST_FILE] = (len(module), None, io.StringIO(module, newline=None).readlines(), TEST_FILE)
    exec(compile(module, TEST_FILE, "exec", dont_inherit=True), known)  # noqa: S102 (in the sandbox)
    case = known[run["class"]](run["method"])
    type(case).setUpClass()
    case.setUp()
    assertions = {name: getattr(case, name) for name in dir(case) if name.startswith("assert")}
    return {**known, **assertions, "self": case}


def prepared(program: str, run: dict[str, str]) -> Callable[[], Any]:
    """Loads a program anew and gives a function that makes one run of it.

    `run` is `{"function", "arguments"}` (source of a tuple), or `{"test", "class", "method", "body"}`.
    """
    names = load(program)
    if "test" in run:
        known, body = names_of_test(names, run), compile(run["body"], TEST_FILE, "exec", dont_inherit=True)
        return lambda: exec(body, known)  # noqa: S102 (in the sandbox)
    arguments = eval(run["arguments"], names)  # noqa: S307 (in the sandbox)
    return lambda: names[run["function"]](*arguments)


def check(program: str, run: dict[str, str], completed: str, values: dict[str, Any]) -> str:
    """Executes a completed test with its program, loaded anew; returns what it raised, empty for nothing.

    `run` is `{"test", "class", "method"}` for the text of a test, whose set-up runs first. `values` are names
    in the test with the plain data of their values: `("function", source)` is a function of values, `("stub",
    value, whole)` one that, when called, lets all functions of the program return this value; `whole`: all
    attributes of its objects, too.
    """
    seed_generators(0)
    with output_discarded():
        try:
            names = load(program)
            if "test" in run:
                names = names_of_test(names, run)
            known = {**names, **{name: _made(plain) for name, plain in values.items()}}
            exec(compile(completed, TEST_FILE, "exec", dont_inherit=True), known)  # noqa: S102 (in the sandbox)
        except BaseException as error:  # a program may raise anything, SystemExit too
            return f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def _made(plain: Any) -> Any:
    match plain:
        case ("function", str(source)):
            return eval(source, _names_in(source))  # noqa: S307 (a checked tree, printed by the runner)
        case ("stub", value, whole):
            return functools.partial(_stub, value, whole)
    return build(plain)


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
        if isinstance(thing, FunctionType) and thing.__module__ == "program":
            thing.__code__ = (lambda *_, **__: _STUB).__code__  # type: ignore[name-defined]  # noqa: F821
        elif isinstance(thing, type) and thing.__module__ == "program":
            for name, member in list(vars(thing).items()):
                if isinstance(member, FunctionType | staticmethod | classmethod) and name[:2] != "__":
                    setattr(thing, name, staticmethod(constant))
            if whole:
                thing.__getattribute__ = attribute  # type: ignore[method-assign, assignment]


def compute(expression: str) -> str:
    """The text of what an expression comes to. No program is loaded.

    Raises:
        NoLiteralFormError: it has none.
        Exception: whatever the expression raises.
    """
    value = eval(expression, _names_in(expression))  # noqa: S307 (in the sandbox)
    return LiteralWriter(MAX_TEXT).text(value)


def _names_in(source: str) -> dict[str, Any]:
    """The global names of an expression: builtins, functions of `math`, and constructors of values."""
    used = {node.id for node in ast.walk(ast.parse(source, mode="eval")) if isinstance(node, ast.Name)}
    if used & NUMPY:
        importlib.import_module("numpy")
    known = {**vars(math), **vars(builtins), **known_names()}
    return {"__builtins__": {}, **{name: known[name] for name in used & known.keys()}}
