"""`triathlon run`: asks, executes, appends what is open."""

import asyncio
import re
import signal
from contextlib import AsyncExitStack

import typer
from rich.console import Console

from triathlon_runner import registry
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._bounds import say, show_estimates, show_summary
from triathlon_runner.cli._doctor import grader_integrity
from triathlon_runner.cli._executor import ExecutorOption, RayAddress, check_executor, open_grader
from triathlon_runner.cli._options import (
    Common,
    Data,
    ModelsFile,
    Names,
    Results,
    cache_folder,
    console,
    data_store,
    names,
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
from triathlon_runner.endpoints import ReplyCache
from triathlon_runner.estimates import estimate
from triathlon_runner.grading import Grader
from triathlon_runner.schedule import (
    Account,
    Bounds,
    Conditions,
    ConsoleProgress,
    Control,
    ControlledModel,
    JsonLog,
    JudgeModel,
    ModelOpener,
    Progress,
    ProgressFanout,
    Runner,
    RunPlan,
    Summary,
    Wanted,
    build_plan,
    logged_errors,
    why_not,
)
from triathlon_runner.schedule import deadline as moment
from triathlon_runner.screen import counted
from triathlon_runner.store import ResultsFolder


@app.command(
    epilog=examples(
        "triathlon run --limit 2",
        "triathlon run --models my-model --suites loop/core --profile standard --dry-run",
        "triathlon run --budget 20 --deadline 07:00",
        "triathlon run --model qwen2.5-coder --base-url http://127.0.0.1:11434/v1",
    )
)
def run(
    models: Names = None,
    model: SingleModel = None,
    base_url: BaseUrl = None,
    key_env: KeyEnv = None,
    price: PriceOfModel = None,
    suites: Names = None,
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

    Exit code 0: nothing is open; 1: units stay open, run again; 2: something is for you to mend.
    """
    check_executor(executor, ray_address)
    amount = profile_of(profile).with_own(limit=limit, samples=samples, temperature=temperature)
    listed, wanted = models_to_run(models_file, models, SingleModelOptions(model, base_url, key_env, price))
    options = Options(
        wanted=Wanted(amount, wanted, names(suites), names(variants) or (), prompts, not dry_run),
        dry_run=dry_run,
        bounds=Bounds(budget, None if deadline is None else moment(deadline)),
        stop_within=seconds("--stop-within", stop_within),
        ask_again=ask_again,
        log_json=log_json,
        executor=executor,
        ray_address=ray_address,
        limits=limits_of(outage, attempts, longest_wait),
        timeout_seconds=None if timeout is None else seconds("--timeout", timeout),
        folder=results_folder(results),
        data=data_store(data),
        single=wanted[0] if model is not None and wanted else None,
    )
    options.check(listed)
    raise typer.Exit(asyncio.run(_run(options, listed)))


async def _run(options: Options, listed: registry.Registry) -> int:
    screen, cache = console(), cache_folder()
    async with AsyncExitStack() as stack:
        progress = ConsoleProgress(screen)
        with progress:
            progress.status("preparing the sandbox")
            grader = await stack.enter_async_context(
                open_grader(options.executor, options.ray_address, cache, progress.say)
            )
            replies = stack.enter_context(ReplyCache(cache / "replies.sqlite"))
            control = Control(options.bounds)
            opener = ModelOpener(
                listed,
                replies,
                cache,
                progress.say,
                control=control,
                limits=options.limits,
                timeout_seconds=options.timeout_seconds,
            )
            judge = await _judge(listed, opener, stack, progress, control)
            plan = await build_plan(listed, grader, options.data, options.wanted, judge, progress.status)
        _say_skipped(plan, screen)
        if options.dry_run:
            show_estimates(await estimate(plan, options.folder, grader), screen)
            return 0
        _record_skipped(plan, options.folder)
        log = stack.enter_context(JsonLog(options.log_json)) if options.log_json else None
        told = ProgressFanout([progress, log]) if log else progress
        errors = cache / "logs" / "errors.log"
        with progress, logged_errors(errors, log):
            runner = _runner(options, grader, opener, told, control)
            summary = await _interruptible(runner, plan, told)
        if judge is not None and judge.lost:
            summary.notes.append(judge.lost)
        if summary.broken:
            summary.notes.append(
                f"{counted(summary.broken, 'unit')} met an error in this program; please report {errors}"
            )
        if options.single is not None and any(map(_names_a_row, summary.errors)):
            summary.notes.append(
                f"{options.single} was named with --model, so it has no row: its `model` and `base_url` are"
                " --model and --base-url; for others write it into models.yaml (README, 'Add a model')"
            )
        if log is not None:
            _end_log(log, summary, options.bounds)
    show_summary(summary, options.bounds, progress, options.folder, screen)
    return summary.exit_code


def _runner(
    options: Options, grader: Grader, opener: ModelOpener, told: Progress, control: Control
) -> Runner:
    level = grader.sandbox.level
    conditions = Conditions(options.wanted.profile.name, level, grader_integrity(level))
    return Runner(
        options.folder,
        grader,
        opener,
        told,
        conditions,
        control,
        ask_again=options.ask_again,
        stop_seconds=options.stop_within,
    )


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


async def _judge(
    listed: registry.Registry,
    opener: ModelOpener,
    stack: AsyncExitStack,
    progress: ConsoleProgress,
    control: Control,
) -> JudgeModel | None:
    """The model that models.yaml names as judge; None where it names none or it cannot be asked here."""
    if listed.judge is None:
        return None
    row = listed.row(listed.judge)
    reason = why_not(row)
    if reason is not None:
        progress.say(f"no judge, so ASL is an interval: {row.id}: {reason}")
        return None
    opened = await stack.enter_async_context(opener.open(row))
    if opened.stats is not None:
        account = Account(f"{row.id} (judge)", opened.stats, row.price)
        control.bounds.accounts.append(account)
        progress.attach(account)
    return JudgeModel(ControlledModel(opened, control), progress.say)


async def _interruptible(runner: Runner, plan: RunPlan, progress: Progress) -> Summary:
    """The first Ctrl-C or SIGTERM stops new work and finishes what is in flight, the second stops at once."""
    task = asyncio.ensure_future(runner.run(plan))

    def interrupt(name: str) -> None:
        if runner.stop.asked:
            task.cancel()
        else:
            runner.stop.ask(name)

    loop = asyncio.get_running_loop()
    for number, name in ((signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")):
        loop.add_signal_handler(number, interrupt, name)
    try:
        return await task
    except asyncio.CancelledError:
        if not runner.stop.asked:
            raise
        progress.say("stopped; the next run goes on from here")
        runner.summary.open = max(runner.summary.open, 1)
        runner.summary.stopped = f"{runner.stop.reason}, and then at once"
        return runner.summary
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _say_skipped(plan: RunPlan, screen: Console) -> None:
    for what, skipped in (("model", plan.skipped_models), ("suite", plan.skipped_suites)):
        for name, reason in skipped.items():
            say(screen, f"skipped {what} {name}: {reason}")


def _record_skipped(plan: RunPlan, folder: ResultsFolder) -> None:
    """The site lists these models with the reason."""
    for model, reason in plan.skipped_models.items():
        folder.skipped(model).parent.mkdir(parents=True, exist_ok=True)
        folder.skipped(model).write_text(reason + "\n", encoding="utf-8")
    for model in plan.work:
        folder.skipped(model).unlink(missing_ok=True)
