"""`triathlon run`: asks, executes, appends what is open; and what `gate` shares with it.

What it prints before and after is in `_report.py`.
"""

import asyncio
import os
import select
import signal
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Option

from triathlon_runner import catalogue, schedule
from triathlon_runner.cache import cache_folder
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli import _options
from triathlon_runner.cli._report import notices, show_estimates, show_summary
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.estimates import DryRunModel, estimate, left_to_ask
from triathlon_runner.llm import Limits, ModelUnavailableError, ReplyCache
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.store import ResultsFolder
from triathlon_runner.terminal import console, counted, duration

_LIMITS = Limits()


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """What a command asks of which models, under which limits, and where its results go."""

    listed: Registry
    wanted: schedule.Wanted
    control: schedule.Control
    folder: ResultsFolder
    data: DataStore
    limits: Limits = _LIMITS
    timeout_seconds: float | None = None
    executor: cli.Executor = "local"
    ray_address: str | None = None

    def check(self) -> None:
        """Checks models, suites, prices, prompts and folder before data is read or money is spent."""
        listed, wanted = self.listed, self.wanted
        rows = listed.select(wanted.models)
        suites = wanted.entries(rows)
        if not rows:
            raise UserError(
                "expected a model to run, the models file lists none; add one (README, 'Add a model') or run"
                " one without a file: triathlon run --model NAME --base-url http://127.0.0.1:11434/v1"
            )
        reasons = {row.id: reason for row in rows if (reason := wanted.why_not(row)) is not None}
        may_skip = wanted.models is None and len(reasons) < len(rows)
        if wanted.asks and reasons and not may_skip:
            in_words = "; ".join(f"{model}: {reason}" for model, reason in reasons.items())
            raise UserError(f"expected models that can run here, got {in_words}")
        if self.control.budget_usd is not None:
            _options.check_prices([row for row in rows if row.id not in reasons])
            _options.check_prices([listed.row(listed.judge)] if listed.judge else [])
        if wanted.prompts is not None:
            catalogue.check_prompts(wanted.prompts, suites)
        if wanted.asks:
            self.folder.check_writable()

    async def open(self, stack: AsyncExitStack, progress: schedule.ConsoleProgress) -> schedule.Runner:
        """Opens sandbox, cache of replies and judge, which the stack closes, and plans the run."""
        cache = cache_folder()
        progress.status("preparing the sandbox")
        grader = await stack.enter_async_context(
            _options.open_grader(self.executor, self.ray_address, progress.say)
        )
        replies = stack.enter_context(ReplyCache(cache / "replies.sqlite"))
        judge_row = _judge_of(self.listed, progress)
        opener = schedule.ModelOpener(
            self.listed,
            replies,
            cache,
            progress.say,
            control=self.control,
            limits=self.limits,
            timeout_seconds=self.timeout_seconds,
        )
        judge = None if judge_row is None else DryRunModel(judge_row.id, judge_row.kind)
        plan = await schedule.build_plan(self.listed, grader, self.data, self.wanted, judge, progress.status)
        runner = schedule.Runner(self.folder, grader, opener, progress, plan, self.control)
        if judge_row is not None and self.wanted.asks and _asks_judge(plan, self.folder):
            opened = await _open_judge(stack, runner, judge_row)
            for model, works in plan.work.items():
                plan.work[model] = [replace(work, judge=opened) for work in works]
        return runner


