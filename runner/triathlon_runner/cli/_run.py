"""`triathlon run`: asks, executes, appends what is open."""

import asyncio
import re
from contextlib import AsyncExitStack

import typer

from triathlon_runner import registry
from triathlon_runner.cache import cache_folder
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._bounds import show_estimates, show_summary
from triathlon_runner.cli._executor import ExecutorOption, RayAddress, check_executor
from triathlon_runner.cli._names import Models, Suites, names
from triathlon_runner.cli._options import (
    Common,
    Data,
    ModelsFile,
    Results,
    catalogue_beside,
    data_store,
    results_folder,
)
from triathlon_runner.cli._run_options import (
    AskAgain,
    Attempts,
    BaseUrl,
    Budget,
    Deadline,
    DryRun,
    KeyEnv,
    Limit,
    LogJson,
    LongestWait,
    Options,
    Outage,
    PriceOfModel,
    ProfileName,
    Prompts,
    Samples,
    SingleModel,
    SingleModelOptions,
    StopWithin,
    Temperature,
    Timeout,
    Variants,
    limits_of,
    models_to_run,
    profile_of,
    seconds,
)
from triathlon_runner.cli._session import (
    ignore_interrupts,
    open_session,
    run_interruptible,
    runner_of,
)
from triathlon_runner.estimates import estimate
from triathlon_runner.schedule import (
    Bounds,
    ConsoleProgress,
    JsonLog,
    ProgressFanout,
    RunPlan,
    Summary,
    Wanted,
    build_plan,
    logged_errors,
)
from triathlon_runner.schedule import deadline as moment
from triathlon_runner.store import ResultsFolder, replace_file
from triathlon_runner.terminal import Screen, console, counted


