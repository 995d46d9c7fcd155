"""`triathlon run`: asks, executes, appends what is open."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer

from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import catalogue_beside, data_store, models_to_run
from triathlon_runner.cli._session import Session, about_cost, ignore_interrupts, run_plan, warnings_about
from triathlon_runner.estimates import ModelEstimate, estimate
from triathlon_runner.llm import Limits
from triathlon_runner.runtime import without_libraries
from triathlon_runner.schedule import (
    STOP_SECONDS,
    Account,
    ConsoleProgress,
    Control,
    JsonLog,
    RunPlan,
    Summary,
    Wanted,
    seconds,
)
from triathlon_runner.schedule import deadline as parse_deadline
from triathlon_runner.store import ResultsFolder, replace_file
from triathlon_runner.suites import OFFICIAL_EXTRA
from triathlon_runner.terminal import Screen, console, counted, duration, table

_LIMITS = Limits()
_REASONS = 5


@cli.command(
    "triathlon run --limit 2",
    "triathlon run --models my-model --suites loop/core --profile standard --dry-run",
    "triathlon run --budget 20 --deadline 07:00",
    "triathlon run --model qwen2.5-coder --base-url http://127.0.0.1:11434/v1",
)
def run(
    models: cli.Models = None,
    model: cli.ModelName = None,
    base_url: cli.BaseUrl = None,
    key_env: cli.KeyEnv = None,
    price: cli.PriceOfModel = None,
    suites: cli.Suites = None,
    variants: Annotated[
        str | None,
        typer.Option(
            help="Variants too: prompts, temperatures, attacks, style, sampling, greedy, truths, own-prompts."
        ),
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder with prompts of your own: <discipline>/<name>.txt.")
    ] = None,
    profile: Annotated[Literal["quick", "standard", "full"], typer.Option(help="How much.")] = "quick",
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
    dry_run: cli.DryRun = False,
    estimates: Annotated[
        bool, typer.Option("--estimates", help="Say first what it will take, as --dry-run does; then run.")
    ] = False,
    budget: cli.Budget = None,
    deadline: Annotated[
        str | None,
        typer.Option(help="8h, 2d12h, 90m, 10s, 07:00 or a date and time; then no request is sent."),
    ] = None,
    stop_within: Annotated[
        str,
        typer.Option(help="For how long a stop waits for requests in flight and programs at most: 30s, 2m."),
    ] = duration(STOP_SECONDS),
    ask_again: Annotated[
        bool,
        typer.Option("--ask-again", help="Archive results of another protocol, data or revision; ask anew."),
    ] = False,
    log_json: Annotated[
        Path | None, typer.Option(help="File that gets one JSON line an event, for machines.")
    ] = None,
    outage: Annotated[
        str,
        typer.Option(
            help="How long a server that was reached may be away: 90s, 10m, 8h. Then its model stops."
        ),
    ] = duration(_LIMITS.outage_seconds),
    attempts: Annotated[
        int, typer.Option(min=1, help="Tries of one question that may fail while others are answered.")
    ] = _LIMITS.attempts,
    timeout: Annotated[
        str | None,
        typer.Option(help="Longest wait for one answer, as 90s or 10m; left out: as the row says."),
    ] = None,
    longest_wait: Annotated[
        str, typer.Option(help="Longest wait that a server may ask for; then its model stops.")
    ] = duration(_LIMITS.longest_retry_after),
    executor: cli.ExecutorOption = "local",
    ray_address: cli.RayAddress = None,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
) -> None:
    """Asks, executes and appends what is open.

    Exit code 0: nothing is open; 1: units stay open, run again.
    2: a model was stopped, or something else is for you to fix.
    """
    listed, model_ids = models_to_run(models_file, models, model, base_url, key_env, price)
    wanted = Wanted(
        profile,
        model_ids,
        cli.names(suites),
        cli.names(variants) or (),
        prompts,
        limit=limit,
        samples=samples,
        temperature=temperature,
        asks=not dry_run,
        ask_again=ask_again,
        catalogue=catalogue_beside(models_file),
    )
    session = Session(
        listed=listed,
        wanted=wanted,
        control=Control(
            budget,
            None if deadline is None else parse_deadline(deadline),
            seconds("--stop-within", stop_within),
        ),
        folder=ResultsFolder(results),
        data=data_store(data),
        limits=Limits(
            attempts=attempts,
            outage_seconds=seconds("--outage", outage),
            longest_retry_after=seconds("--longest-wait", longest_wait),
        ),
        timeout_seconds=None if timeout is None else seconds("--timeout", timeout),
        executor=executor,
        ray_address=ray_address,
    )
    session.check()
    without_row = model_ids[0] if model is not None and model_ids else None
    if without_row is not None and without_row != model:
        console().print_message(f"results of {model!r} go to {str(session.folder.of_model(without_row))!r}")
    raise typer.Exit(asyncio.run(_run(session, log_json, without_row, estimates=estimates)))


async def _run(session: Session, log_json: Path | None, without_row: str | None, *, estimates: bool) -> int:
    """Opens what is needed, runs the plan and returns the exit code; --model names a model `without_row`."""
    screen = console()
    progress = ConsoleProgress(screen)
    async with AsyncExitStack() as stack:
        with progress:
            runner, plan = await session.open(stack, progress)
        for notice in notices(plan):
            screen.print_message(notice)
        if estimates or not session.wanted.asks:
            show_estimates(await estimate(plan, runner.folder, runner.grader), screen)
        if not session.wanted.asks:
            return 0
        _record_skipped(plan, runner.folder)
        log = progress.log = stack.enter_context(JsonLog(log_json)) if log_json else None
        summary = await run_plan(runner, plan)
        if without_row is not None and (summary.errors or summary.failures):
            summary.notes.append(
                f"{without_row} was named with --model, so it has no row: its `model`, `base_url` and"
                " `key_env` are --model, --base-url and --key-env; for others write it into models.yaml"
                " (README, 'Add a model')"
            )
        if plan.work and not (summary.finished or summary.exit_code or summary.other_protocol):
            summary.notes.append(
                "all units had been measured before; another --results folder has them asked anew"
            )
        if log is not None:
            log.end(
                runner.control.accounts,
                finished=summary.finished,
                open=summary.open,
                usd=round(runner.control.spent, 6),
                exit_code=summary.exit_code,
            )
    ignore_interrupts()  # the run has ended: Ctrl-C must not change its exit code
    show_summary(summary, runner.control, progress, runner.folder, screen)
    return summary.exit_code


def notices(plan: RunPlan) -> Iterator[str]:
    """Yields what a user should know before anything is asked: what is left out, repeated or trusted."""
    yield from _skipped("model", plan.skipped_models)
    yield from _skipped("suite", plan.skipped_suites)
    works = [work for works in plan.work.values() for work in works]
    questions = {work.suite_id: work.settings["questions"] for work in works if "questions" in work.settings}
    for suite, found in questions.items():
        reasons = "; ".join(f"{t} {why}" for t, why in without_libraries(found["left_out_programs"]).items())
        if reasons:
            yield (
                f"{suite} asks {counted(found['count'], 'question')}, not all that its data set has:"
                f" {reasons}; {OFFICIAL_EXTRA} installs what DREval and ClassEval need"
            )
    if copies := ", ".join(dict.fromkeys(work.suite_id for work in works if work.asks_for_copies)):
        yield (
            f"{copies}: asked at temperature 0, so all samples of a task are one reply, which is asked for"
            " once; for samples that differ name --temperature, or suites that sample"
        )
    hosts: dict[str, set[str]] = {}
    for row in {work.row.id: work.row for work in works}.values():
        if row.serve is not None and (named := row.serve.executes):
            yield (
                f"{row.id}: its row runs code on this machine, outside the sandbox ({'; '.join(named)}): only"
                " for rows whose author you trust"
            )
        if row.api is not None and row.api.key_env and not row.api.send_key_to:
            hosts.setdefault(row.api.key_env, set()).add(urlsplit(row.api.base_url).netloc)
    for variable, places in hosts.items():
        if len(places) > 1:
            yield (
                f"the key in ${variable} goes to several hosts ({', '.join(sorted(places))}): name a"
                " variable for each, or confirm each with `send_key_to` in its row"
            )


def _skipped(noun: str, reasons: Mapping[str, str]) -> Iterator[str]:
    """Yields a line a reason: on a machine without keys and GPU most models are skipped."""
    for reason in dict.fromkeys(reasons.values()):
        ids = [name for name, why in reasons.items() if why == reason]
        subject = noun if len(ids) == 1 else f"{counted(len(ids), noun)}:"
        yield f"skipped {subject} {', '.join(ids)}: {reason}"


def _record_skipped(plan: RunPlan, folder: ResultsFolder) -> None:
    """Writes why each model was skipped, for the site; a file with the same reason is not written again."""
    for model, reason in plan.skipped_models.items():
        file, text = folder.skipped(model), f"{reason}\n"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            replace_file(file, text)
    for model in plan.work:
        folder.skipped(model).unlink(missing_ok=True)


def show_estimates(estimates: list[ModelEstimate], screen: Screen) -> None:
    """Prints a line for each model and suite, then the totals of each model."""
    columns = ["units", "open", "tokens out", "pass@1 ±"]
    by_suite = table(
        "model, suite", *columns, "estimated from", right=columns, whole=["model, suite", *columns]
    )
    for model in estimates:
        by_suite.add_row(model.model)
        for suite in model.suites:
            by_suite.add_row(
                f"  {suite.suite}",
                f"{suite.units}",
                f"{suite.open}",
                _round(suite.cost.output_tokens),
                f"{100 * suite.half_width:.1f}",
                suite.cost.basis if suite.open else "done",
            )
    screen.print(by_suite)
    columns = ["requests", "tokens in", "tokens out", "USD", "hours"]
    totals = table("model", *columns, right=columns, whole=["model", *columns])
    for model in estimates:
        totals.add_row(
            model.model,
            *map(_round, (model.cost.requests, model.cost.input_tokens, model.cost.output_tokens)),
            "no price" if model.usd is None else f"{model.usd:.2f}",
            "" if model.hours is None else f"{model.hours:.2f}",
        )
    screen.print(totals)
    asked = [model for model in estimates if model.cost.requests]
    for speed in dict.fromkeys(model.speed for model in asked):
        models = ", ".join(model.model for model in asked if model.speed == speed)
        screen.print_message(f"speed of {models}: {speed}")
    if any(suite.open and "at most" in suite.cost.basis for model in estimates for suite in model.suites):
        screen.print_message(
            "At most: where only first prompts are known, replies are taken at their token limit and loops"
            " as passed to their end; a small run first gives the amounts to be expected."
        )


def show_summary(
    summary: Summary, control: Control, progress: ConsoleProgress, folder: ResultsFolder, screen: Screen
) -> None:
    """Prints what was done, what stays open and why, and what it cost."""
    accounts = control.accounts
    if accounts:
        screen.print(progress.final())
    lines = []
    if any(account.price for account in accounts):
        part = about_cost(accounts)
        lines.append(f"{control.spent:.4f} USD spent in this run{', ' if part else ''}{part}")
    if summary.stopped:
        lines.append(f"stopped: {summary.stopped}")
    lines += [*_open_units(summary, accounts), *summary.notes]
    for account in accounts:
        lines += warnings_about(account)
    lines += [
        f"kept apart: {name} holds results of {why}; --ask-again archives them and asks anew"
        for name, why in summary.other_protocol.items()
    ]
    lines += [f"not finished: {error}" for error in summary.errors]
    finished = f"{counted(summary.finished, 'unit')} finished, {summary.open} open"
    lines.append(f"{finished}; results in {folder.root}{os.sep}")
    for line in lines:
        screen.print_message(line)


def _open_units(summary: Summary, accounts: Sequence[Account]) -> list[str]:
    """Returns how many units are open for each frequent reason that stopped no model, then the rest.

    The last error of a server that answered nothing after it is named: when the run ended, its units were
    still being tried again and had no reason of their own.
    """
    stopped = {error.partition(": ")[2] for error in summary.errors}
    counts: Counter[str] = Counter()
    for reason, count in summary.failures.most_common(_REASONS):
        if reason not in stopped:
            counts[reason] += count
    remaining = summary.open - sum(counts.values())
    last_errors = [
        f"the last error of {account.model}: {account.stats.retried_error}"
        for account in accounts
        if account.stats.retried_error
    ]
    if (counts or last_errors) and remaining > 0:
        counts["; ".join(["not asked, not asked to the end, or for other reasons", *last_errors])] = remaining
    return [f"open, {counted(count, 'unit')}: {reason}" for reason, count in counts.items()]


def _round(amount: float) -> str:
    return f"{amount:,.0f}" if amount < 1e6 else f"{amount / 1e6:,.1f} M"
