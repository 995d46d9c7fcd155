"""Computes what an expression of plain values comes to, in a process without the program."""

import importlib
import math
from types import ModuleType
from typing import Any

from triathlon_runner.runtime._sandboxed.constructors import constructors
from triathlon_runner.runtime._sandboxed.literal import LiteralWriter, NoLiteralFormError

MAX_TEXT = 20_000
"""Characters of a value."""


def compute(imports: list[tuple[str, str]], setup: str, expression: str) -> tuple[str, str]:
    """The value's text, or an empty one and why it has none.

    Args:
        imports: names with what they stand for: `("np", "numpy")`, `("date", "datetime.date")`.
        setup: statements that give names their values.
        expression: what to compute.

    Raises:
        Exception: whatever the expression raises.
    """
    names = {**constructors(), "math": math, **dict(_imported(*name_and_path) for name_and_path in imports)}
    exec(compile(setup, "<test>", "exec", dont_inherit=True), names)  # noqa: S102 (in the sandbox)
    value = eval(compile(expression, "<answer>", "eval", dont_inherit=True), names)  # noqa: S307 (in the sandbox)
    try:
        return LiteralWriter(MAX_TEXT).text(value), ""
    except NoLiteralFormError as error:
        return "", str(error)


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
