"""Loading the program, and the test around it."""

import ast
import importlib
import io
import linecache
import random
import sys
from collections.abc import Coroutine
from types import CodeType, ModuleType
from typing import Any

FILE = "<traced>"
TEST_FILE = "<test>"


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
