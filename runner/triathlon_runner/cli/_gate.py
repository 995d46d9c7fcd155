"""`triathlon gate`: is the candidate worse than the baseline?"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import models_yaml
from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._names import complete_models, complete_suites, names
from triathlon_runner.cli._options import (
    Common,
    Data,
    ModelsFile,
    Results,
    catalogue_beside,
    data_store,
    results_folder,
)
from triathlon_runner.cli._run_options import Budget, Options, limits_of
from triathlon_runner.cli._run_report import about_replies, about_tokens, estimated_part
from triathlon_runner.cli._session import Session, open_session, run_interruptible, runner_of
from triathlon_runner.errors import UserError
from triathlon_runner.gate import (
    Comparison,
    GateReport,
    count_stored,
    plan_comparison,
    report_of,
    set_pace,
)
from triathlon_runner.schedule import (
    PROFILES,
    Bounds,
    ConsoleProgress,
    RunPlan,
    Summary,
    Wanted,
    build_plan,
    logged_errors,
)
from triathlon_runner.store import replace_file
from triathlon_runner.terminal import Screen, console
from triathlon_runner.unit_pages import SITE_FOLDER


@dataclass(frozen=True, slots=True)
class _GateRequest:
    """Which models are compared, and how strictly."""

    models: tuple[str, str]
    alpha: float
    margin: float
    seed: int
    max_tasks: int | None
    site_url: str | None

    def check(self, markdown: Path | None) -> None:
        """Checks the options, and that the report can be written to `markdown`.

        Raises:
            UserError: one model against itself, a number that is out of range, a file in no folder.
        """
        baseline, candidate = self.models
        if baseline == candidate:
            raise UserError(f"expected two models at --baseline and --candidate, got {baseline!r} twice")
        if not 0 < self.alpha < 1:
            raise UserError(f"expected --alpha above 0 and below 1, such as 0.05, got {self.alpha!r}")
        if not 0 <= self.margin < 1:
            raise UserError(f"expected --margin from 0 to below 1, such as 0.02, got {self.margin!r}")
        if self.site_url and not self.site_url.startswith(("https://", "http://")):
            raise UserError(
                "expected --site-url (TRIATHLON_URL) as the site's web address, such as"
                f" 'https://example.org/board/', got {self.site_url!r}; leave it out for links to _site/"
            )
        if markdown is not None and not markdown.parent.is_dir():
            raise UserError(
                f"expected --markdown in a folder that exists, got {str(markdown)!r}; make it first"
            )


@app.command(
    epilog=examples(
        "triathlon gate --baseline my-model --candidate my-model-int4",
        "triathlon gate --baseline old --candidate new --suites loop/core --margin 0.03 --budget 2",
        "triathlon gate --baseline old --candidate new --json --markdown gate.md",
    )
)
def gate(
    baseline: Annotated[
        str, typer.Option(help="Id of the model to compare with.", autocompletion=complete_models)
    ],
    candidate: Annotated[
        str, typer.Option(help="Id of the model that may be worse.", autocompletion=complete_models)
    ],
    suites: Annotated[
        str | None,
        typer.Option(
            help="Ids, separated by commas; left out: the core suites of the profile quick.",
            autocompletion=complete_suites,
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Probability of a wrong verdict, above 0 and below 1.")] = 0.05,
    margin: Annotated[
        float,
        typer.Option(
            help="How much lower the candidate's mean score may be, 0 to 1: 0.02 is two points of 100."
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the random order of tasks.")] = 0,
    max_tasks: Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each model.")] = None,
    budget: Budget = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document; progress goes to standard error.")
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="File that gets the report, too.")
    ] = None,
    site_url: Annotated[
        str | None,
        typer.Option(
            "--site-url",
            help="Where the site is published, for links to the tasks that were lost; left out: _site/.",
            envvar="TRIATHLON_URL",
        ),
    ] = None,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Is one model worse than another? Asks both, task by task, and stops as soon as that is clear.

    Results that are there are used; new ones are appended, as by `triathlon run`.
    Without --suites: the core suites of the profile quick, all their tasks.

    Exit code 0: not worse; 1: worse; 3: undecided; 2: something is for you to mend.
    """
    request = _GateRequest((baseline, candidate), alpha, margin, seed, max_tasks, site_url)
    request.check(markdown)
    listed = models_yaml.load(models_file)
    options = Options(
        wanted=Wanted(
            PROFILES["standard"],
            request.models,
            names(suites) or _core_suites(),
            catalogue=catalogue_beside(models_file),
        ),
        bounds=Bounds(budget),
        limits=limits_of("10m", 12, "15m", budget),
        folder=results_folder(results),
        data=data_store(data),
    )
    options.check(listed)
    screen = Screen(stderr=True) if as_json else console()
    report = asyncio.run(_gate(options, request, listed, screen))
    if markdown is not None:
        replace_file(markdown, report.markdown())
    if as_json:
        console().print_json(data=report.as_json())
    else:
        for line in report.lines():
            screen.print(line, soft_wrap=not screen.is_terminal)
    raise typer.Exit(report.exit_code)


def _core_suites() -> list[str]:
    """Returns the ids of the core suites that the profile quick takes."""
    return [entry.id for entry in BUILT_IN.select() if PROFILES["quick"].takes(entry)]


async def _gate(
    options: Options, request: _GateRequest, listed: models_yaml.Registry, screen: Screen
) -> GateReport:
    progress = ConsoleProgress(screen)
    summary = Summary()
    async with AsyncExitStack() as stack:
        with progress:
            session = await open_session(stack, options, listed, progress)
            plan = await build_plan(
                listed, session.grader, options.data, options.wanted, session.judge, progress.status
            )
            comparison = _comparison(plan, request, options)
        if not comparison.decided:
            summary = await _ask(options, session, plan, comparison, progress)
    if progress.has_accounts:
        screen.print(progress.final(all_planned=not comparison.decided))
    for account in options.bounds.accounts:
        for message in filter(None, (about_tokens(account), about_replies(account))):
            screen.print_message(message)
    asked_accounts = [account for account in options.bounds.accounts if account.stats.answered]
    cost_is_known = not asked_accounts or any(account.price for account in asked_accounts)
    return report_of(
        comparison,
        options.folder,
        summary,
        suites=options.wanted.suites or (),
        seed=request.seed,
        usd=options.bounds.spent if cost_is_known else None,
        site=request.site_url or SITE_FOLDER,
    )


def _comparison(plan: RunPlan, request: _GateRequest, options: Options) -> Comparison:
    """Returns the comparison with all stored results counted."""
    comparison = plan_comparison(
        plan,
        request.models,
        seed=request.seed,
        max_tasks=request.max_tasks,
        margin=request.margin,
        alpha=request.alpha,
    )
    for model in request.models:
        count_stored(comparison, plan.work[model], options.folder)
    return comparison


async def _ask(
    options: Options, session: Session, plan: RunPlan, comparison: Comparison, progress: ConsoleProgress
) -> Summary:
    """Asks both models until the comparison is decided."""
    set_pace(plan, comparison, session.control)
    errors = cache_folder() / "logs" / "errors.log"
    with progress, logged_errors(errors, None):
        summary = await run_interruptible(runner_of(options, session, progress), plan, progress)
    if part := estimated_part(options.bounds.accounts):
        summary.notes.append(f"cost: {part}")
    if session.judge is not None and session.judge.lost:
        summary.notes.append(session.judge.lost)
    if summary.broken:
        summary.notes.append(f"{summary.broken} units met an error in this program; please report {errors}")
    return summary
