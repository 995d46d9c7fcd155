"""`triathlon run`: asks, executes, appends what is open."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer

from triathlon_runner import models_yaml
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._names import Budget, Data, Models, ModelsFile, Results, Suites, names
from triathlon_runner.cli._options import (
    Common,
    ExecutorOption,
    RayAddress,
    catalogue_beside,
    check_executor,
    data_store,
    results_folder,
)
from triathlon_runner.cli._run_options import (
    BaseUrl,
    KeyEnv,
    ModelName,
    Options,
    PriceOfModel,
    limits_of,
    models_to_run,
    seconds,
)
from triathlon_runner.cli._run_report import show_estimates, show_summary
from triathlon_runner.cli._session import ignore_interrupts, open_session, run_plan
from triathlon_runner.estimates import estimate
from triathlon_runner.runtime import without_libraries
from triathlon_runner.schedule import PROFILES, Bounds, ConsoleProgress, JsonLog, RunPlan, Wanted
from triathlon_runner.schedule import deadline as parse_deadline
from triathlon_runner.store import ResultsFolder, replace_file
from triathlon_runner.suites import OFFICIAL_EXTRA
from triathlon_runner.terminal import Screen, console, counted


@app.command(
    epilog=examples(
        "triathlon run --limit 2",
        "triathlon run --models my-model --suites loop/core --profile standard --dry-run",
        "triathlon run --budget 20 --deadline 07:00",
        "triathlon run --model qwen2.5-coder --base-url http://127.0.0.1:11434/v1",
    )
)
def run(
    models: Models = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    key_env: KeyEnv = None,
    price: PriceOfModel = None,
    suites: Suites = None,
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would take (requests, tokens, money), ask nothing.")
    ] = False,
    estimates: Annotated[
        bool, typer.Option("--estimates", help="Say first what it will take, as --dry-run does; then run.")
    ] = False,
    budget: Budget = None,
    deadline: Annotated[
        str | None,
        typer.Option(help="8h, 2d12h, 90m, 10s, 07:00 or a date and time; then no request is sent."),
    ] = None,
    stop_within: Annotated[
        str,
        typer.Option(help="For how long a stop waits for requests in flight and programs at most: 30s, 2m."),
    ] = "30s",
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
    ] = "10m",
    attempts: Annotated[
        int, typer.Option(min=1, help="Tries of one question that may fail while others are answered.")
    ] = 12,
    timeout: Annotated[
        str | None,
        typer.Option(help="Longest wait for one answer, as 90s or 10m; left out: as the row says."),
    ] = None,
    longest_wait: Annotated[
        str, typer.Option(help="Longest wait that a server may ask for; then its model stops.")
    ] = "15m",
    executor: ExecutorOption = "local",
    ray_address: RayAddress = None,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Asks, executes and appends what is open.

    Exit code 0: nothing is open; 1: units stay open, run again.
    2: a model was stopped, or something else is for you to mend.
    """
    check_executor(executor, ray_address)
    run_profile = PROFILES[profile].with_own(limit=limit, samples=samples, temperature=temperature)
    listed, model_ids = models_to_run(models_file, models, model, base_url, key_env, price)
    options = Options(
        wanted=Wanted(
            run_profile,
            model_ids,
            names(suites),
            names(variants) or (),
            prompts,
            not dry_run,
            catalogue_beside(models_file),
        ),
        dry_run=dry_run,
        estimates=estimates,
        bounds=Bounds(budget, None if deadline is None else parse_deadline(deadline)),
        stop_seconds=seconds("--stop-within", stop_within),
        ask_again=ask_again,
        log_json=log_json,
        executor=executor,
        ray_address=ray_address,
        limits=limits_of(outage, attempts, longest_wait, budget),
        timeout_seconds=None if timeout is None else seconds("--timeout", timeout),
        folder=ResultsFolder(results) if dry_run else results_folder(results),
        data=data_store(data),
        single=model_ids[0] if model is not None and model_ids else None,
    )
    options.check(listed)
    if options.single is not None and options.single != model:
        console().print_message(
            f"results of {model!r} go to {str(options.folder.of_model(options.single))!r}"
        )
    raise typer.Exit(asyncio.run(_run(options, listed)))


