"""What the translation loop begins with: our own problems whose values every language has, and MBXP."""

import ast
from collections.abc import Sequence
from typing import Final

from triathlon_runner.datasets import DataStore, Problem, core, official
from triathlon_runner.datasets.official import MbxpRow
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Call, Ended, Job, Language, Returned, Sandbox, SandboxError, Source
from triathlon_runner.translation._task import CoreTask, MbxpTask
from triathlon_runner.translation._values import crosses, plain

_ARGUMENTS = "_triathlon_arguments"
_ECHO = f"\n\ndef {_ARGUMENTS}(*values):\n    return list(values)\n"
"""Inputs are source text, which only a sandbox evaluates."""
WRONG_START: Final = frozenset({56, 64, 160, 349, 607, 631, 899, 966, 967})
"""Tasks whose Python reference fails its own tests, so that there is no correct program to begin with.

Found by `triathlon translation check`. Four of them are named `check`, as their test is; two
references are indented wrongly; three return what the test does not want.
"""


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


def joined(store: DataStore) -> tuple[MbxpTask, ...]:
    """The tasks that all five languages have, by number.

    Raises:
        DataUnavailableError: a data file is not here and cannot be fetched.
    """
    return tuple(
        MbxpTask(number, rows) for number, rows in _rows(store).items() if len(rows) == len(Language)
    )


def incomplete(store: DataStore) -> dict[int, tuple[Language, ...]]:
    """The other tasks, by number, with the languages that they lack.

    Raises:
        DataUnavailableError: a data file is not here and cannot be fetched.
    """
    return {
        number: tuple(language for language in Language if language not in rows)
        for number, rows in _rows(store).items()
        if len(rows) < len(Language)
    }


def _rows(store: DataStore) -> dict[int, dict[Language, MbxpRow]]:
    rows_by_number: dict[int, dict[Language, MbxpRow]] = {}
    for language in official.MBXP_LANGUAGES:
        for row in official.mbxp(store, language):
            rows_by_number.setdefault(row.number, {})[Language(language)] = row
    return dict(sorted(rows_by_number.items()))


def mbxp_tasks(store: DataStore) -> Sequence[MbxpTask]:
    """Those of them whose Python reference passes its tests."""
    return [task for task in joined(store) if task.number not in WRONG_START]
