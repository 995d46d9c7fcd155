"""`triathlon run`: asks, executes, appends what is open."""

import asyncio
import signal
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from triathlon_runner import catalogue, registry
from triathlon_runner.cli._app import (
    Common,
    Data,
    ModelsFile,
    Names,
    Results,
    app,
    cache_folder,
    console,
    data_store,
    names,
    results_folder,
)
from triathlon_runner.cli._bounds import check_prices, show_estimates, show_summary
from triathlon_runner.cli._doctor import grader_integrity
from triathlon_runner.cli._executor import (
    Executor,
    ExecutorOption,
    RayAddress,
    check_executor,
    open_grader,
)
from triathlon_runner.datasets import DataStore
from triathlon_runner.endpoints import Model, ReplyCache
from triathlon_runner.errors import UserError
from triathlon_runner.estimates import estimate
from triathlon_runner.prompts import check_prompts
from triathlon_runner.schedule import (
    PROFILES,
    Account,
    Bounds,
    Conditions,
    ConsoleProgress,
    JsonLog,
    Plan,
    Profile,
    Progress,
    Reacher,
    Runner,
    Several,
    Summary,
    build_plan,
    why_not,
)
from triathlon_runner.schedule import deadline as moment
from triathlon_runner.store import ResultsFolder


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for, checked as far as can be without reading data."""

    models: list[str] | None
    suites: list[str] | None
    variants: list[str]
    prompts: Path | None
    profile: Profile
    dry_run: bool
    bounds: Bounds
    ask_again: bool
    log_json: Path | None
    executor: Executor
    ray_address: str | None
    folder: ResultsFolder
    data: DataStore


@app.command()
def run(
    models: Names = None,
    suites: Names = None,
    variants: Annotated[
        str | None, typer.Option(help="Variants too: prompts, temperatures, attacks, style, sampling.")
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder with prompts of your own: <discipline>/<name>.txt.")
    ] = None,
    profile: Annotated[str, typer.Option(help="How much: " + ", ".join(PROFILES) + ".")] = "quick",
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each suite.")] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Samples a task; left out: the profile's.")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            min=0, max=2, help="Of evolved suites, for pass@k of several samples; left out: greedy."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would take (requests, tokens, money), ask nothing.")
    ] = False,
    budget: Annotated[
        float | None, typer.Option(min=0, help="USD; once they are spent, nothing new is asked.")
    ] = None,
    deadline: Annotated[
        str | None, typer.Option(help="8h, 2d12h, 07:00 or a date and time; then nothing new is asked.")
    ] = None,
    ask_again: Annotated[
        bool,
        typer.Option("--ask-again", help="Archive results of another protocol, data or revision; ask anew."),
    ] = False,
    log_json: Annotated[
        Path | None, typer.Option("--log-json", help="File that gets one JSON line an event, for machines.")
    ] = None,
    executor: ExecutorOption = "local",
    ray_address: RayAddress = None,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Asks, executes and appends what is open.

    Exit code 0: nothing is open; 1: units stay open, run again; 2: something is for you to mend.
    """
    if profile not in PROFILES:
        raise UserError(f"expected --profile {' or '.join(PROFILES)}, got {profile!r}")
    check_executor(executor, ray_address)
    listed = registry.load(models_file)
    options = Options(
        models=names(models),
        suites=names(suites),
        variants=names(variants) or [],
        prompts=prompts,
        profile=PROFILES[profile].with_own(limit=limit, samples=samples, temperature=temperature),
        dry_run=dry_run,
        bounds=Bounds(budget, moment(deadline) if deadline else None),
        ask_again=ask_again,
        log_json=log_json,
        executor=executor,
        ray_address=ray_address,
        folder=results_folder(results),
        data=data_store(data),
    )
    rows = listed.select(options.models)
    if budget is not None:
        check_prices([*rows, *([listed.row(listed.judge)] if listed.judge else [])])
    catalogue.select(options.suites, options.variants)
    if options.prompts is not None:
        check_prompts(options.prompts)
    raise typer.Exit(asyncio.run(_run(options, listed)))


