"""Our own problems as tasks of the translation loop: those whose values every language has."""

import ast
from collections.abc import Sequence

from triathlon_runner.datasets import Problem, core
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Call, Ended, Job, Language, Returned, Sandbox, SandboxError, Source
from triathlon_runner.translation._task import CoreTask
from triathlon_runner.translation._values import crosses, plain

_ARGUMENTS = "_triathlon_arguments"
_ECHO = f"\n\ndef {_ARGUMENTS}(*values):\n    return list(values)\n"
"""Inputs are source text, which only a sandbox evaluates."""


async def core_tasks(sandbox: Sandbox) -> Sequence[CoreTask]:
    """Every seed that can cross.

    Raises:
        SandboxError: a reference could not be executed.
    """
    candidates = [await core_task(problem, sandbox) for problem in core.problems("seeds")]
    return [task for task in candidates if task is not None and await _passes_own_tests(task, sandbox)]


async def core_task(problem: Problem, sandbox: Sandbox) -> CoreTask | None:
    """One problem as a task; None where its values or its comparison do not cross.

    Raises:
        SandboxError: the reference could not be executed.
    """
    return await _task(problem, sandbox) if _can_cross(problem) else None


def _can_cross(problem: Problem) -> bool:
    """Whether plain comparison of plain values grades it, and its function takes its arguments by place."""
    return problem.comparison.oracle in ("exact", "close") and _parameters(problem) is not None


def _parameters(problem: Problem) -> tuple[str, ...] | None:
    for statement in ast.parse(problem.reference).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == problem.entry_point:
            arguments = statement.args
            if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
                return None
            return tuple(argument.arg for argument in [*arguments.posonlyargs, *arguments.args])
    return None


async def _passes_own_tests(task: CoreTask, sandbox: Sandbox) -> bool:
    """Whether the reference passes on values that went through JSON: some need a tuple, not a list."""
    verdict = await task.grade(task.start, Language.PYTHON, sandbox)
    return verdict.outcome is Outcome.PASSED


async def _task(problem: Problem, sandbox: Sandbox) -> CoreTask | None:
    """None where a value does not cross, or the reference raises on an input."""
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
        parameters=_parameters(problem) or (),
        cases=tuple(
            (tuple(plain(arguments)), plain(expected))
            for arguments, expected in zip(values[::2], values[1::2], strict=True)
        ),
        tolerance=problem.comparison.tolerance,
    )
