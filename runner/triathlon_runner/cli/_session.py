"""What `run` and `gate` ask of which models, how Ctrl-C ends that, and what they say of servers and costs."""

import asyncio
import os
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from triathlon_runner import catalogue
from triathlon_runner.cache import cache_folder
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import check_prices, open_grader
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.llm import Limits, ReplyCache
from triathlon_runner.models_yaml import Registry
from triathlon_runner.records import Outcome
from triathlon_runner.schedule import (
    CTRL_C,
    Account,
    ConsoleProgress,
    Control,
    ModelOpener,
    OpenModel,
    Runner,
    RunPlan,
    Summary,
    Wanted,
    build_plan,
    why_not,
)
from triathlon_runner.store import ResultsFolder
from triathlon_runner.terminal import counted

_LIMITS = Limits()
_NEARLY_ALL = 0.9
_UNUSABLE = {
    Outcome.NO_ANSWER: (
        "empty",
        "look at what its server answers; a reasoning model may need `reasoning_max_tokens` in the api block"
        " of its row, a model that completes text `kind: base`",
    ),
    Outcome.TRUNCATED: (
        "cut at the token limit",
        "allow more with `max_tokens` in its row, or with `reasoning_max_tokens` in its api block",
    ),
    Outcome.REFUSED: ("refused", "the model or a filter of its provider refuses our questions"),
    Outcome.CONTEXT_OVERFLOW: (
        "refused as longer than its context",
        "start its server with a longer one (vLLM: --max-model-len, Ollama: OLLAMA_CONTEXT_LENGTH)",
    ),
}
"""By outcome: how a reply is described, and the advice where nearly all replies of a model end like this."""
_CUT_BY_CONTEXT = (
    "cut because question and reply filled the context",
    "start its server with a longer one (vLLM: --max-model-len, Ollama: OLLAMA_CONTEXT_LENGTH)",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """What a command asks of which models, under which limits, and where its results go."""

    listed: Registry
    wanted: Wanted
    control: Control
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
        wanted.catalogue.select(wanted.suites, wanted.variants)
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
            check_prices([row for row in rows if row.id not in reasons])
            check_prices([listed.row(listed.judge)] if listed.judge else [])
        if wanted.prompts is not None:
            catalogue.check_prompts(wanted.prompts)
        if wanted.asks:
            self.folder.check_writable()

    async def open(self, stack: AsyncExitStack, progress: ConsoleProgress) -> tuple[Runner, RunPlan]:
        """Opens sandbox, cache of replies and judge, which the stack closes, and plans the run."""
        cache, limits = cache_folder(), self.limits
        progress.status("preparing the sandbox")
        grader = await stack.enter_async_context(open_grader(self.executor, self.ray_address, progress.say))
        replies = stack.enter_context(ReplyCache(cache / "replies.sqlite"))
        if self.control.budget_usd is not None:  # the price of a reply is not known before the first one
            limits = replace(limits, first_concurrency=1)
        opener = ModelOpener(
            self.listed,
            replies,
            cache,
            progress.say,
            control=self.control,
            limits=limits,
            timeout_seconds=self.timeout_seconds,
        )
        runner = Runner(self.folder, grader, opener, progress, self.control)
        judge = await _open_judge(stack, runner, self.listed)
        return runner, await build_plan(self.listed, grader, self.data, self.wanted, judge, progress.status)


async def _open_judge(stack: AsyncExitStack, runner: Runner, listed: Registry) -> OpenModel | None:
    if listed.judge is None:
        return None
    row, progress = listed.row(listed.judge), runner.progress
    reason = why_not(row)
    if reason is not None:
        progress.say(f"no judge, so ASL is an interval: {row.id}: {reason}")
        return None
    opened = await stack.enter_async_context(runner.opener.open(row))
    account = Account(f"{row.id} (judge)", opened.stats, row.price)
    runner.control.accounts.append(account)
    progress.attach(account)

    def say_lost(why: str) -> None:
        message = (
            f"the judge {row.id} cannot be asked any more: {why}; the similarities that it would give are"
            " unknown, so ASL is an interval"
        )
        progress.say(message)
        runner.summary.notes.append(message)

    opened.on_lost = say_lost
    return opened


async def run_plan(runner: Runner, plan: RunPlan) -> Summary:
    """Asks the planned models; Ctrl-C stops that."""
    errors = runner.progress.errors = cache_folder() / "logs" / "errors.log"
    with runner.progress:
        summary = await _run_interruptible(runner, plan)
    if summary.broken:
        units = counted(summary.broken, "unit")
        summary.notes.append(f"{units} met an error in this program; please report {errors}")
    return summary


async def _run_interruptible(runner: Runner, plan: RunPlan) -> Summary:
    """The first Ctrl-C or SIGTERM stops new work and finishes units in flight, the second stops.

    SIGHUP (the terminal was closed) does what the first Ctrl-C does, however often it comes: shell and kernel
    may each send one. Where it is ignored, as under nohup, it stays ignored.
    """
    task, control = asyncio.ensure_future(runner.run(plan)), runner.control

    def interrupt(name: str) -> None:
        if control.stopped:
            task.cancel()
        else:
            control.stop(name)

    def hang_up(*_: object) -> None:
        _discard_lost_output()
        if not (control.stopped or loop.is_closed()):
            loop.call_soon_threadsafe(control.stop, "SIGHUP")

    loop = asyncio.get_running_loop()
    for number, name in ((signal.SIGINT, CTRL_C), (signal.SIGTERM, "SIGTERM")):
        loop.add_signal_handler(number, interrupt, name)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, hang_up)  # discards output before the next line is printed
    try:
        return await task
    except asyncio.CancelledError:
        if not control.stopped:
            raise
        runner.progress.say("stopped; the next run goes on from here")
        runner.summary.open = max(runner.summary.open, 1)
        runner.summary.stopped = f"{control.stopped}, and then at once"
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