@cli.command(
    "triathlon run --limit 2",
    "triathlon run --models my-model --suites loop/core --profile standard --dry-run",
    "triathlon run --budget 20 --deadline 8h",
    "triathlon run --model qwen2.5-coder --base-url http://127.0.0.1:11434/v1",
)
def run(
    models: cli.Models = None,
    model: cli.ModelName = None,
    base_url: cli.BaseUrl = None,
    key_env: cli.KeyEnv = None,
    price: cli.PriceOfModel = None,
    suites: cli.Suites = None,
    variants: Annotated[str | None, Option(help="Variants too; see above.")] = None,
    prompts: Annotated[Path | None, Option(help="Folder of your own: <discipline>/<name>.txt.")] = None,
    profile: Annotated[Literal["quick", "standard", "full"], Option(help="How much.")] = "quick",
    limit: Annotated[int | None, Option(min=1, help="At most so many tasks of each suite.")] = None,
    samples: Annotated[
        int | None, Option(min=1, max=cli.MOST_SAMPLES, help="Of a task; left out: the profile's.")
    ] = None,
    temperature: Annotated[float | None, Option(min=0, max=2, help="Of evolved suites, for pass@k.")] = None,
    dry_run: cli.DryRun = False,
    estimates: Annotated[bool, Option("--estimates", help="As --dry-run, but then run.")] = False,
    budget: cli.Budget = None,
    deadline: Annotated[str | None, Option(help="Longest that it sends requests: 8h, 2d12h, 90m.")] = None,
    stop_within: Annotated[str, Option(help="Longest that a stop waits.")] = duration(schedule.STOP_SECONDS),
    outage: Annotated[str, Option(help="How long a server may be away.")] = duration(_LIMITS.outage_seconds),
    attempts: Annotated[int, Option(min=1, help="Tries of one question.")] = _LIMITS.attempts,
    timeout: Annotated[str | None, Option(help="Longest wait for one answer: 90s, 10m.")] = None,
    longest_wait: Annotated[str, Option(help="Longest that a server may ask to wait.")] = duration(
        _LIMITS.longest_retry_after
    ),
    executor: cli.ExecutorOption = "local",
    ray_address: cli.RayAddress = None,
    models_file: cli.ModelsFile = None,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
) -> None:
    """Asks, executes and appends what is open.

    --variants: attacks, greedy, own-prompts, prompts, sampling, style, temperatures, truths.
    --attempts counts no 429s, nor tries while the server is away. A server that is away for longer than
    --outage, or asks for more than --longest-wait, stops its model. Without --temperature
    each suite has its own: greedy; 0.8 for runtime/dreval and suites named @sampled, 0.2 for CRUXEval.

    Exit code 0: nothing is open; 1: units stay open, run again.
    2: a model was stopped, or something else is for you to fix.
    """
    listed, model_ids = _options.models_to_run(models_file, models, model, base_url, key_env, price)
    wanted = schedule.Wanted(
        profile,
        model_ids,
        cli.names(suites),
        cli.names(variants) or (),
        prompts,
        limit=limit,
        samples=samples,
        temperature=temperature,
        asks=not dry_run,
        catalogue=catalogue.read_catalogue(models_file),
    )
    ends = None if deadline is None else schedule.deadline(deadline)
    session = Session(
        listed=listed,
        wanted=wanted,
        control=schedule.Control(budget, ends, schedule.seconds("--stop-within", stop_within)),
        folder=ResultsFolder(results),
        data=_options.data_store(data),
        limits=Limits(
            attempts=attempts,
            outage_seconds=schedule.seconds("--outage", outage),
            longest_retry_after=schedule.seconds("--longest-wait", longest_wait),
        ),
        timeout_seconds=None if timeout is None else schedule.seconds("--timeout", timeout),
        executor=executor,
        ray_address=ray_address,
    )
    session.check()
    without_row = model_ids[0] if model is not None and model_ids else None
    if without_row is not None and without_row != model:
        console().print_message(f"results of {model!r} go to {str(session.folder.of_model(without_row))!r}")
    raise typer.Exit(asyncio.run(_run(session, without_row, estimates=estimates)))


async def _run(session: Session, without_row: str | None, *, estimates: bool) -> int:
    """Opens what is needed, runs the plan and returns the exit code; --model names a model `without_row`."""
    screen = console()
    progress = schedule.ConsoleProgress(screen)
    async with AsyncExitStack() as stack:
        with progress:
            runner = await session.open(stack, progress)
        plan = runner.plan
        for notice in notices(plan):
            screen.print_message(notice)
        if estimates or not session.wanted.asks:
            expected = await estimate(plan, runner.folder, runner.grader)
            show_estimates(expected, screen)
            if not session.wanted.asks:
                return 2 if any(suite.error for model in expected for suite in model.suites) else 0
        summary = await run_plan(runner)
    if without_row is not None and (summary.errors or summary.failures):
        summary.notes.append(
            f"{without_row} was named with --model, so it has no row: its `model`, `base_url` and `key_env`"
            " are --model, --base-url and --key-env; for others write it into models.yaml (README, 'Add a"
            " model')"
        )
    if any(plan.work.values()) and not (summary.finished or summary.exit_code or summary.other_protocol):
        summary.notes.append(
            "all units had been measured before; `triathlon results archive --models ID` and then `triathlon"
            " cache prune --model ID` have a model asked anew"
        )
    signal.signal(signal.SIGINT, lambda *_: None)  # the run has ended: Ctrl-C must not change its exit code
    show_summary(summary, runner.control, progress, runner.folder, screen)
    return summary.exit_code


