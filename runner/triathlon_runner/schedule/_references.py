"""Whether the references of a user's problems pass their own tests: what fails cannot grade a model."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from triathlon_runner.concurrency import run_all
from triathlon_runner.datasets import FunctionProblem, TestedProblem
from triathlon_runner.datasets.user import UserProblem, UserProblems
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader, ReferenceFailedError, UngradableError
from triathlon_runner.memo import memo_key
from triathlon_runner.records import Outcome
from triathlon_runner.syntax import import_statements, third_party

_SHOWN: Final = 20
"""Refused problems that are named; the others are counted."""


async def check_references(problems: UserProblems, grader: Grader, passed: Path) -> None:
    """Executes every reference of one file on its problem's inputs, tests and example.

    The folder `passed` gets a note of each file that passed, so that it is executed once.

    Raises:
        UserError: naming each problem whose reference fails, with what happened.
        SandboxError: our machinery failed.
    """
    note = passed / memo_key("references", *problems.problems)
    if note.exists():
        return
    faults = [fault for fault in await run_all(_fault(each, grader) for each in problems.problems) if fault]
    if faults:
        more = [f"and {len(faults) - _SHOWN} more problems"] if len(faults) > _SHOWN else []
        raise UserError("\n".join([*faults[:_SHOWN], *more]))
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()


async def _fault(user_problem: UserProblem, grader: Grader) -> str:
    """Why the problem cannot grade a model, in words; empty where it can."""
    for problem in (user_problem.problem, *user_problem.tests):
        promise = (
            "passes its own tests" if isinstance(problem, TestedProblem) else "returns the same each time"
        )
        expected = f"{user_problem.place}: expected a reference that {promise}, got"
        try:
            verdict = await grader.grade(problem.reference, _without_reference(problem))
        except (UngradableError, ReferenceFailedError) as error:
            return f"{expected}: {error}; mend one of them"
        if verdict.outcome is not Outcome.PASSED:
            failing = verdict.failing
            where = f"{failing.input} gave {failing.got} at {failing.expected}" if failing else verdict.detail
            return f"{expected} {verdict.outcome}: {where}; mend one of them"
    return ""


def _without_reference(problem: FunctionProblem) -> FunctionProblem:
    """Tests whose verdict on the reference is wanted: with a reference, one that fails them is an error.

    What the tests use of the modules that the reference imports stays.
    """
    if not isinstance(problem, TestedProblem):
        return problem
    imports = [line for line in import_statements(problem.reference) if not third_party(line)]
    return replace(problem, reference="", tests="\n".join([*imports, problem.tests]))