async def _run(options: Options, listed: registry.Registry) -> int:
    screen, cache = console(), cache_folder()
    async with AsyncExitStack() as stack:
        progress = ConsoleProgress(screen)
        grader = await stack.enter_async_context(
            open_grader(options.executor, options.ray_address, cache / "keys", progress.say)
        )
        reacher = Reacher(
            listed, stack.enter_context(ReplyCache(cache / "replies.sqlite")), cache, progress.say
        )
        plan = await build_plan(
            listed,
            grader,
            options.data,
            models=options.models,
            suites=options.suites,
            variants=options.variants,
            profile=options.profile,
            judge=await _judge(listed, reacher, stack, progress, options.bounds),
            prompts=options.prompts,
        )
        _say_skipped(plan, screen)
        if options.dry_run:
            show_estimates(await estimate(plan, options.folder, grader), screen)
            return 0
        _record_skipped(plan, options.folder)
        level = grader.sandbox.level
        conditions = Conditions(options.profile.name, level, grader_integrity(level))
        log = stack.enter_context(JsonLog(options.log_json)) if options.log_json else None
        told = Several([progress, log]) if log else progress
        runner = Runner(
            options.folder, grader, reacher, told, conditions, options.bounds, ask_again=options.ask_again
        )
        with progress:
            summary = await _interruptible(runner, plan, told)
        if log is not None:
            log.end(
                finished=summary.finished,
                open=summary.open,
                usd=round(options.bounds.spent, 6),
                exit_code=summary.exit_code,
            )
    show_summary(summary, options.bounds, progress, options.folder, screen)
    return summary.exit_code


async def _judge(
    listed: registry.Registry,
    reacher: Reacher,
    stack: AsyncExitStack,
    progress: ConsoleProgress,
    bounds: Bounds,
) -> Model | None:
    """The model that models.yaml names as judge; None where it names none or it cannot be asked here."""
    if listed.judge is None:
        return None
    row = listed.row(listed.judge)
    reason = why_not(row)
    if reason is not None:
        progress.say(f"no judge, so ASL is an interval: {row.id}: {reason}")
        return None
    reached = await stack.enter_async_context(reacher.reach(row))
    if reached.stats is not None:
        account = Account(f"{row.id} (judge)", reached.stats, row.price)
        bounds.accounts.append(account)
        progress.attach(account)
    return reached.model


async def _interruptible(runner: Runner, plan: Plan, progress: Progress) -> Summary:
    """The first Ctrl-C stops new work and finishes what is in flight; the second stops at once."""
    task = asyncio.ensure_future(runner.run(plan))

    def interrupt() -> None:
        if runner.stop.asked:
            task.cancel()
            return
        runner.stop.ask("Ctrl-C")
        progress.say("Ctrl-C: finishing what is in flight; again to stop at once (nothing finished is lost)")

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        return await task
    except asyncio.CancelledError:
        if not runner.stop.asked:
            raise
        progress.say("stopped; the next run goes on from here")
        runner.summary.open = max(runner.summary.open, 1)
        runner.summary.stopped = "Ctrl-C, twice"
        return runner.summary
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _say_skipped(plan: Plan, screen: Console) -> None:
    for what, skipped in (("model", plan.skipped_models), ("suite", plan.skipped_suites)):
        for name, reason in skipped.items():
            screen.print(f"skipped {what} {name}: {reason}", markup=False, highlight=False, soft_wrap=True)


def _record_skipped(plan: Plan, folder: ResultsFolder) -> None:
    """The site lists these models with the reason."""
    for model, reason in plan.skipped_models.items():
        folder.skipped(model).parent.mkdir(parents=True, exist_ok=True)
        folder.skipped(model).write_text(reason + "\n", encoding="utf-8")
    for model in plan.work:
        folder.skipped(model).unlink(missing_ok=True)