def _judge_of(listed: Registry, progress: schedule.ConsoleProgress) -> ModelRow | None:
    """Returns the judge's row; None where the models file names none, or it cannot run here."""
    row = None if listed.judge is None else listed.row(listed.judge)
    if row is not None and (reason := schedule.why_not(row)) is not None:
        progress.say(
            f"no judge, so ASL is an interval, and loops that it judged are kept apart: {row.id}: {reason}"
        )
        return None
    return row


def _asks_judge(plan: schedule.RunPlan, folder: ResultsFolder) -> bool:
    """Whether a unit is open whose suite asks the judge."""
    for work in (work for works in plan.work.values() for work in works if work.settings.get("judge")):
        with suppress(UserError):  # the run says that of the file
            if left_to_ask(work, folder)[0]:
                return True
    return False


async def _open_judge(stack: AsyncExitStack, runner: schedule.Runner, row: ModelRow) -> schedule.OpenModel:
    """Opens the judge.

    Raises:
        UserError: the judge cannot be asked, or the run is to stop before its server answers.
    """
    progress = runner.progress
    try:
        opened = await stack.enter_async_context(runner.open_model(row, f"{row.id} (judge)"))
    except ModelUnavailableError as error:
        raise UserError(
            f"the judge {row.id} cannot be asked: {error}; without `judge:` in the models file ASL is an"
            " interval"
        ) from None
    except asyncio.CancelledError:
        if not runner.control.stopped:
            raise
        raise UserError(f"stopped before the judge {row.id} answered: {runner.control.stopped}") from None

    def say_lost(why: str) -> None:
        message = (
            f"the judge {row.id} cannot be asked any more: {why}; the similarities that it would give are"
            " unknown, so ASL is an interval"
        )
        progress.say(message)
        runner.summary.notes.append(message)

    opened.on_lost = say_lost
    return opened


async def run_plan(runner: schedule.Runner) -> schedule.Summary:
    """Asks the planned models. The first Ctrl-C or SIGTERM stops new work, the second ends the run.

    SIGHUP (the terminal was closed) does what the first Ctrl-C does, however often it comes: shell and kernel
    may each send one; so does an output that is lost (`run | head`). Where SIGHUP is ignored, as under
    nohup, it stays ignored.
    """
    control, summary = runner.control, runner.summary
    errors = runner.progress.errors = cache_folder() / "logs" / "errors.log"
    task = asyncio.ensure_future(runner.run())

    def interrupt(name: str) -> None:
        if control.stopped:
            task.cancel()
        else:
            control.stop(name)

    def lose_output(reason: str) -> None:
        _discard_lost_output()
        if not (control.stopped or loop.is_closed()):
            loop.call_soon_threadsafe(control.stop, reason)

    loop = asyncio.get_running_loop()
    for number, name in ((signal.SIGINT, schedule.CTRL_C), (signal.SIGTERM, "SIGTERM")):
        loop.add_signal_handler(number, interrupt, name)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        # Output is discarded before the next line is printed.
        signal.signal(signal.SIGHUP, lambda *_: lose_output("SIGHUP"))
    runner.progress.on_lost_output = partial(lose_output, "its output is lost")
    with runner.progress:
        try:
            await task
        except asyncio.CancelledError:
            if not control.stopped:
                raise
            runner.progress.say("stopped; the next run goes on from here")
            summary.open = max(summary.open, 1)
            summary.stopped = f"{control.stopped}, and then at once"
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
    if summary.broken:
        units = counted(summary.broken, "unit")
        summary.notes.append(f"{units} met an error in this program; please report {errors}")
    return summary


def _discard_lost_output() -> None:
    """Sends output to /dev/null where its terminal or the reader of its pipe is gone."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is None:
            continue
        errors = select.poll()
        errors.register(stream.fileno(), 0)  # 0: only errors, which are always reported
        if errors.poll(0):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
