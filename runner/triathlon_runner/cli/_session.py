"""What a command needs to ask models: sandbox, cache, opener and judge; and how Ctrl-C stops a run."""

import asyncio
import os
import select
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from triathlon_runner import models_yaml
from triathlon_runner.cache import cache_folder
from triathlon_runner.cli._options import open_grader
from triathlon_runner.cli._run_options import Options
from triathlon_runner.grading import Grader, stored_cpu_seconds
from triathlon_runner.llm import ReplyCache
from triathlon_runner.sandbox import integrity
from triathlon_runner.schedule import (
    CTRL_C,
    Account,
    Conditions,
    ConsoleProgress,
    Control,
    JsonLog,
    JudgeModel,
    ModelOpener,
    Runner,
    RunPlan,
    Summary,
    build_plan,
    logged_errors,
    why_not,
)
from triathlon_runner.terminal import counted


@dataclass(frozen=True, slots=True)
class Session:
    """What is open while models are asked."""

    grader: Grader
    opener: ModelOpener
    control: Control
    judge: JudgeModel | None
    plan: RunPlan


async def open_session(
    stack: AsyncExitStack, options: Options, listed: models_yaml.Registry, progress: ConsoleProgress
) -> Session:
    """Opens the sandbox, the cache of replies and the judge, which the stack closes, and plans the run.

    Raises:
        UserError: the cluster, the cache or the judge cannot be used; data or a suite has a fault.
        SandboxError: nothing can be executed here.
    """
    cache = cache_folder()
    progress.status("preparing the sandbox")
    grader = await stack.enter_async_context(open_grader(options.executor, options.ray_address, progress.say))
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
    judge = await _open_judge(listed, opener, stack, progress, control)
    plan = await build_plan(listed, grader, options.data, options.wanted, judge, progress.status)
    return Session(grader, opener, control, judge, plan)


async def run_plan(
    options: Options, session: Session, progress: ConsoleProgress, log: JsonLog | None = None
) -> Summary:
    """Asks the planned models; writes into the results folder of the options. Ctrl-C stops it."""
    level = session.grader.sandbox.level
    conditions = Conditions(options.wanted.profile.name, level, integrity(level))
    runner = Runner(
        options.folder,
        session.grader,
        session.opener,
        progress,
        conditions,
        session.control,
        ask_again=options.ask_again,
        stop_seconds=options.stop_seconds,
        reference_seconds=partial(stored_cpu_seconds, cache_folder() / "keys"),
    )
    errors = cache_folder() / "logs" / "errors.log"
    with progress, logged_errors(errors, log):
        summary = await _run_interruptible(runner, session.plan, progress)
    if session.judge is not None and session.judge.lost:
        summary.notes.append(session.judge.lost)
    if summary.broken:
        units = counted(summary.broken, "unit")
        summary.notes.append(f"{units} met an error in this program; please report {errors}")
    return summary


async def _open_judge(
    listed: models_yaml.Registry,
    opener: ModelOpener,
    stack: AsyncExitStack,
    progress: ConsoleProgress,
    control: Control,
) -> JudgeModel | None:
    """Opens the judge of models.yaml; returns None where it names none or it cannot be asked here."""
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
    return JudgeModel(opened, control, progress.say)


async def _run_interruptible(runner: Runner, plan: RunPlan, progress: ConsoleProgress) -> Summary:
    """Runs a plan; the first Ctrl-C or SIGTERM stops new work and finishes units in flight, the second stops.

    SIGHUP (the terminal was closed) does what the first Ctrl-C does, however often it comes: shell and kernel
    may each send one. Where it is ignored, as under nohup, it stays ignored.
    """
    task = asyncio.ensure_future(runner.run(plan))

    def interrupt(name: str) -> None:
        if runner.stop.asked:
            task.cancel()
        else:
            runner.stop.ask(name)

    def hang_up(*_: object) -> None:
        _discard_lost_output()
        if not (runner.stop.asked or loop.is_closed()):
            loop.call_soon_threadsafe(runner.stop.ask, "SIGHUP")

    loop = asyncio.get_running_loop()
    for number, name in ((signal.SIGINT, CTRL_C), (signal.SIGTERM, "SIGTERM")):
        loop.add_signal_handler(number, interrupt, name)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, hang_up)  # discards output before the next line is printed
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


def ignore_interrupts() -> None:
    """Makes this process ignore Ctrl-C from here on; processes that it starts do not inherit that."""
    signal.signal(signal.SIGINT, lambda *_: None)
