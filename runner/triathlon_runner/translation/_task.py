"""Our own problems as tasks of the translation loop: their values cross to every language as JSON."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from triathlon_runner.datasets import Problem, core
from triathlon_runner.grading import TEST_LIMITS, Fault, grade_results, shown
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Job,
    Language,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    Source,
)
from triathlon_runner.translation._languages import opening
from triathlon_runner.translation._values import crosses, plain, same

_ARGUMENTS = "_triathlon_arguments"
_ECHO = f"\n\ndef {_ARGUMENTS}(*values):\n    return list(values)\n"
"""Inputs are source text, which only a sandbox evaluates."""


@dataclass(frozen=True, slots=True)
class CoreTask:
    """One of our own problems: its cases cross to every language as JSON."""

    task_id: str
    level: int | None
    start: str
    entry_point: str
    parameters: tuple[str, ...]
    cases: tuple[tuple[tuple[Any, ...], Any], ...]
    """(arguments, expected) as plain values."""
    tolerance: float = 0.0

    def name(self, _language: Language) -> str:
        return self.entry_point

    def opening(self, language: Language) -> str:
        return opening(language, self.entry_point, self.parameters)

    async def grade(self, program: str, language: Language, sandbox: Sandbox) -> Verdict:
        """Executes a program with the tests of its language.

        Raises:
            SandboxError: our machinery failed.
        """
        calls = tuple(Call(self.entry_point, arguments) for arguments, _ in self.cases)
        job = Job(program, calls, language, limits=TEST_LIMITS)
        return await grade_results(sandbox, job, _CoreResults(self, language))


@dataclass(frozen=True, slots=True)
class _CoreResults:
    """What a program in this language has to return: Python's values, as far as the language has them."""

    task: CoreTask
    language: Language

    def fault(self, index: int, result: Sent | Raised) -> Fault | None:
        if isinstance(result, Raised):
            return Fault.exception(result)
        expected, got = self.task.cases[index][1], result.value()
        right = same(expected, got, self.language, self.task.tolerance)
        return None if right else Fault(Outcome.FAILED, shown(got))

    def texts(self, index: int) -> tuple[str, str]:
        arguments, expected = self.task.cases[index]
        return ", ".join(map(shown, arguments)), shown(expected)


async def core_tasks(sandbox: Sandbox) -> Sequence[CoreTask]:
    """Every seed that can cross, and whose reference passes on values that went through JSON.

    Some need a tuple, not a list.

    Raises:
        SandboxError: a reference could not be executed.
    """
    candidates = [await core_task(problem, sandbox) for problem in core.problems("seeds")]
    return [
        task
        for task in candidates
        if task and (await task.grade(task.start, Language.PYTHON, sandbox)).outcome is Outcome.PASSED
    ]


async def core_task(problem: Problem, sandbox: Sandbox) -> CoreTask | None:
    """One problem as a task; None where its values or its comparison do not cross, or its reference raises.

    Raises:
        SandboxError: the reference could not be executed.
    """
    parameters = _parameters(problem)
    if problem.comparison.oracle not in ("exact", "close") or parameters is None:
        return None
    calls = tuple(
        Call(function, Source(text))
        for text in problem.inputs
        for function in (_ARGUMENTS, problem.entry_point)
    )
    execution = await sandbox.run(Job(problem.reference + _ECHO, calls, libraries=problem.libraries))
    if execution.ended is not Ended.FINISHED or len(execution.results) != len(calls):
        raise SandboxError(f"the reference of {problem.task_id} could not be executed: {execution.detail}")
    values = [result.value for result in execution.results if isinstance(result, Returned)]
    if len(values) != len(calls) or not all(map(crosses, values)):
        return None
    return CoreTask(
        task_id=problem.task_id,
        level=problem.level,
        start=problem.reference,
        entry_point=problem.entry_point,
        parameters=parameters,
        cases=tuple(
            (tuple(plain(arguments)), plain(expected))
            for arguments, expected in zip(values[::2], values[1::2], strict=True)
        ),
        tolerance=problem.comparison.tolerance,
    )


def _parameters(problem: Problem) -> tuple[str, ...] | None:
    """The names of the reference's parameters; None where it does not take them all by place."""
    for statement in ast.parse(problem.reference).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == problem.entry_point:
            arguments = statement.args
            if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
                return None
            return tuple(argument.arg for argument in [*arguments.posonlyargs, *arguments.args])
    return None
