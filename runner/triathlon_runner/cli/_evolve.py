"""`triathlon evolve`: new problems from seeds and a strong model, for a person to review."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import models_yaml
from triathlon_runner.cache import cache_folder
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._names import names
from triathlon_runner.cli._options import Common, Data, ModelsFile, catalogue_beside, data_store
from triathlon_runner.cli._seeds import read_seeds
from triathlon_runner.datasets import Problem
from triathlon_runner.endpoints import Model, ReplyCache
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve import (
    TRANSFORMATIONS,
    Evolver,
    Job,
    Progress,
    Workspace,
    apply_decisions,
    cost,
    estimate,
    make_jobs,
    read_decisions,
    run,
    summary,
    write_review,
)
from triathlon_runner.prompts import load_prompts
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import Account, Bounds, Control, ControlledModel, ModelOpener, why_not
from triathlon_runner.terminal import console

_CHECK_SECONDS = 0.1
"""Between two checks whether the budget is spent and the last reply has come."""


@app.command(
    epilog=examples(
        "triathlon evolve --model gpt-4-turbo --out new --transformations subtle --limit 10 --dry-run",
        "triathlon evolve --model gpt-4-turbo --out new --apply",
    )
)
def evolve(
    model: Annotated[str, typer.Option(help="Id of the model in models.yaml that evolves.")],
    out: Annotated[Path, typer.Option(help="Folder for problems, histories and the review page.")],
    seeds: Annotated[str, typer.Option(help="Suite whose problems are the seeds.")] = "evolved/core-seeds",
    transformations: Annotated[
        str, typer.Option(help="Separated by commas: " + ", ".join(TRANSFORMATIONS) + ".", show_default="all")
    ] = ",".join(TRANSFORMATIONS),
    limit: Annotated[int | None, typer.Option(min=1, help="The first so many seeds.")] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, help="USD; no request is sent once it is spent.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, ask nothing.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Take over what was accepted in review.")] = False,
    models_file: ModelsFile = Common.models_file,
    data: Data = None,
) -> None:
    """Evolves problems, executes and repairs them, and writes a review page; goes on where it stopped.

    Exit code 0: every job has ended; 1: some stay open, run again; 2: something is for you to mend.
    """
    screen, workspace = console(), Workspace(out)
    if apply:
        screen.print_message(_applied(workspace))
        return
    listed = models_yaml.load(models_file)
    (row,) = listed.select([model])
    _check_model(row, budget, dry_run=dry_run)
    (entry,) = catalogue_beside(models_file).select([seeds])
    problems, left_out = asyncio.run(read_seeds(entry, data_store(data)))
    for line in left_out:
        screen.print_message(line)
    jobs = make_jobs(problems, names(transformations) or [], limit)
    screen.print_message(_expected(jobs, workspace, row))
    if not dry_run:
        workspace.check()
        read_decisions(workspace)
        raise typer.Exit(asyncio.run(_evolve(listed, row, jobs, problems, workspace, budget)))


def _applied(workspace: Workspace) -> str:
    applied = apply_decisions(workspace)
    accepted, refused = len(applied.accepted), len(applied.refused)
    return f"{accepted} accepted, {refused} refused, {len(applied.undecided)} undecided"


def _check_model(row: models_yaml.ModelRow, budget: float | None, *, dry_run: bool) -> None:
    """Checks that the model can be asked here within the budget.

    Raises:
        UserError: the model can't be asked here, or has no price where there is a budget.
    """
    reason = why_not(row)
    if reason is not None and not dry_run:
        raise UserError(f"{row.id!r} cannot be asked here: {reason}")
    if budget is not None and row.price is None:
        raise UserError(
            f"--budget expects a model with a price, {row.id!r} names none;"
            " add `price` to it or leave --budget out"
        )


def _expected(jobs: Sequence[Job], workspace: Workspace, row: models_yaml.ModelRow) -> str:
    """Returns what the unfinished jobs will take, in words."""
    unfinished = [job for job in jobs if not workspace.is_done(job)]
    expected = estimate(unfinished)
    usd = cost(expected, row.price)
    done = len(jobs) - len(unfinished)
    before = f" ({done} done before)" if done else ""
    money = "price unknown" if usd is None else f"about {usd:.2f} USD"
    return (
        f"{len(unfinished)} problems to evolve{before}, about {expected.requests} requests,"
        f" {expected.input_tokens + expected.output_tokens} tokens, {money}"
    )


async def _evolve(
    listed: models_yaml.Registry,
    row: models_yaml.ModelRow,
    jobs: Sequence[Job],
    problems: Sequence[Problem],
    workspace: Workspace,
    budget: float | None,
) -> int:
    screen, cache = console(), cache_folder()

    def show(progress: Progress) -> None:
        done = progress.done_before + progress.finished
        usage = progress.usage
        tokens = "unknown" if usage.uncounted else usage.output_tokens
        money = "" if progress.cost_usd is None else f", {progress.cost_usd:.2f} USD"
        screen.print_message(
            f"{done}/{progress.jobs} evolved, {progress.dropped} dropped, {len(progress.open)} open,"
            f" {tokens} tokens{money}"
        )

    control = Control(Bounds(budget))

    def stop_reason() -> str:
        return "" if control.may_send() else control.stop.reason

    with ReplyCache(cache / "replies.sqlite") as replies:
        opener = ModelOpener(listed, replies, cache, screen.print_message, control=control)
        async with open_sandbox() as sandbox, _controlled(opener, row, control) as opened:
            evolver = Evolver(opened, load_prompts("evolved"), sandbox, workspace, row.price, stop_reason)
            progress = await run(evolver, jobs, show)
    histories = workspace.histories()
    if histories:
        screen.print_message(summary(histories))
        screen.print_message(f"review: {write_review(workspace, problems)}")
    for job, reason in progress.open.items():
        screen.print_message(f"open: {job}: {reason}")
    return 1 if progress.open else 0


@asynccontextmanager
async def _controlled(
    opener: ModelOpener, row: models_yaml.ModelRow, control: Control
) -> AsyncIterator[Model]:
    """Opens the row's model. Once the budget is spent it sends no request; replies in flight still count."""

    async def end_waits() -> None:
        while control.may_send() or control.in_flight:  # noqa: ASYNC110  neither has an event
            await asyncio.sleep(_CHECK_SECONDS)
        while True:
            control.release()
            await asyncio.sleep(_CHECK_SECONDS)

    async with opener.open(row) as opened:
        if opened.stats is not None:
            control.bounds.accounts.append(Account(row.id, opened.stats, row.price))
        watch = asyncio.create_task(end_waits())
        try:
            yield ControlledModel(opened, control)
        finally:
            watch.cancel()
