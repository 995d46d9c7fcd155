"""Runs a program on one input as REval's own tracer sees it: every event, with what its frame holds then.

Each `line` and `return` event of any function is a step. The values are from before the line; `__init__`'s
`return` is a step as any other.
"""

import contextlib
import sys
from types import CodeType, FrameType
from typing import Any

from triathlon_runner.runtime._sandboxed.literal import (
    NO_VARIABLES,
    LiteralWriter,
    NoLiteralFormError,
    foreign_repr,
    type_name,
)
from triathlon_runner.runtime._sandboxed.programs import (
    FILE,
    DiscardedOutput,
    compile_statements,
    load,
    names_of_test,
    seed_generators,
)

_CHARACTERS = 20_000
"""Of one value."""


def events(program: str, run: dict[str, str], variables: list[str]) -> list[list[Any]]:
    """Every event of one run: the line, and of each variable type, text and whether that is a literal.

    None stands for a variable that the event's frame does not have.
    """
    seed_generators(0)
    codes = [compile(variable, "<variable>", "eval") for variable in variables]
    steps: list[list[Any]] = []

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != FILE:
            return None
        if event in ("line", "return"):
            sys.settrace(None)
            steps.append([frame.f_lineno, [_shown(code, frame) for code in codes]])
            sys.settrace(trace)
        return trace

    with contextlib.redirect_stdout(DiscardedOutput()), contextlib.redirect_stderr(DiscardedOutput()):
        names = load(program)
        if "test" in run:
            known, body = names_of_test(names, run), compile_statements(run["body"])
            sys.settrace(trace)
            eval(body, known)  # noqa: S307 (in the sandbox)
        else:
            arguments = eval(run["arguments"], names)  # noqa: S307 (in the sandbox)
            sys.settrace(trace)
            names[run["function"]](*arguments)
        sys.settrace(None)
    return steps


def _shown(code: CodeType, frame: FrameType) -> list[Any] | None:
    try:
        value = eval(code, {"__builtins__": {}}, {**frame.f_locals})  # noqa: S307 (in the sandbox)
    except Exception:  # a program's own attributes may raise anything
        return None
    if isinstance(value, NO_VARIABLES):
        return None
    try:
        return [type_name(value), LiteralWriter(_CHARACTERS).text(value), True]
    except NoLiteralFormError as error:
        return [type_name(value), "" if error.too_large else foreign_repr(value, _CHARACTERS), False]
