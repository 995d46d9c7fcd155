"""`triathlon results`: what is there, under which conditions, and what changed."""

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import models_yaml
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import catalogue_beside, data_store, with_grader
from triathlon_runner.cli._result_rows import OUTDATED, rows_of, show_rows, states_of
from triathlon_runner.cli._verify import StoredFile, chosen_files, show_report, verify_files
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.schedule import BuiltSuite
from triathlon_runner.store import Change, ResultsFolder, archive, compare_files
from triathlon_runner.terminal import console, counted, first_of
from triathlon_runner.verify import compact_file

_SHOWN = 50
results_app = cli.group_of_commands(
    "results", "What was measured: list, archive, compact, diff.", "triathlon results list"
)


@cli.command(
    "triathlon results list", "triathlon results list --no-check --json", group=results_app, name="list"
)
def list_command(
    check: Annotated[
        bool, typer.Option(help="Compare with today's protocols, data and models.yaml (reads the data).")
    ] = True,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
    as_json: cli.AsJson = False,
) -> None:
    """Every results file: units, open ones, protocol, and whether a run would go on from it."""
    folder, screen = ResultsFolder(results), console()
    folder.check_is_there()
    rows = rows_of(folder, states_of(folder, models_file, data) if check else {})
    if as_json:
        screen.print_json(data=rows)
    elif rows:
        show_rows(rows, screen)
    else:
        screen.print_message(
            f"no results in {str(folder.root)!r}: `triathlon run` makes some, --results names others"
        )


@cli.command(
    "triathlon results archive --outdated",
    "triathlon results archive --models my-model --suites loop/core",
    group=results_app,
    name="archive",
)
def archive_command(
    models: cli.Models = None,
    suites: cli.Suites = None,
    outdated: Annotated[
        bool, typer.Option("--outdated", help="Those made under another protocol, data or model revision.")
    ] = False,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
) -> None:
    """Puts results aside (results/archive/), so that the next run makes them anew; nothing is deleted.

    Replies that are in the cache are not asked for again.
    """
    folder, screen = ResultsFolder(results), console()
    if models is None and suites is None and not outdated:
        raise UserError("expected --models, --suites or --outdated, got none: say which results to archive")
    chosen = _measured(results, models_file, models, suites)
    if outdated:
        states = states_of(folder, models_file, data)
        outdated_files = {file for file, found in states.items() if any(f.short == OUTDATED for f in found)}
        chosen = [file for file in chosen if (file.model, file.suite) in outdated_files]
    for _, model, suite in chosen:
        with folder.locked(model):
            archived = archive(folder, model, suite)
        screen.print_message(f"{model} {suite}: {archived.lines}")
    screen.print_message(f"{counted(len(chosen), 'results file')} archived")


@cli.command(
    "triathlon results compact --models my-model --suites evolved/humaneval-plus",
    group=results_app,
    name="compact",
)
def compact_command(
    models: cli.Models = None,
    suites: cli.Suites = None,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
) -> None:
    """Keeps results without their texts in results/recorded/measured/, where a data set may not be copied.

    Each file is graded again first; one that does not follow from its replies is not kept.
    The whole files stay where they are. A model whose results a run is writing is refused.
    Exit code 0: each is kept; 1: some do not follow.
    """
    folder = ResultsFolder(results)
    folder.check_is_there()
    catalogue, store, screen = catalogue_beside(models_file), data_store(data), console()
    chosen = _measured(results, models_file, models, suites)

    async def compact_all(grader: Grader) -> int:
        kept = 0
        async for file, built, report in verify_files(chosen, catalogue, store, grader):
            show_report(report, screen)
            manifest = folder.read_manifest(file.model, file.suite) if report.follows else None
            if manifest is not None and isinstance(built, BuiltSuite):
                compacted = compact_file(folder, built.entry, manifest, report)
                screen.print_message(f"  kept without texts: {compacted.lines}")
                kept += 1
        return kept

    with ExitStack() as locks:
        for model in sorted({file.model for file in chosen}):
            locks.enter_context(folder.locked(model))
        raise typer.Exit(0 if with_grader(compact_all) == len(chosen) else 1)


def _measured(results: Path, models_file: Path, models: str | None, suites: str | None) -> list[StoredFile]:
    """Returns the measured files of these models and suites; refuses a name without results."""
    listed, catalogue = models_yaml.load(models_file, missing_ok=True), catalogue_beside(models_file)
    stored, _ = chosen_files(results, cli.names(models), cli.names(suites), listed, catalogue)
    return [file for file in stored if file.folder.root == results]


@cli.command("triathlon results diff old/results results", group=results_app, name="diff")
def diff_command(
    first: Annotated[Path, typer.Argument(help="A results file (.jsonl), or a results folder.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    as_json: cli.AsJson = False,
) -> None:
    """Units whose outcome differs, and units that stand in one of them only.

    Exit code 0: no difference; 1: differences.
    """
    compared = {name: compare_files(left, right) for name, left, right in _pairs(first, second)}
    differing, screen = sum(map(len, compared.values())), console()
    if as_json:
        files = {name: [asdict(change) for change in changes] for name, changes in compared.items()}
        screen.print_json(data={"schema": 1, "differences": differing, "files": files})
        raise typer.Exit(1 if differing else 0)
    for name, changes in compared.items():
        if changes:
            differ = "differs" if len(changes) == 1 else "differ"
            screen.print_message(f"{name}: {counted(len(changes), 'unit')} {differ}")
        for line in first_of([_in_words(change, first, second) for change in changes], _SHOWN):
            screen.print_message(f"  {line}")
    screen.print_message(counted(differing, "difference"))
    raise typer.Exit(1 if differing else 0)


def _in_words(change: Change, first: Path, second: Path) -> str:
    unit = f"{change.task_id} #{change.sample}"
    if change.before and change.after:
        return f"{unit}: {change.before} → {change.after}"
    return f"{unit}: {change.before or change.after}, only in {first if change.before else second}"


def _pairs(first: Path, second: Path) -> list[tuple[str, Path, Path]]:
    for path in (first, second):
        if not path.exists():
            raise UserError(f"expected a results file or folder, nothing is at {str(path)!r}")
    if first.is_dir() != second.is_dir():
        raise UserError(f"expected two files or two folders, got {str(first)!r} and {str(second)!r}")
    if first.is_file():
        return [(first.name, first, second)]
    left, right = ResultsFolder(first), ResultsFolder(second)
    for folder in (left, right):
        if not list(folder.files()):
            raise UserError(
                f"expected a results file, or a folder with runs/MODEL/SUITE.jsonl in it, got"
                f" {str(folder.root)!r}, where there is none"
            )
    both = sorted({*left.files(), *right.files()})
    return [
        (f"{model} {suite}", left.lines(model, suite), right.lines(model, suite)) for model, suite in both
    ]
