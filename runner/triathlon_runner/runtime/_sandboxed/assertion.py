"""Executes a completed assertion against its program."""

import contextlib
import datetime
import inspect
import sys
from collections import Counter, OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

from triathlon_runner.runtime._sandboxed.programs import (
    Nowhere,
    compile_statements,
    load,
    names_of_test,
    run_coroutine,
    seed_chance,
)


def check(program: str, run: dict[str, str], completed: str) -> str:
    """Empty where the completed text runs through; else what it raised."""
    seed_chance(0)
    with contextlib.redirect_stdout(Nowhere()), contextlib.redirect_stderr(Nowhere()):
        try:
            names = load(program)
            if "test" in run:
                names = names_of_test(names, run)
            result = eval(compile_statements(completed), {**_constructors(), **names})  # noqa: S307 (in the sandbox)
            if inspect.iscoroutine(result):
                run_coroutine(result)
        except BaseException as error:  # a program may raise anything, SystemExit too
            return f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def _constructors() -> dict[str, Any]:
    """What the text of a value may use, where the program does not define it itself."""
    names: dict[str, Any] = {
        "nan": float("nan"),
        "inf": float("inf"),
        "datetime": datetime,
        "Counter": Counter,
        "OrderedDict": OrderedDict,
        "deque": deque,
        "defaultdict": lambda *content: dict(content[-1]) if content else {},
        "Decimal": Decimal,
        "Fraction": Fraction,
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        names |= {"array": numpy.array, "np": numpy, "numpy": numpy}
    return names
