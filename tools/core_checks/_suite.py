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
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.translation import core_task

LANGUAGES: Final = tuple(language.value for language in Language if language is not Language.PYTHON)


async def check_translations(sandbox: Sandbox, core: CoreProblem) -> list[str]:
    """Executes a seed's translations, and its reference, on the values that cross.

    Raises:
        SandboxError: our machinery failed.
    """
    if not core.translations:
        return []
    missing = [name for name in LANGUAGES if name not in core.translations]
    strange = sorted(core.translations.keys() - set(LANGUAGES))
    if missing or strange:
        findings = [f"has translations, but none into {name}" for name in missing]
        return findings + [f"translates into {name!r}, no language of ours" for name in strange]
    task = await core_task(core.problem, sandbox)
    if task is None:
        return ["has translations, but a value of its inputs or results does not cross languages"]
    findings = []
    for name in ("python", *LANGUAGES):
        program = task.start if name == "python" else core.translations[name]
        verdict = await task.grade(program, Language(name), sandbox)
        if verdict.outcome is not Outcome.PASSED:
            case, said = verdict.failing, f": {verdict.detail}"
            if case is not None:
                said = f" on ({case.input}): {case.expected} expected, got {case.got}"
            findings.append(f"the {name} translation {verdict.outcome.value}{said}")
    return findings


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
