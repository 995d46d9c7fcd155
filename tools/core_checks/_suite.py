"""Checking one problem, one set, or everything."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from core_checks import _details
from core_checks._alive import INHERITING, Report, check_alive, check_join
from core_checks._classes import check_class
from core_checks._details import CoreProblem
from core_checks._family import family_findings
from core_checks._rules import still_findings
from core_checks._translations import check_translations
from triathlon_runner.sandbox import Sandbox


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
