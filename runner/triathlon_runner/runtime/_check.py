"""Computes values that fill a mask, without the program; executes completed assertions with the program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triathlon_runner.runtime._assertions import Filled, InvalidAnswerError
from triathlon_runner.runtime._sandboxed import source
from triathlon_runner.runtime._trace import Run
from triathlon_runner.sandbox import Call, Ended, Job, Limits, Returned, Sandbox, SandboxError


@dataclass(frozen=True, slots=True)
class Assertion:
    """A completed text of one run of a program."""

    run: Run
    completed: str
    values: Mapping[str, str] = field(default_factory=dict)
    """Names in it that stand for values, with their text."""


@dataclass(frozen=True, slots=True)
class NoValueError(Exception):
    """An expression has no value; `problem` has the form of a result of `check_assertions`."""

    problem: str


async def compute_values(sandbox: Sandbox, filled: Filled, libraries: frozenset[str]) -> dict[str, str]:
    """The text of each value that a filled text leaves to compute; the program is not there.

    Raises:
        NoValueError: an expression raises, or takes too long.
        InvalidAnswerError: what it comes to is no plain value.
        SandboxError: the sandbox itself failed.
    """
    if not filled.computed:
        return {}
    calls = tuple(
        Call("compute", (list(filled.imports), filled.setup, expression))
        for expression in filled.computed.values()
    )
    execution = await sandbox.run(_job("value", calls, libraries & {"numpy"}))
    if execution.ended is Ended.NOT_LOADED:
        raise SandboxError(f"the program that computes values could not be loaded: {execution.results}")
    values: dict[str, str] = {}
    for name, result in zip(filled.computed, execution.results, strict=False):
        if not isinstance(result, Returned):
            raise NoValueError(_writable(str(result)))
        match result.value:
            case [str(text), str(why)] | (str(text), str(why)):
                if why:
                    raise InvalidAnswerError(f"what fills the mask is no plain value: {why}")
                values[name] = text
            case _:
                raise InvalidAnswerError("what fills the mask is no plain value")
    if len(values) < len(calls):
        raise NoValueError(f"{execution.ended.value}: {execution.detail}")
    return values


async def check_assertions(
    sandbox: Sandbox, program: str, asked: Sequence[Assertion], libraries: frozenset[str]
) -> list[str]:
    """Returns for each assertion why it failed, or an empty text. The program is loaded anew for each.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    problems: list[str] = []
    while len(problems) < len(asked):
        rest = asked[len(problems) :]
        calls = tuple(
            Call("check", (program, assertion.run.plain(), assertion.completed, dict(assertion.values)))
            for assertion in rest
        )
        execution = await sandbox.run(_job("assertion", calls, libraries))
        if execution.ended is Ended.NOT_LOADED:
            raise SandboxError(f"the assertion runner could not be loaded: {execution.results}")
        for result in execution.results:
            if isinstance(result, Returned):
                problems.append(_writable(result.value) if isinstance(result.value, str) else "not a verdict")
            else:
                problems.append(_writable(str(result)))
        if len(execution.results) < len(rest):
            problems.append(f"{execution.ended.value}: {execution.detail}")
    return problems


def _job(program: str, calls: tuple[Call, ...], libraries: frozenset[str]) -> Job:
    limits = Limits(cpu_seconds=4.0 + len(calls))
    return Job(source(program), calls, limits=limits, libraries=libraries)


def _writable(message: str) -> str:
    """The message with every half of a surrogate pair, which UTF-8 cannot encode, written as `\\ud800`."""
    return message.encode("utf-8", "backslashreplace").decode("utf-8")
