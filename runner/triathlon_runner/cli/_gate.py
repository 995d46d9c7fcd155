"""`triathlon gate`: is the candidate worse than the baseline?"""

import asyncio
from contextlib import AsyncExitStack

import typer

from triathlon_runner import registry
from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._bounds import about_replies, about_tokens, estimated_part
from triathlon_runner.cli._gate_options import (
    Alpha,
    AsJson,
    Baseline,
    Candidate,
    GateRequest,
    Margin,
    MarkdownFile,
    MaxTasks,
    Seed,
    SiteUrl,
    Suites,
)
from triathlon_runner.cli._names import names
from triathlon_runner.cli._options import (
    Common,
    Data,
    ModelsFile,
    Results,
    catalogue_beside,
    data_store,
    results_folder,
)
from triathlon_runner.cli._run_options import Budget, Options, limits_of
from triathlon_runner.cli._session import Session, open_session, run_interruptible, runner_of
from triathlon_runner.gate import (
    Comparison,
    GateReport,
    count_stored,
    plan_comparison,
    report_of,
    set_pace,
)
from triathlon_runner.schedule import (
    PROFILES,
    STOP_SECONDS,
    Bounds,
    ConsoleProgress,
    RunPlan,
    Summary,
    Wanted,
    build_plan,
    logged_errors,
)
from triathlon_runner.store import replace_file
from triathlon_runner.terminal import Screen, console
from triathlon_runner.unit_pages import SITE_FOLDER


@app.command(
    epilog=examples(
        "triathlon gate --baseline my-model --candidate my-model-int4",
        "triathlon gate --baseline old --candidate new --suites loop/core --margin 0.03 --budget 2",
        "triathlon gate --baseline old --candidate new --json --markdown gate.md",
    )
)
def gate(
    baseline: Baseline,
    candidate: Candidate,
    suites: Suites = None,
    alpha: Alpha = 0.05,
    margin: Margin = 0.0,
    seed: Seed = 0,
    max_tasks: MaxTasks = None,
    budget: Budget = None,
    as_json: AsJson = False,
    markdown: MarkdownFile = None,
    site_url: SiteUrl = None,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Is one model worse than another? Asks both, task by task, and stops as soon as that is clear.

    Results that are there are used; new ones are appended, as by `triathlon run`.
    Without --suites: the core suites of the profile quick, all their tasks.

    Exit code 0: not worse; 1: worse; 3: undecided; 2: something is for you to mend.
    """
    request = GateRequest((baseline, candidate), alpha, margin, seed, max_tasks, site_url)
    request.check(markdown)
    listed = registry.load(models_file)
    options = Options(
        wanted=Wanted(
            PROFILES["standard"],
            request.models,
            names(suites) or _suites(),
            catalogue=catalogue_beside(models_file),
        ),
        dry_run=False,
        bounds=Bounds(budget),
        stop_within=STOP_SECONDS,
        ask_again=False,
        log_json=None,
        executor="local",
        ray_address=None,
        limits=limits_of("10m", 12, "15m", budget),
        timeout_seconds=None,
        folder=results_folder(results),
        data=data_store(data),
    )
    options.check(listed)
    screen = Screen(stderr=True) if as_json else console()
    report = asyncio.run(_gate(options, request, listed, screen))
    if markdown is not None:
        replace_file(markdown, report.markdown())
    if as_json:
        console().print_json(data=report.as_json())
    else:
        for line in report.lines():
            screen.print(line, soft_wrap=not screen.is_terminal)
    raise typer.Exit(report.exit_code)


def _suites() -> list[str]:
    """The core suites that the profile quick takes."""
    return [entry.id for entry in BUILT_IN.select() if PROFILES["quick"].takes(entry)]


async def _gate(
    options: Options, request: GateRequest, listed: registry.Registry, screen: Screen
) -> GateReport:
    progress = ConsoleProgress(screen)
    summary = Summary()
    async with AsyncExitStack() as stack:
        with progress:
            session = await open_session(stack, options, listed, progress)
            plan = await build_plan(
                listed, session.grader, options.data, options.wanted, session.judge, progress.status
            )
            comparison = _comparison(plan, request, options)
        if not comparison.decided:
            summary = await _ask(options, session, plan, comparison, progress)
    if progress.has_accounts:
        screen.print(progress.final(all_planned=not comparison.decided))
    for account in options.bounds.accounts:
        for message in filter(None, (about_tokens(account), about_replies(account))):
            screen.print_message(message)
    asked = [account for account in options.bounds.accounts if account.stats.answered]
    return report_of(
        comparison,
        options.folder,
        summary,
        suites=options.wanted.suites or (),
        seed=request.seed,
        usd=options.bounds.spent if not asked or any(account.price for account in asked) else None,
        site=request.site_url or SITE_FOLDER,
    )


def _comparison(plan: RunPlan, request: GateRequest, options: Options) -> Comparison:
    """The comparison with all that is stored."""
    comparison = plan_comparison(
        plan,
        request.models,
        seed=request.seed,
        max_tasks=request.max_tasks,
        margin=request.margin,
        alpha=request.alpha,
    )
    for model in request.models:
        count_stored(comparison, plan.work[model], options.folder)
    return comparison


async def _ask(
    options: Options, session: Session, plan: RunPlan, comparison: Comparison, progress: ConsoleProgress
) -> Summary:
    """Asks both models until the comparison is decided."""
    set_pace(plan, comparison, session.control)
    errors = cache_folder() / "logs" / "errors.log"
    with progress, logged_errors(errors, None):
        summary = await run_interruptible(runner_of(options, session, progress), plan, progress)
    if part := estimated_part(options.bounds.accounts):
        summary.notes.append(f"cost: {part}")
    if session.judge is not None and session.judge.lost:
        summary.notes.append(session.judge.lost)
    if summary.broken:
        summary.notes.append(f"{summary.broken} units met an error in this program; please report {errors}")
    return summary
