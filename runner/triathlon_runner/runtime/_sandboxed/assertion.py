"""Executes a completed assertion against its program."""

import contextlib
import inspect

from triathlon_runner.runtime._sandboxed.constructors import constructors
from triathlon_runner.runtime._sandboxed.programs import (
    DiscardedOutput,
    compile_statements,
    load,
    names_of_test,
    run_coroutine,
    seed_generators,
)


def check(program: str, run: dict[str, str], completed: str, values: dict[str, str]) -> str:
    """Empty where the completed text runs through; else what it raised.

    Args:
        program: the source; it is loaded anew.
        run: `{"test", "class", "method"}` for the text of a test, whose set-up runs first.
        completed: the statements.
        values: names in them with the text of what they stand for.
    """
    seed_generators(0)
    with contextlib.redirect_stdout(DiscardedOutput()), contextlib.redirect_stderr(DiscardedOutput()):
        try:
            names = load(program)
            if "test" in run:
                names = names_of_test(names, run)
            known = {**constructors(), **names, **{name: _read(text) for name, text in values.items()}}
            result = eval(compile_statements(completed), known)  # noqa: S307 (in the sandbox)
            if inspect.iscoroutine(result):
                run_coroutine(result)
        except BaseException as error:  # a program may raise anything, SystemExit too
            return f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def _read(text: str) -> object:
    """A value from its text; the program's own names mean nothing in it."""
    return eval(compile(text, "<value>", "eval", dont_inherit=True), constructors())  # noqa: S307 (in the sandbox)
