"""What has to be there before a model is asked: data, languages, libraries, references that pass."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from triathlon_runner.concurrency import run_all
from triathlon_runner.datasets import DataStore, DataUnavailableError, TestedProblem
from triathlon_runner.datasets.user import UserProblem, UserProblems
from triathlon_runner.errors import UserError
from triathlon_runner.grading import REFERENCE_LIMITS, Grader, UngradableError
from triathlon_runner.memo import memo_key
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, Sandbox, try_language
from triathlon_runner.suites import OFFICIAL_EXTRA, SuiteEntry, UsesLibraries
from triathlon_runner.syntax import import_statements, not_installed, third_party
from triathlon_runner.terminal import duration, first_of, print_error

_REFUSED_SHOWN: Final = 20
"""Refused problems that are named; the others are counted."""
_RUNNING_SHOWN: Final = 3
_PROGRESS_SECONDS: Final = 10.0


async def faults_of_languages(entries: Iterable[SuiteEntry], sandbox: Sandbox) -> dict[Language, str]:
    """Returns why each language of the suites cannot be executed there; empty where it can."""
    languages = dict.fromkeys(language for entry in entries for language in entry.languages)
    return {language: (await try_language(sandbox, language)).fault for language in languages}


@dataclass(frozen=True, slots=True)
class Missing:
    """What one suite lacks."""

    what: str
    """And how to get it, in words."""
    runs: bool
    """Whether it can run without that, with fewer tasks."""


async def what_is_missing(
    entries: Sequence[SuiteEntry], data: DataStore, sandbox: Sandbox
) -> dict[str, Missing]:
    """Returns what each suite lacks here, by id; suites that can run whole are not in it.

    Reads their data, and fetches it where that is allowed.

    Raises:
        SandboxError: nothing can be executed here.
    """
    faults = await faults_of_languages(entries, sandbox)
    missing = {}
    for entry in entries:
        lacks = [fault for language in entry.languages if (fault := faults[language])]
        absent: Sequence[str] = ()
        try:
            suite = entry.build(data)
            absent = not_installed(suite.libraries()) if isinstance(suite, UsesLibraries) else ()
        except DataUnavailableError as error:
            lacks.append(str(error))
        runs = not lacks
        if absent:
            lacks.append(f"programs need {', '.join(absent)}, which {OFFICIAL_EXTRA} installs")
        if lacks:
            missing[entry.id] = Missing("; ".join(lacks), runs)
    return missing


async def check_references(problems: UserProblems, grader: Grader, passed: Path) -> None:
    """Executes every reference of one file: what fails its own inputs, tests or example can grade no model.

    The folder `passed` gets a note of each file that passed, so that it is executed once.

    Raises:
        UserError: naming each problem whose reference fails, with what happened.
        SandboxError: our machinery failed.
    """
    note = passed / memo_key("references", *problems.problems)
    if note.exists():
        return
    left = [each.place for each in problems.problems]

    async def fault_of(problem: UserProblem) -> str:
        fault = await _fault(problem, grader)
        left.remove(problem.place)
        return fault

    waiting = asyncio.create_task(_show_references(left))
    try:
        faults = [fault for fault in await run_all(map(fault_of, problems.problems)) if fault]
    finally:
        waiting.cancel()
    if faults:
        raise UserError("\n".join(first_of(faults, _REFUSED_SHOWN, " problems")))
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()


async def _show_references(left: Sequence[str]) -> None:
    """Prints every ten seconds which references have not ended; goes on until cancelled."""
    while True:
        await asyncio.sleep(_PROGRESS_SECONDS)
        print_error(
            f"executing references, each for at most {duration(REFERENCE_LIMITS.cpu_seconds)} of CPU time;"
            f" not ended: {'; '.join(first_of(left, _RUNNING_SHOWN))}"
        )


async def _fault(user_problem: UserProblem, grader: Grader) -> str:
    """Why the problem cannot grade a model, in words; empty where it can."""
    for problem in (user_problem.problem, *user_problem.tests):
        graded, promise = problem, "returns the same each time"
        if isinstance(problem, TestedProblem):
            promise = "passes its own tests"
            # With a reference, one that fails the tests is an error. What they use of its imports stays.
            imports = [line for line in import_statements(problem.reference) if not third_party(line)]
            graded = replace(problem, reference="", tests="\n".join([*imports, problem.tests]))
        expected = f"{user_problem.place}: expected a reference that {promise}, got"
        try:
            verdict = await grader.grade(problem.reference, graded)
        except UngradableError as error:
            return f"{expected}: {error}; fix one of them"
        if verdict.outcome is not Outcome.PASSED:
            failing = verdict.failing
            where = f"{failing.input} gave {failing.got} at {failing.expected}" if failing else verdict.detail
            return f"{expected} {verdict.outcome}: {where}; fix one of them"
    return ""
