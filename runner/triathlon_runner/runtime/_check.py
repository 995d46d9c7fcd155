"""Computes values that fill a mask, without the program; executes completed assertions with the program."""

from collections.abc import Mapping, Sequence

from triathlon_runner.runtime._assertions import Filled
from triathlon_runner.runtime._fillings import InvalidAnswerError
from triathlon_runner.runtime._sandboxed import source
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Execution,
    Job,
    Limits,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
)


class NoValueError(Exception):
    """An expression has no value; the message has the form of a result of `check_assertions`."""


async def run_calls(
    sandbox: Sandbox,
    name: str,
    calls: Sequence[Call],
    libraries: frozenset[str],
    *,
    cpu_seconds: tuple[float, float] = (4.0, 1.0),
    restart: bool = True,
) -> list[Returned | Raised | Execution]:
    """The result of each call of a program of `_sandboxed`; of one that ended its child, the execution.

    A child gets `cpu_seconds`, the second number for each of its calls. Where a call ends its child, those
    behind it are made in another child; without `restart` they are not made.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    results: list[Returned | Raised | Execution] = []
    while len(results) < len(calls):
        rest = tuple(calls[len(results) :])
        limits = Limits(cpu_seconds=cpu_seconds[0] + cpu_seconds[1] * len(rest))
        execution = await sandbox.run(Job(source(name), rest, limits=limits, libraries=libraries))
        if execution.ended is Ended.NOT_LOADED:
            raise SandboxError(f"{name!r} could not be loaded: {execution.results} {execution.detail}")
        results += execution.results
        if len(execution.results) < len(rest):
            results.append(execution)
            if not restart:
                break
    return results


async def compute_values(sandbox: Sandbox, filled: Filled, libraries: frozenset[str]) -> dict[str, str]:
    """The text of each value that a filled text leaves to compute; the program is not there.

    Raises:
        NoValueError: an expression raises, or takes too long.
        InvalidAnswerError: what it comes to is no plain value.
        SandboxError: the sandbox itself failed.
    """
    calls = [
        Call("compute", (list(filled.imports), filled.setup, expression))
        for expression in filled.computed.values()
    ]
    results = await run_calls(sandbox, "programs", calls, libraries & {"numpy"}, restart=False)
    values: dict[str, str] = {}
    for name, result in zip(filled.computed, results, strict=False):
        if not isinstance(result, Returned):
            raise NoValueError(_problem(result))
        match result.value:
            case [str(text), ""]:
                values[name] = text
            case [str(), str(why)]:
                raise InvalidAnswerError(f"what fills the mask is no plain value: {why}")
            case _:
                raise InvalidAnswerError("what fills the mask is no plain value")
    return values


async def check_assertions(
    sandbox: Sandbox,
    program: str,
    assertions: Sequence[tuple[Mapping[str, str], str, Mapping[str, str]]],
    libraries: frozenset[str],
) -> list[str]:
    """Returns for each assertion why it failed, or an empty text. The program is loaded anew for each.

    An assertion is the run (`ProgramQuestions.run_of`), the completed text, and the names in it that stand
    for values, with the text of these.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    calls = [Call("check", (program, dict(run), text, dict(values))) for run, text, values in assertions]
    results = await run_calls(sandbox, "programs", calls, libraries)
    return [_problem(result) for result in results]


def _problem(result: Returned | Raised | Execution) -> str:
    """What a call says in words; a half of a surrogate pair, which UTF-8 cannot encode, is `\\ud800`."""
    if isinstance(result, Execution):
        problem = f"{result.ended.value}: {result.detail}"
    elif isinstance(result, Raised):
        problem = str(result)
    else:
        problem = result.value if isinstance(result.value, str) else "not a verdict"
    return problem.encode("utf-8", "backslashreplace").decode("utf-8")
