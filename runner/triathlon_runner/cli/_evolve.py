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
from triathlon_runner.cli._names import complete_suites, names
from triathlon_runner.cli._options import (
    Common,
    Data,
    ModelsFile,
    catalogue_beside,
    data_store,
    open_local_grader,
)
from triathlon_runner.datasets import DataStore, FunctionProblem, Problem
from triathlon_runner.datasets.user import with_inputs
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
    parameter_types,
    read_decisions,
    run,
    summary,
    write_review,
)
from triathlon_runner.llm import Model, ReplyCache
from triathlon_runner.prompts import load_prompts
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import (
    Account,
    Bounds,
    Control,
    ControlledModel,
    ModelOpener,
    check_references,
    why_not,
)
from triathlon_runner.suites import Programs, SuiteEntry
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
    seeds: Annotated[
        str, typer.Option(help="Suite whose problems are the seeds.", autocompletion=complete_suites)
    ] = "evolved/core-seeds",
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
        applied = apply_decisions(workspace)
        counts = {name: len(getattr(applied, name)) for name in ("accepted", "refused", "undecided")}
        screen.print_message(", ".join(f"{count} {name}" for name, count in counts.items()))
        return
    listed = models_yaml.load(models_file)
    (row,) = listed.select([model])
    _check_model(row, budget, dry_run=dry_run)
    (entry,) = catalogue_beside(models_file).select([seeds])
    problems, left_out = asyncio.run(_read_seeds(entry, data_store(data)))
    for line in left_out:
        screen.print_message(line)
    jobs = make_jobs(problems, names(transformations) or [], limit)
    screen.print_message(_expected(jobs, workspace, row))
    if not dry_run:
        workspace.check()
        read_decisions(workspace)
        raise typer.Exit(asyncio.run(_evolve(listed, row, jobs, problems, workspace, budget)))


def _check_model(row: models_yaml.ModelRow, budget: float | None, *, dry_run: bool) -> None:
    """Checks that the model can be asked here, and has a price where there is a budget."""
    reason = why_not(row)
    if reason is not None and not dry_run:
        raise UserError(f"{row.id!r} cannot be asked here: {reason}")
    if budget is not None and row.price is None:
        raise UserError(
            f"--budget expects a model with a price, {row.id!r} names none;"
            " add `price` to it or leave --budget out"
        )


async def _read_seeds(entry: SuiteEntry, store: DataStore) -> tuple[Sequence[Problem], list[str]]:
    """Returns the functions of a suite, and a line for each of a user's own problems that is no seed."""
    suite = entry.build(store)
    if not isinstance(suite, Programs):
        raise UserError(
            f"the tasks of {entry.id!r} are no functions to evolve; name an evolved suite at --seeds"
        )
    functions = suite.functions()
    if entry.user_data is not None:
        async with open_local_grader() as grader:
            await check_references(entry.user_data.read(), grader, store.cache / "references")
        return _seeds_of_user(entry.id, functions)
    problems = [problem for problem in functions if isinstance(problem, Problem)]
    if len(problems) < len(functions):
        raise UserError(
            f"the problems of {entry.id!r} are graded by assertions, and evolving needs inputs to run the"
            " reference on; name another suite at --seeds, such as evolved/humaneval"
        )
    return problems, []


def _seeds_of_user(suite_id: str, functions: Sequence[FunctionProblem]) -> tuple[list[Problem], list[str]]:
    """Returns the seeds, and why others are none. Inputs come from the file or from calls in its tests."""
    seeds, left_out = [], []
    for problem in map(with_inputs, functions):
        if not parameter_types(problem):
            why = (
                "its prompt has no function with parameters to rewrite; write the problem in the format of"
                " HumanEval or EvalPlus"
            )
        elif not problem.inputs:
            why = "its tests call it with no plain values to run the reference on; add them as base_input"
        else:
            seeds.append(problem)
            continue
        left_out.append(f"left out: {problem.task_id}: {why}")
    if not seeds:
        none = f"expected problems in {suite_id!r} that can be evolved, got none"
        raise UserError("\n".join([none, *left_out]))
    return seeds, left_out


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
