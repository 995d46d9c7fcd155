"""`make check-core WHAT="[SET | TASK …]"`: checks problems of `core` while they are written."""

import asyncio
from typing import Annotated

import typer

from core_checks._alive import Report
from core_checks._suite import check_problems
from triathlon_runner.datasets.core import _load
from triathlon_runner.sandbox import open_sandbox


def _chosen(what: list[str]) -> list[str]:
    """The task_ids that a set, a task_id, `set/name` or a bare name stands for; all without any."""
    known = [problem.task_id for set_name in _load.SETS for problem in _load.problems(set_name)]
    known += [problem.task_id for problem in _load.classes()]
    if not what:
        return known
    return [
        task_id
        for task_id in known
        if any(word in (task_id, task_id.removeprefix("core/"), *task_id.split("/")[1:]) for word in what)
    ]


async def _reports(task_ids: list[str]) -> dict[str, Report]:
    async with open_sandbox() as sandbox:
        return await check_problems(sandbox, task_ids)


def main(
    what: Annotated[list[str] | None, typer.Argument(help="sets, task_ids or names")] = None,
) -> None:
    """Checks problems against every rule; exit code 1 where one is broken."""
    reports = asyncio.run(_reports(_chosen(what or [])))
    for task_id, report in reports.items():
        for finding in report.findings:
            typer.echo(f"{task_id}: {finding}")
    mutants = sum(report.mutants for report in reports.values())
    killed = sum(report.killed for report in reports.values())
    typer.echo(f"{len(reports)} problems, {killed} of {mutants} mutants killed")
    if any(report.findings for report in reports.values()):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
