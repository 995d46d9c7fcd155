"""What several commands need: suites, data, models, what executes programs; what `run` and `gate` ask."""

import asyncio
import os
import select
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from triathlon_runner import catalogue, models_yaml
from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import Catalogue, read_catalogue, suites_file_beside
from triathlon_runner.cli import _app as cli
from triathlon_runner.cluster import open_cluster
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.llm import Limits, ReplyCache
from triathlon_runner.models_yaml import ModelRow, Price, Registry
from triathlon_runner.sandbox import open_sandbox
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


def catalogue_beside(models_file: Path | None = None) -> Catalogue:
    """Returns all suites, with those of a suites.yaml beside the list of models."""
    return read_catalogue(suites_file_beside(models_file))


def data_store(data: Path | None, *, fetch: bool = True) -> DataStore:
    """Returns the store of data sets; refuses a folder that is none."""
    if data is not None and not data.is_dir():
        raise UserError(f"expected a folder with data files at --data (TRIATHLON_DATA), got {str(data)!r}")
    return DataStore(cache=cache_folder() / "data", folder=data, fetch=fetch)


@asynccontextmanager
async def open_grader(
    executor: cli.Executor = "local",
    ray_address: str | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> AsyncIterator[Grader]:
    """Opens a grader that executes programs on this machine or on a cluster, with answer keys in the cache.

    `report` is called with one line about each node of the cluster.

    Raises:
        UserError: the cluster cannot be used.
        SandboxError: nothing can be executed here.
    """
    keys = cache_folder() / "keys"
    if executor == "ray":
        async with open_cluster(ray_address, keys=keys, report=report) as grader:
            yield grader
        return
    if ray_address is not None:
        raise UserError(f"--ray-address {ray_address!r} is for --executor ray; add that, or leave it out")
    async with open_sandbox() as sandbox:
        yield ProgramGrader(sandbox, keys)


def models_to_run(
    models_file: Path,
    models: str | None,
    model: str | None,
    base_url: str | None,
    key_env: str | None,
    price: str | None,
) -> tuple[Registry, list[str] | None]:
    """Returns the registry, and the ids of the models to run; None: all.

    Raises:
        UserError: `--model` without `--base-url`, or the other way round; a file or an id that is not usable.
    """
    if all(option is None for option in (model, base_url, key_env, price)):
        return models_yaml.load(models_file), cli.names(models)
    if model is None or base_url is None:
        raise UserError(
            "expected --model and --base-url together (and --key-env where the server wants a key, --price"
            " for --budget); a model of models.yaml is named with --models"
        )
    if models is not None:
        raise UserError(f"expected --model or --models, got both ({model!r} and {models!r})")
    listed = models_yaml.load(models_file, missing_ok=models_file == cli.MODELS_FILE)
    with_model, model_id = models_yaml.single(model, base_url, key_env, listed, price=_price(price))
    return with_model, [model_id]


def _price(text: str | None) -> Price | None:
    """Returns the price that `1,4` stands for; None for None."""
    if text is None:
        return None
    try:
        usd_in, usd_out = (float(part) for part in text.split(","))
        return Price(input=usd_in, output=usd_out)
    except ValueError:  # pydantic's ValidationError is one, too
        raise UserError(
            f"expected --price as INPUT,OUTPUT, USD per million tokens, such as 1,4, got {text!r}"
        ) from None


def check_prices(rows: Sequence[ModelRow]) -> None:
    """Checks that every model behind an API has a price, as a budget needs."""
    for row in rows:
        if row.api is not None and row.price is None and why_not(row) is None:
            raise UserError(
                f"--budget needs the price of {row.id!r}, in USD per million tokens (0 where it is free): add"
                " `price: {input: …, output: …}` to its row; to a model named with --model, add --price"
                " INPUT,OUTPUT"
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
    single: str | None = None
    """The id of the model that --model names, which has no row."""

    def check(self) -> None:
        """Checks models, suites, prices and prompts before data is read or money is spent.

        Raises:
            UserError: unknown models or suites; a named model that cannot run here, or no model that can;
                a folder without prompts or that cannot be written; a budget without prices.
        """
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
            asked = [row for row in rows if row.id not in reasons]
            check_prices([*asked, *([listed.row(listed.judge)] if listed.judge else [])])
        if wanted.prompts is not None:
            catalogue.check_prompts(wanted.prompts)
        if wanted.asks:
            self.folder.check_writable()

    async def open(self, stack: AsyncExitStack, progress: ConsoleProgress) -> tuple[Runner, RunPlan]:
        """Opens the sandbox, the cache of replies and the judge, which the stack closes, and plans the run.

        Raises:
            UserError: the cluster, the cache or the judge cannot be used; data or a suite has a fault.
            SandboxError: nothing can be executed here.
        """
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
    """Opens the judge of models.yaml; returns None where it names none or it cannot be asked here."""
    if listed.judge is None:
        return None
    row, progress = listed.row(listed.judge), runner.progress
    reason = why_not(row)
    if reason is not None:
        progress.say(f"no judge, so ASL is an interval: {row.id}: {reason}")
        return None
    opened = await stack.enter_async_context(runner.opener.open(row))
    if opened.stats is not None:
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
    """Runs a plan; the first Ctrl-C or SIGTERM stops new work and finishes units in flight, the second stops.

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
