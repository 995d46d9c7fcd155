"""`triathlon results`: what is there, under which conditions, and what changed."""

import asyncio
import json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import models_yaml
from triathlon_runner.catalogue import Catalogue
from triathlon_runner.cli._app import examples, group_of_commands
from triathlon_runner.cli._names import Data, Models, ModelsFile, Results, Suites, names
from triathlon_runner.cli._options import AsJson, Common, catalogue_beside, data_store, open_local_grader
from triathlon_runner.cli._result_rows import (
    ALTERED,
    CURRENT,
    OUTDATED,
    UNREADABLE,
    FileId,
    Finding,
    rows_of,
    show_rows,
)
from triathlon_runner.cli._verify import StoredFile, built_suite, show_report, verify_stored
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import UserError
from triathlon_runner.estimates import DryRunModel
from triathlon_runner.grading import Grader
from triathlon_runner.models_yaml import Registry
from triathlon_runner.schedule import PROFILES, BuiltSuite, build_suite, differs, why_not, work_for
from triathlon_runner.store import (
    Change,
    ContradictingLineError,
    DamagedLineError,
    ResultsFile,
    ResultsFolder,
    UnreadableManifestError,
    archive,
    compare_files,
    usable_units,
)
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import console, counted, first_of
from triathlon_runner.verify import compact_file

results_app = group_of_commands(
    "results", "What was measured: list, archive, compact, diff.", "triathlon results list"
)


_SHOWN = 50


