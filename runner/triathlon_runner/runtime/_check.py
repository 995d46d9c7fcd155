"""Computes what an answer states, without the program; executes completed tests with the program."""

from collections.abc import Mapping, Sequence
from typing import Any

from triathlon_runner.runtime._expressions import InvalidAnswerError, plain_value
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
from triathlon_runner.syntax import parse_expression


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


async def compute_values(
    sandbox: Sandbox, computed: Mapping[str, str], libraries: frozenset[str]
) -> dict[str, Any]:
    """The plain data of each expression's value; no program is there.

    Raises:
        NoValueError: an expression raises, or takes too long.
        InvalidAnswerError: what it comes to is no plain value.
        SandboxError: the sandbox itself failed.
    """
    calls = [Call("compute", (expression,)) for expression in computed.values()]
    results = await run_calls(sandbox, "programs", calls, libraries & {"numpy"}, restart=False)
    values: dict[str, Any] = {}
    for name, result in zip(computed, results, strict=False):
        if not isinstance(result, Returned):
            raise NoValueError(_problem(result))
        match result.value:
            case [str(text), ""]:
                values[name] = _read_value(text)
            case [_, str(why)]:
                raise InvalidAnswerError(f"what is stated is no plain value: {why}")
            case _:
                raise InvalidAnswerError("what is stated is no plain value")
    return values


def _read_value(text: str) -> Any:
    """Reads what the child says that an expression came to; the child is trusted no more than the answer."""
    try:
        return plain_value(parse_expression(text))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InvalidAnswerError("what is stated is no plain value") from None


async def check_assertions(
    sandbox: Sandbox,
    program: str,
    assertions: Sequence[tuple[Mapping[str, str], str, Mapping[str, Any]]],
    libraries: frozenset[str],
) -> list[str]:
    """Returns for each test why it failed, or an empty text. The program is loaded anew for each.

    A test is the run (`ProgramQuestions.run_of`), the completed text, and the names in it that stand for
    values, with the plain data of these.

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
