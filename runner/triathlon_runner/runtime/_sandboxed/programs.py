"""Loads a program and the test around it, checks assertions with it, and computes values without it."""

import ast
import contextlib
import importlib
import inspect
import io
import linecache
import math
import random
import sys
from collections.abc import Coroutine
from types import CodeType, ModuleType
from typing import Any

from triathlon_runner.runtime._sandboxed.literal import LiteralWriter, NoLiteralFormError, constructors

FILE = "<traced>"
TEST_FILE = "<test>"
MAX_TEXT = 20_000
"""Characters of a computed value."""


class DiscardedOutput(io.TextIOBase):
    """A stream that discards what a program prints."""

    def write(self, text: str, /) -> int:
        return len(text)


def load(program: str) -> dict[str, Any]:
    """Executes a program as a fresh module named `program` and gives its names."""
    module = ModuleType("program")
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


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Runs it in an event loop; few programs need one, and importing asyncio is slow."""
    return importlib.import_module("asyncio").run(coroutine)


def compile_statements(text: str) -> CodeType:
    """The statements of a test as code of their own; `await` may stand in them."""
    code: CodeType = compile(text, TEST_FILE, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return code


def names_of_test(program: dict[str, Any], run: dict[str, str]) -> dict[str, Any]:
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


def check(program: str, run: dict[str, str], completed: str, values: dict[str, str]) -> str:
    """Executes a completed assertion with its program: empty where it runs through, else what it raised.

    Args:
        program: the source; it is loaded anew.
        run: `{"test", "class", "method"}` for the text of a test, whose set-up runs first.
        completed: the statements.
        values: names in them with the text of what they stand for, which knows no names of the program.
    """
    seed_generators(0)
    with contextlib.redirect_stdout(DiscardedOutput()), contextlib.redirect_stderr(DiscardedOutput()):
        try:
            names = load(program)
            if "test" in run:
                names = names_of_test(names, run)
            read = {name: _evaluate(text, "<value>", constructors()) for name, text in values.items()}
            known = {**constructors(), **names, **read}
            result = eval(compile_statements(completed), known)  # noqa: S307 (in the sandbox)
            if inspect.iscoroutine(result):
                run_coroutine(result)
        except BaseException as error:  # a program may raise anything, SystemExit too
            return f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def compute(imports: list[tuple[str, str]], setup: str, expression: str) -> tuple[str, str]:
    """What an expression of plain values comes to: its text, or an empty one and why it has none.

    Args:
        imports: names with what they stand for: `("np", "numpy")`, `("date", "datetime.date")`.
        setup: statements that give names their values.
        expression: what to compute; no program is loaded for it.

    Raises:
        Exception: whatever the expression raises.
    """
    names = {**constructors(), "math": math, **dict(_imported(*name_and_path) for name_and_path in imports)}
    exec(compile(setup, TEST_FILE, "exec", dont_inherit=True), names)  # noqa: S102 (in the sandbox)
    value = _evaluate(expression, "<answer>", names)
    try:
        return LiteralWriter(MAX_TEXT).text(value), ""
    except NoLiteralFormError as error:
        return "", str(error)


def _evaluate(text: str, file: str, names: dict[str, Any]) -> Any:
    return eval(compile(text, file, "eval", dont_inherit=True), names)  # noqa: S307 (in the sandbox)


def _imported(name: str, path: str) -> tuple[str, Any]:
    """The name with what an import statement binds to it; None where that cannot be imported."""
    package, _, last = path.rpartition(".")
    try:
        if not package:
            return name, importlib.import_module(path)
        thing = getattr(importlib.import_module(package), last, None)
    except ImportError:
        return name, None
    whole = isinstance(thing, ModuleType) and name == path.partition(".")[0]  # `import collections.abc`
    return name, importlib.import_module(name) if whole else thing
