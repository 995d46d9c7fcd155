"""`triathlon run`: asks, executes, appends what is open."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer

from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import catalogue_beside, data_store, models_to_run
from triathlon_runner.cli._run_report import show_estimates, show_summary
from triathlon_runner.cli._session import Session, ignore_interrupts, run_plan
from triathlon_runner.estimates import estimate
from triathlon_runner.llm import Limits
from triathlon_runner.runtime import without_libraries
from triathlon_runner.schedule import (
    STOP_SECONDS,
    ConsoleProgress,
    Control,
    JsonLog,
    RunPlan,
    Wanted,
    seconds,
)
from triathlon_runner.schedule import deadline as parse_deadline
from triathlon_runner.store import ResultsFolder, replace_file
from triathlon_runner.suites import OFFICIAL_EXTRA
from triathlon_runner.terminal import console, counted, duration

_LIMITS = Limits()
_STOP_WITHIN, _OUTAGE, _LONGEST_WAIT = map(
    duration, (STOP_SECONDS, _LIMITS.outage_seconds, _LIMITS.longest_retry_after)
)
Variants = Annotated[
    str | None,
    typer.Option(
        help="Variants too: prompts, temperatures, attacks, style, sampling, greedy, truths, own-prompts."
    ),
]
Prompts = Annotated[
    Path | None, typer.Option(help="Folder with prompts of your own: <discipline>/<name>.txt.")
]
ProfileName = Annotated[Literal["quick", "standard", "full"], typer.Option(help="How much.")]
Limit = Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each suite.")]
Samples = Annotated[int | None, typer.Option(min=1, help="Samples a task; left out: the profile's.")]
Temperature = Annotated[
    float | None,
    typer.Option(min=0, max=2, help="Of evolved suites, for pass@k of several samples; left out: greedy."),
]
Estimates = Annotated[
    bool, typer.Option("--estimates", help="Say first what it will take, as --dry-run does; then run.")
]
Deadline = Annotated[
    str | None, typer.Option(help="8h, 2d12h, 90m, 10s, 07:00 or a date and time; then no request is sent.")
]
StopWithin = Annotated[
    str, typer.Option(help="For how long a stop waits for requests in flight and programs at most: 30s, 2m.")
]
AskAgain = Annotated[
    bool, typer.Option("--ask-again", help="Archive results of another protocol, data or revision; ask anew.")
]
LogJson = Annotated[Path | None, typer.Option(help="File that gets one JSON line an event, for machines.")]
Outage = Annotated[
    str,
    typer.Option(help="How long a server that was reached may be away: 90s, 10m, 8h. Then its model stops."),
]
Attempts = Annotated[
    int, typer.Option(min=1, help="Tries of one question that may fail while others are answered.")
]
Timeout = Annotated[
    str | None,
    typer.Option(help="Longest wait for one answer, as 90s or 10m; left out: as the row says."),
]
LongestWait = Annotated[
    str, typer.Option(help="Longest wait that a server may ask for; then its model stops.")
]


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
    variants: Variants = None,
    prompts: Prompts = None,
    profile: ProfileName = "quick",
    limit: Limit = None,
    samples: Samples = None,
    temperature: Temperature = None,
    dry_run: cli.DryRun = False,
    estimates: Estimates = False,
    budget: cli.Budget = None,
    deadline: Deadline = None,
    stop_within: StopWithin = _STOP_WITHIN,
    ask_again: AskAgain = False,
    log_json: LogJson = None,
    outage: Outage = _OUTAGE,
    attempts: Attempts = _LIMITS.attempts,
    timeout: Timeout = None,
    longest_wait: LongestWait = _LONGEST_WAIT,
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
        single=model_ids[0] if model is not None and model_ids else None,
    )
    session.check()
    if session.single is not None and session.single != model:
        folder = session.folder.of_model(session.single)
        console().print_message(f"results of {model!r} go to {str(folder)!r}")
    raise typer.Exit(asyncio.run(_run(session, log_json, estimates=estimates)))


async def _run(session: Session, log_json: Path | None, *, estimates: bool) -> int:
    """Opens what is needed, runs the plan and returns the exit code."""
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
        if session.single is not None and (summary.errors or summary.failures):
            summary.notes.append(
                f"{session.single} was named with --model, so it has no row: its `model`, `base_url` and"
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
