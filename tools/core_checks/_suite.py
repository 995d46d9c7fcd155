"""Checking one problem, one set, or everything; a seed's references in other languages pass its own cases."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from core_checks import _details
from core_checks._alive import INHERITING, Report, check_alive, check_join
from core_checks._classes import check_class
from core_checks._details import CoreProblem
from core_checks._rules import family_findings, still_findings
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.translation import CoreTask, core_task

LANGUAGES: Final = tuple(language.value for language in Language if language is not Language.PYTHON)


def _languages(core: CoreProblem) -> list[str]:
    """A seed is translated into every language of the chain, or into none."""
    translated = set(core.translations)
    missing = [f"has translations, but none into {name}" for name in LANGUAGES if name not in translated]
    strange = sorted(translated - set(LANGUAGES))
    return missing + [f"translates into {name!r}, no language of ours" for name in strange]


def _finding(language: str, verdict: Verdict) -> str:
    case = verdict.failing
    shown = f" on ({case.input}): {case.expected} expected, got {case.got}" if case else f": {verdict.detail}"
    return f"the {language} translation {verdict.outcome.value}{shown}"


async def _judged(sandbox: Sandbox, task: CoreTask, core: CoreProblem) -> list[str]:
    programs = {"python": task.start, **{name: core.translations[name] for name in LANGUAGES}}
    verdicts = {
        name: await task.grade(program, Language(name), sandbox) for name, program in programs.items()
    }
    return [
        _finding(name, verdict) for name, verdict in verdicts.items() if verdict.outcome is not Outcome.PASSED
    ]


async def check_translations(sandbox: Sandbox, core: CoreProblem) -> list[str]:
    """Executes a seed's translations, and its reference, on the values that cross.

    Raises:
        SandboxError: our machinery failed.
    """
    if not core.translations:
        return []
    findings = _languages(core)
    if findings:
        return findings
    task = await core_task(core.problem, sandbox)
    if task is None:
        return ["has translations, but a value of its inputs or results does not cross languages"]
    return await _judged(sandbox, task, core)


async def check_problem(sandbox: Sandbox, core: CoreProblem) -> Report:
    """Every rule on one problem; sets that inherit their reference are not run again.

    Raises:
        SandboxError: our machinery failed.
    """
    still = [*still_findings(core), *family_findings(core)]
    if core.set_name in INHERITING:
        return Report(tuple(still))
    report = await check_alive(sandbox, core)
    joined = await check_join(sandbox, core)
    translated = await check_translations(sandbox, core) if core.set_name == "seeds" else []
    return replace(report, findings=(*still, *report.findings, *joined, *translated))


async def _check(sandbox: Sandbox, task_id: str) -> Report:
    if task_id.startswith("core/classes/"):
        return await check_class(sandbox, _details.class_detail(task_id))
    return await check_problem(sandbox, _details.detail(task_id))


async def check_problems(sandbox: Sandbox, task_ids: Sequence[str]) -> dict[str, Report]:
    """Every rule on each of these problems and classes, as many at a time as the sandbox lets in.

    Raises:
        SandboxError: our machinery failed.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_check(sandbox, task_id)) for task_id in task_ids]
    return dict(zip(task_ids, (task.result() for task in tasks), strict=True))