async def _run(options: Options, listed: models_yaml.Registry) -> int:
    screen = console()
    async with AsyncExitStack() as stack:
        progress = ConsoleProgress(screen)
        with progress:
            session = await open_session(stack, options, listed, progress)
        _say_skipped(session.plan, screen)
        say_left_out(session.plan, screen)
        _say_copies(session.plan, screen)
        _say_trusted(session.plan, screen)
        if options.dry_run or options.estimates:
            show_estimates(await estimate(session.plan, options.folder, session.grader), screen)
        if options.dry_run:
            return 0
        _record_skipped(session.plan, options.folder)
        log = stack.enter_context(JsonLog(options.log_json)) if options.log_json else None
        progress.log = log
        summary = await run_plan(options, session, progress, log)
        if options.single is not None and (summary.errors or summary.failures):
            summary.notes.append(
                f"{options.single} was named with --model, so it has no row: its `model`, `base_url` and"
                " `key_env` are --model, --base-url and --key-env; for others write it into models.yaml"
                " (README, 'Add a model')"
            )
        if log is not None:
            log.end(
                options.bounds.accounts,
                finished=summary.finished,
                open=summary.open,
                usd=round(options.bounds.spent, 6),
                exit_code=summary.exit_code,
            )
    ignore_interrupts()  # the run has ended: Ctrl-C must not change its exit code
    show_summary(summary, options.bounds, progress, options.folder, screen)
    return summary.exit_code


def _say_skipped(plan: RunPlan, screen: Screen) -> None:
    """Prints a line a reason: on a machine without keys and GPU most models are skipped."""
    for noun, skipped in (("model", plan.skipped_models), ("suite", plan.skipped_suites)):
        by_reason: dict[str, list[str]] = {}
        for name, reason in skipped.items():
            by_reason.setdefault(reason, []).append(name)
        for reason, ids in by_reason.items():
            subject = noun if len(ids) == 1 else f"{counted(len(ids), noun)}:"
            screen.print_message(f"skipped {subject} {', '.join(ids)}: {reason}")


def say_left_out(plan: RunPlan, screen: Screen) -> None:
    """Names the suites that lack questions because a library is not installed, with the programs."""
    questions = {
        work.suite_id: work.settings["questions"]
        for works in plan.work.values()
        for work in works
        if "questions" in work.settings
    }
    for suite, found in questions.items():
        reasons = "; ".join(f"{t} {why}" for t, why in without_libraries(found["left_out_programs"]).items())
        if not reasons:
            continue
        screen.print_message(
            f"{suite} asks {counted(found['count'], 'question')}, not all that its data set has: {reasons};"
            f" {OFFICIAL_EXTRA} installs what DREval and ClassEval need"
        )


def _say_copies(plan: RunPlan, screen: Screen) -> None:
    """Names the suites whose samples cannot differ."""
    suites = {work.suite_id: None for works in plan.work.values() for work in works if work.asks_for_copies}
    if suites:
        screen.print_message(
            f"{', '.join(suites)}: asked at temperature 0, so all samples of a task are one reply, which is"
            " asked for once; for samples that differ name --temperature, or suites that sample",
        )


def _say_trusted(plan: RunPlan, screen: Screen) -> None:
    """Names what of the rows runs code outside the sandbox, and keys that go to several hosts."""
    rows = [works[0].row for works in plan.work.values() if works]
    for row in rows:
        if row.serve is not None and (named := row.serve.executes):
            screen.print_message(
                f"{row.id}: its row runs code on this machine, outside the sandbox ({'; '.join(named)}): only"
                " for rows whose author you trust"
            )
    hosts: dict[str, set[str]] = {}
    for row in rows:
        if row.api is not None and row.api.key_env and not row.api.send_key_to:
            hosts.setdefault(row.api.key_env, set()).add(urlsplit(row.api.base_url).netloc)
    for variable, places in hosts.items():
        if len(places) > 1:
            screen.print_message(
                f"the key in ${variable} goes to several hosts ({', '.join(sorted(places))}): name a"
                " variable for each, or confirm each with `send_key_to` in its row"
            )


def _record_skipped(plan: RunPlan, folder: ResultsFolder) -> None:
    """Writes why each model was skipped, for the site; a file with the same reason is not written again."""
    for model, reason in plan.skipped_models.items():
        file, text = folder.skipped(model), f"{reason}\n"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            replace_file(file, text)
    for model in plan.work:
        folder.skipped(model).unlink(missing_ok=True)
