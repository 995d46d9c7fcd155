"""`triathlon gate`: is the candidate worse than the baseline?"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from triathlon_runner import models_yaml
from triathlon_runner.catalogue import BUILT_IN, read_catalogue
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import data_store
from triathlon_runner.cli._report import about_cost, warnings_about
from triathlon_runner.cli._run import Session, run_plan
from triathlon_runner.errors import UserError
from triathlon_runner.gate import (
    Comparison,
    GatePace,
    count_stored,
    plan_comparison,
    report_lines,
    report_markdown,
    report_of,
)
from triathlon_runner.schedule import ConsoleProgress, Control, RunPlan, Summary, Wanted
from triathlon_runner.store import ResultsFolder, replace_file
from triathlon_runner.terminal import Screen, console


@cli.command(
    "triathlon gate --baseline my-model --candidate my-model-int4",
    "triathlon gate --baseline old --candidate new --suites loop/core --margin 0.03 --budget 2",
    "triathlon gate --baseline old --candidate new --json --markdown gate.md",
)
def gate(
    baseline: Annotated[str, Option(help="Id of the model to compare with.")],
    candidate: Annotated[str, Option(help="Id of the model that may be worse.")],
    suites: Annotated[str | None, Option(help="Ids, separated by commas; left out: core of quick.")] = None,
    alpha: Annotated[float, Option(help="Probability of a wrong verdict, above 0 and below 1.")] = 0.05,
    margin: Annotated[float, Option(help="How much lower the mean score may be: 0.02 is 2 of 100.")] = 0.0,
    seed: Annotated[int, Option(help="Of the random order of tasks.")] = 0,
    max_tasks: Annotated[int | None, Option(min=1, help="At most so many tasks of each model.")] = None,
    budget: cli.Budget = None,
    as_json: cli.AsJson = False,
    markdown: Annotated[Path | None, Option(help="File that gets the report, too.")] = None,
    models_file: cli.ModelsFile = None,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
) -> None:
    """Is one model worse than another? Asks both, task by task, and stops as soon as that is clear.

    Results that are there are used; new ones are appended, as by `triathlon run`.
    Without --suites: the core suites of the profile quick, all their tasks.

    Exit code 0: not worse; 1: worse; 3: undecided; 2: something is for you to fix.
    """
    _check(baseline, candidate, alpha, margin, markdown)
    models, quick = (baseline, candidate), Wanted("quick")
    suite_ids = cli.names(suites) or [entry.id for entry in BUILT_IN.select() if quick.takes(entry)]
    session = Session(
        listed=models_yaml.load(models_file),
        wanted=Wanted(
            "standard", models, suite_ids, keeps_unasked=True, catalogue=read_catalogue(models_file)
        ),
        control=Control(budget),
        folder=ResultsFolder(results),
        data=data_store(data),
    )
    session.check()
    screen = Screen(stderr=True) if as_json else console()
    planned = partial(
        plan_comparison,
        models=models,
        folder=session.folder,
        seed=seed,
        max_tasks=max_tasks,
        margin=margin,
        alpha=alpha,
    )
    comparison, summary = asyncio.run(_compare(session, planned, screen))
    asked = [account for account in session.control.accounts if account.stats.answered]
    usd = session.control.spent if not asked or any(account.price for account in asked) else None
    report = report_of(comparison, session.folder, summary, suites=suite_ids, seed=seed, usd=usd)
    if as_json:
        console().print_json(data=report)
    else:
        for line in report_lines(report):
            screen.print(line, soft_wrap=not screen.is_terminal)
    if markdown is not None:  # behind what is printed: a full disk costs this file alone
        replace_file(markdown, report_markdown(report))
    raise typer.Exit(report["exit_code"])


def _check(baseline: str, candidate: str, alpha: float, margin: float, markdown: Path | None) -> None:
    if baseline == candidate:
        raise UserError(f"expected two models at --baseline and --candidate, got {baseline!r} twice")
    if not 0 < alpha < 1:
        raise UserError(f"expected --alpha above 0 and below 1, such as 0.05, got {alpha!r}")
    if not 0 <= margin < 1:
        raise UserError(f"expected --margin from 0 to below 1, such as 0.02, got {margin!r}")
    if markdown is not None and (markdown.is_dir() or not markdown.parent.is_dir()):
        raise UserError(f"expected --markdown as a file in a folder that exists, got {str(markdown)!r}")


async def _compare(
    session: Session, planned: Callable[[RunPlan], Comparison], screen: Screen
) -> tuple[Comparison, Summary]:
    progress, summary = ConsoleProgress(screen), Summary()
    async with AsyncExitStack() as stack:
        with progress:
            runner = await session.open(stack, progress)
            plan = runner.plan
            comparison = planned(plan)
            works = [work for model in comparison.models for work in plan.work[model]]
            unknown = count_stored(comparison, works, runner.folder)
        accounts = runner.control.accounts
        if not comparison.decided:
            plan.pace = GatePace(comparison, plan, runner.control)
            summary = await run_plan(runner)
            if (part := about_cost(accounts)) and any(account.price for account in accounts):
                summary.notes.insert(0, f"cost: {part}")
    summary.notes += unknown
    if accounts:
        screen.print(progress.final())
    for account in accounts:
        for warning in warnings_about(account):
            screen.print_message(warning)
    return comparison, summary