@results_app.command(
    "list",
    epilog=examples(
        "triathlon results list",
        "triathlon results list --no-check --json",
    ),
)
def list_command(
    check: Annotated[
        bool, typer.Option(help="Compare with today's protocols, data and models.yaml (reads the data).")
    ] = True,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Every results file: units, open ones, protocol, and whether a run would go on from it."""
    folder = ResultsFolder(results)
    folder.check_is_there()
    states = _states(folder, models_file, data) if check else {}
    rows = rows_of(folder, states)
    if as_json:
        typer.echo(json.dumps([row.as_json() for row in rows], indent=1))
        return
    screen = console()
    if not rows:
        screen.print_message(
            f"no results in {str(folder.root)!r}: `triathlon run` makes some, --results names others"
        )
        return
    show_rows(rows, screen)


@results_app.command(
    "archive",
    epilog=examples(
        "triathlon results archive --outdated",
        "triathlon results archive --models my-model --suites loop/core",
    ),
)
def archive_command(
    models: Models = None,
    suites: Suites = None,
    outdated: Annotated[
        bool, typer.Option("--outdated", help="Those made under another protocol, data or model revision.")
    ] = False,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Puts results aside (results/archive/), so that the next run makes them anew; nothing is deleted.

    Replies that are in the cache are not asked for again.
    """
    folder = ResultsFolder(results)
    if models is None and suites is None and not outdated:
        raise UserError("expected --models, --suites or --outdated, got none: say which results to archive")
    chosen = _chosen(folder, models, suites)
    if outdated:
        states = _states(folder, models_file, data)
        chosen = [file for file in chosen if any(finding.short == OUTDATED for finding in states[file])]
    for model, suite in chosen:
        with folder.locked(model):
            archived = archive(folder, model, suite)
        console().print_message(f"{model} {suite}: {archived.lines}")
    console().print_message(f"{counted(len(chosen), 'results file')} archived")


@results_app.command(
    "compact", epilog=examples("triathlon results compact --models my-model --suites evolved/humaneval-plus")
)
def compact_command(
    models: Models = None,
    suites: Suites = None,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Keeps results without their texts in results/recorded/measured/, where a data set may not be copied.

    Each file is graded again first; one that does not follow from its replies is not kept.
    The whole files stay where they are.
    Exit code 0: each is kept; 1: some do not follow.
    """
    folder = ResultsFolder(results)
    folder.check_is_there()
    catalogue, store, screen = catalogue_beside(models_file), data_store(data), console()
    chosen = _chosen(folder, models, suites)

    async def compact_all() -> int:
        kept = 0
        async with open_local_grader() as grader:
            for suite, files in groupby(sorted(chosen, key=lambda file: file[1]), key=lambda file: file[1]):
                built = await built_suite(catalogue, store, None, suite, grader)
                for model, _ in files:
                    report = await verify_stored(StoredFile(folder, model, suite), built, grader)
                    show_report(report, screen)
                    manifest = folder.read_manifest(model, suite) if report.follows else None
                    if manifest is not None and isinstance(built, BuiltSuite):
                        file = compact_file(folder, built.entry, manifest, report)
                        screen.print_message(f"  kept without texts: {file.lines}")
                        kept += 1
        return kept

    raise typer.Exit(0 if asyncio.run(compact_all()) == len(chosen) else 1)


def _chosen(folder: ResultsFolder, models: str | None, suites: str | None) -> list[FileId]:
    """Returns the results files of these models and suites; of all where none is named.

    Raises:
        UserError: names were given, and there is no such file.
    """
    wanted_models, wanted_suites = names(models), names(suites)
    chosen = [
        (model, suite)
        for model, suite in folder.files()
        if (wanted_models is None or model in wanted_models)
        and (wanted_suites is None or suite in wanted_suites)
    ]
    if not chosen and (models or suites):
        stored_models = ", ".join(sorted({model for model, _ in folder.files()})) or "none"
        raise UserError(
            f"no results file matches --models and --suites; there are results of: {stored_models}"
        )
    return chosen


@results_app.command("diff", epilog=examples("triathlon results diff old/results results"))
def diff_command(
    first: Annotated[Path, typer.Argument(help="A results file (.jsonl), or a results folder.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    as_json: AsJson = False,
) -> None:
    """Units whose outcome differs, and units that stand in one of them only.

    Exit code 0: no difference; 1: differences.
    """
    compared = {name: compare_files(left, right) for name, left, right in _pairs(first, second)}
    differing = sum(map(len, compared.values()))
    if as_json:
        files = {name: [asdict(change) for change in changes] for name, changes in compared.items()}
        typer.echo(json.dumps({"schema": 1, "differences": differing, "files": files}, indent=1))
        raise typer.Exit(1 if differing else 0)
    screen = console()
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


def _states(folder: ResultsFolder, models_file: Path, data: Path | None) -> dict[FileId, list[Finding]]:
    """Returns what is damaged in each file, and whether a run would add to it."""
    listed = models_yaml.load(models_file, missing_ok=models_file == Common.models_file)
    catalogue, store = catalogue_beside(models_file), data_store(data, fetch=False)
    judge = _judge(listed)

    async def check_files() -> dict[FileId, list[Finding]]:
        states: dict[FileId, list[Finding]] = {}
        by_suite = sorted(folder.files(), key=lambda file: file[1])
        async with open_local_grader() as grader:
            for suite, files in groupby(by_suite, key=lambda file: file[1]):
                entry = _entry(catalogue, suite)
                built = await _built(entry, store, grader) if entry else Finding("no such suite")
                for model, _ in files:
                    states[model, suite] = _findings(folder, listed, model, suite, entry, built, judge)
        return states

    return asyncio.run(check_files())


def _judge(listed: Registry) -> DryRunModel | None:
    """Returns a stand-in for the judge that a run would have; None where it would have none."""
    row = None if listed.judge is None else listed.row(listed.judge)
    return None if row is None or why_not(row) is not None else DryRunModel(row.id, row.kind)


def _entry(catalogue: Catalogue, suite: str) -> SuiteEntry | None:
    """Returns the suite of this id; None where there is none."""
    try:
        (entry,) = catalogue.select([suite])
    except UserError:
        return None
    return entry


async def _built(entry: SuiteEntry, data: DataStore, grader: Grader) -> BuiltSuite | Finding:
    try:
        return await build_suite(entry, data, grader, PROFILES["standard"])
    except DataUnavailableError:
        return Finding("data not here")
    except UserError as error:  # a faulty file of the user's hides no other row
        return Finding("not checked", str(error))


def _findings(
    folder: ResultsFolder,
    listed: Registry,
    model: str,
    suite: str,
    entry: SuiteEntry | None,
    built: BuiltSuite | Finding,
    judge: DryRunModel | None,
) -> list[Finding]:
    """Returns what is damaged in a file, or whether a run would add to it or ask its units anew."""
    findings: list[Finding] = []
    if entry is not None:
        file = ResultsFile(folder.lines(model, suite), entry.record)
        try:
            file.scan()
        except DamagedLineError as error:
            short = ALTERED if isinstance(error, ContradictingLineError) else UNREADABLE
            usable_lines = len(usable_units(file.path, entry.record))
            findings.append(Finding(short, str(error), usable_lines))
        except OSError:
            return []  # the file's row says that
    if isinstance(built, Finding):
        return [*findings, built]
    if model not in listed.ids:
        return [*findings, Finding("not in models.yaml")]
    if findings:
        return findings
    try:
        manifest = folder.read_manifest(model, suite)
    except UnreadableManifestError:
        return []  # the file's row says that
    (work,) = work_for(listed, listed.row(model), [built], judge)
    why = differs(work, file, manifest)
    return [Finding(OUTDATED, f"made with {why}") if why else Finding(CURRENT)]
