"""`triathlon evolve`: new problems from seeds and a strong model, for a person to accept."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from triathlon_runner import models_yaml
from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import read_catalogue, suites_file_beside
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import check_prices, data_store, with_grader
from triathlon_runner.cli._report import costs, warnings_about
from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.datasets.user import ACCEPTED, DataSetRow
from triathlon_runner.errors import InfrastructureError, UserError, messages
from triathlon_runner.evolved import evolve as evolving
from triathlon_runner.llm import ReplyCache
from triathlon_runner.prompts import load_prompts
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import Account, Control, ModelOpener, check_references, why_not
from triathlon_runner.store import refuse_second_writer
from triathlon_runner.suites import Programs, SuiteEntry
from triathlon_runner.terminal import Screen, console, counted

_TRANSFORMATIONS = ", ".join(evolving.TRANSFORMATIONS)


@cli.command(
    "triathlon evolve --model gpt-5.4-mini --out new --transformations subtle --limit 10 --dry-run",
    "triathlon evolve --model gpt-5.4-mini --seeds evolved/humaneval --transformations decompose --out new",
)
def evolve(
    model: Annotated[str, Option(help="Id of the model in models.yaml that evolves.")],
    out: Annotated[Path, Option(help="Folder for the sets, and a log of the jobs that ended.")],
    seeds: Annotated[str, Option(help="Suite whose problems are the seeds.")] = "evolved/core-seeds",
    transformations: Annotated[
        str, Option(help=f"Separated by commas; left out: {_TRANSFORMATIONS}.", show_default=False)
    ] = _TRANSFORMATIONS,
    limit: Annotated[int | None, Option(min=1, help="The first so many seeds.")] = None,
    budget: cli.Budget = None,
    dry_run: cli.DryRun = False,
    models_file: cli.ModelsFile = None,
    data: cli.Data = None,
) -> None:
    """Evolves problems, executes and repairs them, and writes sets for suites.yaml; goes on where it stopped.

    Every line of a set has a field `accepted`: null until you set it to true or false.
    Only accepted problems become tasks.

    Exit code 0: every job has ended; 1: some stay open, run again; 2: something is for you to fix.
    """
    screen, workspace = console(), evolving.Workspace(out)
    listed = models_yaml.load(models_file)
    (row,) = listed.select([model])
    if (reason := why_not(row)) is not None and not dry_run:
        raise UserError(f"{row.id!r} cannot be asked here: {reason}")
    if budget is not None:
        check_prices([row])
    (entry,) = read_catalogue(models_file).select([seeds])
    problems = _read_seeds(entry, data_store(data), screen)
    jobs = evolving.make_jobs(problems, cli.names(transformations) or [], limit)
    if not dry_run:
        workspace.check(problems)
    ended = workspace.ended()
    unfinished = [job for job in jobs if job.id not in ended]
    expected, done = evolving.estimate(unfinished), len(jobs) - len(unfinished)
    before = f" ({done} done before)" if done else ""
    tokens = expected.input_tokens + expected.output_tokens
    cost = f"about {row.price.cost_of(expected):.2f} USD" if row.price else "price unknown"
    screen.print_message(
        f"{counted(len(unfinished), 'problem')} to evolve{before}, about"
        f" {counted(expected.requests, 'request')}, {tokens} tokens, {cost}"
    )
    if dry_run:
        return
    try:
        control, progress = Control(budget), evolving.Progress(len(jobs))
        if unfinished and control.may_send():
            with refuse_second_writer(out / ".lock", f"problems to {str(out)!r}", "--out"):
                progress = asyncio.run(_evolve(listed, row, jobs, workspace, control))
    except (InfrastructureError, BaseExceptionGroup) as error:
        if not (said := messages(error, InfrastructureError, UserError)):
            raise
        raise UserError(f"{row.id}: {'; '.join(said)}") from None
    if control.stopped:
        screen.print_message(f"stopped: {control.stopped}")
    for line in _next_steps(workspace, entry, suites_file_beside(models_file)):
        screen.print(line, soft_wrap=True)  # rows of a file are to be copied whole
    for reason, count in Counter(progress.open.values()).most_common():
        screen.print_message(f"open, {counted(count, 'job')}: {reason}")
    raise typer.Exit(2 if progress.stopped else 1 if progress.open or control.stopped else 0)


def _read_seeds(entry: SuiteEntry, store: DataStore, screen: Screen) -> Sequence[Problem]:
    suite = entry.build(store)
    if not (entry.set_name and isinstance(suite, Programs)):
        raise UserError(
            f"expected a set of the evolved discipline at --seeds, got {entry.id!r}; see `triathlon suites`"
        )
    if entry.user_data is not None:
        problems = entry.user_data.read()
        with_grader(lambda grader: check_references(problems, grader, store.cache / "references"))
    seeds, left_out = evolving.choose_seeds(suite.functions())
    if not seeds:
        raise UserError(f"expected problems in {entry.id!r} that can be evolved, got none\n{left_out}")
    if left_out:
        screen.print_message(left_out)
    return seeds


async def _evolve(
    listed: models_yaml.Registry,
    row: models_yaml.ModelRow,
    jobs: Sequence[evolving.Job],
    workspace: evolving.Workspace,
    control: Control,
) -> evolving.Progress:
    """Runs the jobs, and says where they stand and what they cost."""
    screen, cache = console(), cache_folder()

    with ReplyCache(cache / "replies.sqlite") as replies:
        opener = ModelOpener(listed, replies, cache, screen.print_message, control=control)
        async with open_sandbox() as sandbox, opener.open(row) as opened:
            account = Account(row.id, opened.stats, row.price)
            control.accounts.append(account)

            def show(progress: evolving.Progress) -> None:
                done = progress.done_before + progress.finished
                cost = f", {account.usd:.2f} USD" if row.price else ""
                screen.print_message(
                    f"{done}/{progress.jobs} evolved, {progress.dropped} dropped, {len(progress.open)} open,"
                    f" {account.tokens} tokens{cost}"
                )

            stopping = asyncio.create_task(_stop(control))
            progress = await evolving.carry_out(
                jobs, workspace, opened, load_prompts("evolved"), sandbox, report=show
            )
            stopping.cancel()
    for line in (*costs([account]), *warnings_about(account)):
        screen.print_message(line)
    return progress


async def _stop(control: Control) -> None:
    """Ends the questions that wait once the budget is spent; those in flight get their answers."""
    await control.until_stopped()
    await control.end_waits()


def _next_steps(workspace: evolving.Workspace, seeds: SuiteEntry, suites_file: Path) -> Iterator[str]:
    """Yields how many problems await a decision, how to decide, and each set's row of suites.yaml."""
    if ended := workspace.ended():
        yield evolving.summary(ended.values())
    decisions = workspace.decisions()
    for path, counts in decisions.items():
        yield f"{path}: {counts[True]} accepted, {counts[False]} refused, {counts[None]} await a decision"
    if any(counts[None] for counts in decisions.values()):
        yield f'Decide by setting "{ACCEPTED}" to true or false in each line.'
        yield f"""To accept all of a file: sed -i 's/"{ACCEPTED}": null/"{ACCEPTED}": true/' FILE"""
    if decisions:
        yield f"Rows for {suites_file}:"
    for path in decisions:  # its name is the transformation
        row = {
            "id": f"{seeds.set_name:.49}-{path.stem}",
            "title": f"{path.stem}, evolved from {seeds.title}",
            "problems": os.path.relpath(path, suites_file.parent),
            "seeds": seeds.id,
            "transformation": path.stem,
            "private": seeds.private,
        }
        yield DataSetRow.model_validate(row).as_yaml()
