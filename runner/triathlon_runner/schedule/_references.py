"""Whether the references of a user's problems pass their own tests: what fails cannot judge a model."""

import asyncio
import hashlib
from pathlib import Path
from typing import Final

from triathlon_runner.datasets.user import UserProblem, UserProblems
from triathlon_runner.engine import ENGINE_VERSION
from triathlon_runner.errors import UserError, leaves
from triathlon_runner.grading import Grader, ReferenceFailedError, UnjudgeableError
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import SandboxError

_SHOWN: Final = 20
"""Refused problems that are named; the others are counted."""


async def check_references(problems: UserProblems, grader: Grader, passed: Path) -> None:
    """Executes every reference on its problem's inputs, tests and example.

    Args:
        problems: of one file.
        grader: executes and judges.
        passed: a folder in which is noted which files passed, so that each is executed once.

    Raises:
        UserError: naming each problem whose reference fails, with what happened.
        SandboxError: our machinery failed.
    """
    note = passed / hashlib.sha256(f"{problems.sha256} {ENGINE_VERSION}".encode()).hexdigest()[:32]
    if note.exists():
        return
    try:
        async with asyncio.TaskGroup() as group:
            checks = [group.create_task(_fault(one, grader)) for one in problems.problems]
    except* SandboxError as errors:
        raise next(leaves(errors)) from errors
    faults = [fault for check in checks if (fault := check.result())]
    if faults:
        more = [f"and {len(faults) - _SHOWN} more problems"] if len(faults) > _SHOWN else []
        raise UserError("\n".join([*faults[:_SHOWN], *more]))
    _write(note)


def _write(note: Path) -> None:
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()


async def _fault(one: UserProblem, grader: Grader) -> str:
    """Why the problem cannot judge a model, in words; empty where it can."""
    for problem in (one.problem, *one.tests):
        try:
            verdict = await grader.judge(problem.reference, problem)
        except (UnjudgeableError, ReferenceFailedError) as error:
            return (
                f"{one.place}: expected a reference that passes its own tests, got: {error}; mend one of them"
            )
        if verdict.outcome is not Outcome.PASSED:
            return (
                f"{one.place}: expected a reference that returns the same on the same input each time, got"
                f" {verdict.outcome} ({verdict.detail or 'its results differ'}); mend it"
            )
    return ""