@app.command(
    epilog=examples(
        "triathlon run --limit 2",
        "triathlon run --models my-model --suites loop/core --profile standard --dry-run",
        "triathlon run --budget 20 --deadline 07:00",
        "triathlon run --model qwen2.5-coder --base-url http://127.0.0.1:11434/v1",
    )
)
def run(
    models: Models = None,
    model: SingleModel = None,
    base_url: BaseUrl = None,
    key_env: KeyEnv = None,
    price: PriceOfModel = None,
    suites: Suites = None,
    variants: Variants = None,
    prompts: Prompts = None,
    profile: ProfileName = "quick",
    limit: Limit = None,
    samples: Samples = None,
    temperature: Temperature = None,
    dry_run: DryRun = False,
    budget: Budget = None,
    deadline: Deadline = None,
    stop_within: StopWithin = "30s",
    ask_again: AskAgain = False,
    log_json: LogJson = None,
    outage: Outage = "10m",
    attempts: Attempts = 12,
    timeout: Timeout = None,
    longest_wait: LongestWait = "15m",
    executor: ExecutorOption = "local",
    ray_address: RayAddress = None,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Asks, executes and appends what is open.

    Exit code 0: nothing is open; 1: units stay open, run again.
    2: a model was stopped, or something else is for you to mend.
    """
    check_executor(executor, ray_address)
    amount = profile_of(profile).with_own(limit=limit, samples=samples, temperature=temperature)
    listed, wanted = models_to_run(models_file, models, SingleModelOptions(model, base_url, key_env, price))
    options = Options(
        wanted=Wanted(
            amount,
            wanted,
            names(suites),
            names(variants) or (),
            prompts,
            not dry_run,
            catalogue_beside(models_file),
        ),
        dry_run=dry_run,
        bounds=Bounds(budget, None if deadline is None else moment(deadline)),
        stop_within=seconds("--stop-within", stop_within),
        ask_again=ask_again,
        log_json=log_json,
        executor=executor,
        ray_address=ray_address,
        limits=limits_of(outage, attempts, longest_wait, budget),
        timeout_seconds=None if timeout is None else seconds("--timeout", timeout),
        folder=results_folder(results),
        data=data_store(data),
        single=wanted[0] if model is not None and wanted else None,
    )
    options.check(listed)
    if options.single is not None and options.single != model:
        console().print_message(
            f"results of {model!r} go to {str(options.folder.of_model(options.single))!r}"
        )
    raise typer.Exit(asyncio.run(_run(options, listed)))


async def _run(options: Options, listed: registry.Registry) -> int:
    screen, cache = console(), cache_folder()
    async with AsyncExitStack() as stack:
        progress = ConsoleProgress(screen)
        with progress:
            session = await open_session(stack, options, listed, progress)
            grader, judge = session.grader, session.judge
            plan = await build_plan(listed, grader, options.data, options.wanted, judge, progress.status)
        _say_skipped(plan, screen)
        _say_copies(plan, screen)
        if options.dry_run:
            show_estimates(await estimate(plan, options.folder, grader), screen)
            return 0
        _record_skipped(plan, options.folder)
        log = stack.enter_context(JsonLog(options.log_json)) if options.log_json else None
        told = ProgressFanout([progress, log]) if log else progress
        errors = cache / "logs" / "errors.log"
        with progress, logged_errors(errors, log):
            runner = runner_of(options, session, told)
            summary = await run_interruptible(runner, plan, told)
        if judge is not None and judge.lost:
            summary.notes.append(judge.lost)
        if summary.broken:
            summary.notes.append(
                f"{counted(summary.broken, 'unit')} met an error in this program; please report {errors}"
            )
        if options.single is not None and any(map(_names_a_row, (*summary.errors, *summary.failures))):
            summary.notes.append(
                f"{options.single} was named with --model, so it has no row: its `model`, `base_url` and"
                " `key_env` are --model, --base-url and --key-env; for others write it into models.yaml"
                " (README, 'Add a model')"
            )
        if log is not None:
            _end_log(log, summary, options.bounds)
    ignore_interrupts()  # nothing is left to stop: the exit code is that of the run
    show_summary(summary, options.bounds, progress, options.folder, screen)
    return summary.exit_code


def _names_a_row(error: str) -> bool:
    """Whether an error advises to change the row of a model, or the api block in it."""
    return re.search(r"\brow\b|\bapi block\b", error) is not None


def _end_log(log: JsonLog, summary: Summary, bounds: Bounds) -> None:
    log.end(
        finished=summary.finished,
        open=summary.open,
        usd=round(bounds.spent, 6),
        exit_code=summary.exit_code,
    )


def _say_skipped(plan: RunPlan, screen: Screen) -> None:
    """One line a reason: on a machine without keys and GPU most of the list is skipped."""
    for what, skipped in (("model", plan.skipped_models), ("suite", plan.skipped_suites)):
        by_reason: dict[str, list[str]] = {}
        for name, reason in skipped.items():
            by_reason.setdefault(reason, []).append(name)
        for reason, ids in by_reason.items():
            subject = what if len(ids) == 1 else f"{counted(len(ids), what)}:"
            screen.print_message(f"skipped {subject} {', '.join(ids)}: {reason}")


def _say_copies(plan: RunPlan, screen: Screen) -> None:
    """Names the suites whose samples cannot differ."""
    suites = {work.suite_id: None for works in plan.work.values() for work in works if work.asks_for_copies}
    if suites:
        screen.print_message(
            f"{', '.join(suites)}: asked at temperature 0, so all samples of a task are one reply, which is"
            " asked for once; for samples that differ name --temperature, or suites that sample",
        )


def _record_skipped(plan: RunPlan, folder: ResultsFolder) -> None:
    """The site lists these models with the reason; a file that says so already stays as it is."""
    for model, reason in plan.skipped_models.items():
        file, text = folder.skipped(model), f"{reason}\n"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            replace_file(file, text)
    for model in plan.work:
        folder.skipped(model).unlink(missing_ok=True)