def warnings_about(account: Account) -> Iterator[str]:
    """Yields what to know of a server: tokens not counted, nothing to grade, a context that is full."""
    stats, outcomes = account.stats, account.stats.outcomes
    if stats.uncounted:
        unknown = "the cost is estimated" if account.price else "so is the cost"
        yield (
            f"the server of {account.model} gave no usable token counts for"
            f" {counted(stats.uncounted, 'reply')}: tokens are unknown, {unknown}"
        )
    total = outcomes.total()
    for outcome, advice in _UNUSABLE.items():
        if outcomes[outcome] and outcomes[outcome] >= _NEARLY_ALL * total:
            is_full = outcome is Outcome.TRUNCATED and stats.cut_by_context > stats.truncated
            description, remedy = _CUT_BY_CONTEXT if is_full else advice
            amount = "all" if outcomes[outcome] == total else f"{outcomes[outcome]} of"
            which = f"the replies to {amount} {total} questions were" if total > 1 else "its only reply was"
            yield f"warning: {account.model}: {which} {description} (outcome {outcome}): {remedy}"
            break
    if stats.too_long or stats.cut_by_context:
        yield (
            f"{account.model}: {counted(stats.too_long, 'question')} refused as longer than the context of"
            f" its server, {counted(stats.cut_by_context, 'reply')} cut because question and reply filled"
            f" it, {stats.truncated} cut at the token limit: see `context` and `max_tokens` in its row"
        )


def about_cost(accounts: Sequence[Account]) -> str:
    """Returns what the cost leaves out and which part of it is estimated, and why; empty for neither."""
    parts = []
    if names := ", ".join(sorted({one.model for one in accounts if one.stats.answered and not one.price})):
        parts.append(f"without {names}, for which no price is known")
    priced = [account for account in accounts if account.price]
    reasons = []
    if names := ", ".join(sorted({account.model for account in priced if account.stats.uncounted})):
        reasons.append(f"by the length of texts: the server of {names} gives no usable token counts")
    if lost := sum(account.stats.lost for account in priced):
        reasons.append(f"by the mean of the others: {counted(lost, 'reply')} lost, which may be charged for")
    usd = sum(account.usd_estimated for account in priced)
    if reasons:
        parts.append(f"{usd:.4f} of it estimated {' and '.join(reasons)}")
    return "; ".join(parts)
