"""`triathlon verify`: whether the stored scores follow from the stored evidence."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from triathlon_runner import models_yaml
from triathlon_runner.catalogue import Catalogue
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._doctor import grader_integrity
from triathlon_runner.cli._executor import ExecutorOption, RayAddress, check_executor, open_grader
from triathlon_runner.cli._names import Models, Suites, names
from triathlon_runner.cli._options import (
    AsJson,
    Common,
    Data,
    ModelsFile,
    Results,
    catalogue_beside,
    data_store,
)
from triathlon_runner.cli._result_rows import about_missing_manifest
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.imports import graded_again
from triathlon_runner.models_yaml import check_have_results
from triathlon_runner.records import Manifest
from triathlon_runner.schedule import PROFILES, BuiltSuite, build_suite
from triathlon_runner.store import (
    IMPORTED,
    RecordedFile,
    ResultsFolder,
    UnreadableManifestError,
    count_lines,
    recorded_files,
)
from triathlon_runner.terminal import ProgressLines, Screen, console, counted
from triathlon_runner.verify import (
    FileReport,
    Update,
    replayed,
    update_file,
    verify_file,
    why_not_updated,
    work_of,
)

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _Stored:
    """One results file, measured or imported."""

    folder: ResultsFolder
    model: str
    suite: str


@dataclass(frozen=True, slots=True)
class _Verified:
    """One file, verified and, with --update, brought up to date."""

    report: FileReport
    update: Update | None = None

    @property
    def good(self) -> bool:
        return self.report.follows or self.update is not None


@app.command(
    epilog=examples(
        "triathlon verify",
        "triathlon verify --models my-model --suites loop/core",
    )
)
def verify(
    models: Models = None,
    suites: Suites = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder with the prompts of your own that were used.")
    ] = None,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Rewrite the verdicts of files that another version of extraction and grading wrote, from"
            " their stored replies; the old file goes to results/archive/.",
        ),
    ] = False,
    executor: ExecutorOption = "local",
    ray_address: RayAddress = None,
    models_file: ModelsFile = Common.models_file,
    results: Results = Common.results,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Executes and grades everything that is stored again, asks no model, and compares; imports, too.

    Exit code 0: every line and score follows from its evidence, bit for bit.
    1: something does not, or could not be graded again.
    2: something is for you to mend.
    """
    check_executor(executor, ray_address)
    screen = Screen(stderr=True) if as_json else console()
    recorded = list(recorded_files(results))
    catalogue = catalogue_beside(models_file)
    stored_files, selected_recorded = _select(
        ResultsFolder(results),
        recorded,
        names(models),
        names(suites),
        knows_model=lambda model: model in models_yaml.load(models_file, missing_ok=True).ids,
        knows_suite=lambda suite: suite in catalogue.ids,
    )
    grader = open_grader(executor, ray_address, screen.print_message)
    build = partial(built_suite, catalogue, data_store(data), prompts)
    job = _verify(stored_files, build, grader, None if as_json else screen, update=update)
    verified = asyncio.run(job)
    if as_json:
        typer.echo(json.dumps(_document(verified), indent=1))
    elif verified:
        _sum_up(verified, screen)
    recorded_are_whole = _check_recorded(selected_recorded, screen)
    raise typer.Exit(0 if recorded_are_whole and all(file.good for file in verified) else 1)


def _check_recorded(files: Sequence[RecordedFile], screen: Screen) -> bool:
    """Prints the faults of recorded files; returns whether each is whole and as its receipt counts it."""
    faults = []
    for file in files:
        try:
            file.read()
        except UserError as error:
            faults.append(str(error))
    for fault in faults:
        screen.print_message(fault)
    if files:
        screen.print_message(
            f"{counted(len(files), 'recorded file')} with outcomes only: nothing is stored to grade again;"
            " `make recorded DIR=FOLDER` grades the recordings themselves",
        )
    return not faults


def _select(
    root: ResultsFolder,
    recorded: Sequence[RecordedFile],
    models: list[str] | None,
    suites: list[str] | None,
    *,
    knows_model: Callable[[str], bool],
    knows_suite: Callable[[str], bool],
) -> tuple[list[_Stored], list[RecordedFile]]:
    """Returns the files to grade again, and the recorded ones, which have no replies to grade."""
    files = [
        _Stored(folder, model, suite)
        for folder in (root, ResultsFolder(root.root / IMPORTED))
        for model, suite in folder.files()
    ]
    all_files: list[_Stored | RecordedFile] = [*files, *recorded]
    if not all_files:
        raise UserError(f"no results in {str(root.root)!r}; name their folder with --results")
    model_ids = sorted({file.model for file in all_files})
    suite_ids = sorted({file.suite for file in all_files})
    check_have_results(models or (), model_ids, what="model", is_known=knows_model)
    check_have_results(suites or (), suite_ids, what="suite", is_known=knows_suite)

    def is_selected(file: _Stored | RecordedFile) -> bool:
        return (models is None or file.model in models) and (suites is None or file.suite in suites)

    return list(filter(is_selected, files)), list(filter(is_selected, recorded))


async def _verify(
    files: list[_Stored],
    build: Callable[[str, Grader], Awaitable[BuiltSuite | str]],
    opening: AbstractAsyncContextManager[Grader],
    screen: Screen | None,
    *,
    update: bool,
) -> list[_Verified]:
    verified: list[_Verified] = []
    async with opening as grader:
        for suite in dict.fromkeys(file.suite for file in files):
            built = await build(suite, grader)
            for file in (file for file in files if file.suite == suite):
                with file.folder.locked(file.model) if update else nullcontext():
                    verified_file = await _verify_file(file, built, grader, update=update)
                verified.append(verified_file)
                if screen is not None:
                    _show(verified_file, screen)
    return verified


async def built_suite(
    catalogue: Catalogue, data: DataStore, prompts: Path | None, suite: str, grader: Grader
) -> BuiltSuite | str:
    """Returns the suite with its data, or why it cannot be built."""
    try:
        (entry,) = catalogue.select([suite], (), prompts)
        return await build_suite(entry, data, grader, PROFILES["standard"])
    except (UserError, DataUnavailableError) as error:
        return str(error)


async def _verify_file(
    stored: _Stored, built: BuiltSuite | str, grader: Grader, *, update: bool
) -> _Verified:
    model, suite = stored.model, stored.suite
    if isinstance(built, str):
        units, _ = count_lines(stored.folder.lines(model, suite))
        return _Verified(FileReport(model, suite, units, unverified={"the suite": built}))
    manifest, unreadable = None, ""
    try:
        manifest = stored.folder.read_manifest(model, suite)
    except UnreadableManifestError as error:
        unreadable = str(error)
    report = await _report(stored, built, manifest, grader)
    if manifest is None:
        report.unverified["manifest"] = unreadable or about_missing_manifest(stored.folder, model, suite)
    if not update or not report.other_engine:
        return _Verified(report)
    if manifest is None or (why := why_not_updated(report, manifest)):
        report.notes.append(f"not brought up to date: {why}")
        return _Verified(report)
    level = grader.sandbox.level
    updated = update_file(
        stored.folder, report, manifest, sandbox_level=level, integrity=grader_integrity(level)
    )
    return _Verified(report, updated)


async def _report(
    stored: _Stored, built: BuiltSuite, manifest: Manifest | None, grader: Grader
) -> FileReport:
    model, suite = stored.model, stored.suite
    origin = manifest.origin if manifest is not None else None
    report = await verify_file(
        work_of(model, built, manifest),
        stored.folder.lines(model, suite),
        manifest,
        grader,
        regrade=graded_again if origin else replayed,
        on_progress=ProgressLines(f"triathlon verify: {model} {suite}", "unit").show,
    )
    if origin:
        report.notes.append(
            f"imported from {origin.get('format')}, {origin.get('file')}: that these are the log's replies"
            f" shows only in the log itself, SHA-256 {origin.get('sha256')}"
        )
    return report


def _show(verified: _Verified, screen: Screen) -> None:
    report = verified.report
    screen.print_message(f"{report.model} {report.suite}: {_in_short(verified)}")
    for mismatch in report.mismatches[:_SHOWN]:
        screen.print_message(f"  {mismatch.what}: {mismatch.in_words()}")
    if len(report.mismatches) > _SHOWN:
        screen.print_message(f"  and {len(report.mismatches) - _SHOWN} more differences")
    notes = [*report.notes, *([report.other_engine] if report.other_engine and not verified.update else [])]
    for note in notes:
        screen.print_message(f"  {note}")
    if verified.update is not None and verified.update.archived is not None:
        screen.print_message(f"  as it was: {verified.update.archived}")
    for reason, count in _count_reasons(report).items():
        screen.print_message(
            f"  not graded again: {reason}" + (f" ({counted(count, 'unit')})" if count > 1 else "")
        )


def _in_short(verified: _Verified) -> str:
    report, update = verified.report, verified.update
    if report.follows and not report.units:
        return "no unit is finished, so there is nothing to grade"
    verdict = "DOES NOT FOLLOW" if report.contradicted else "could not be checked"
    if report.follows:
        verdict = "follows"
    if update is not None:
        verdict = (
            f"brought up to date: {counted(update.changed, 'line')} changed,"
            f" {counted(len(update.reopened), 'unit')} open again"
        )
    scores = ", ".join(f"{name} {value:.6g}" for name, value in report.scores.items())
    return f"{report.verified}/{report.units} units, {verdict}" + (f"; {scores}" if scores else "")


def _sum_up(verified: list[_Verified], screen: Screen) -> None:
    bad = [file.report for file in verified if not file.good]
    contradicted = sum(report.contradicted for report in bad)
    files = counted(len(verified), "file")
    units = sum(file.report.verified for file in verified)
    if contradicted:
        screen.print_message(
            f"scores that DO NOT FOLLOW from their evidence: in {contradicted} of {files}, as listed above"
        )
    if unchecked := len(bad) - contradicted:
        screen.print_message(
            f"scores that could not be checked: in {unchecked} of {files}, for the reasons above;"
            " `triathlon doctor` says which languages and data are here, `triathlon results list` in which"
            " state the files are; suites of your own need the suites.yaml that lists their data"
        )
    if bad:
        return
    if not units:
        screen.print_message(f"no unit is finished in {files}: there is nothing to grade")
    else:
        with_units = sum(bool(file.report.units) for file in verified)
        amount = f"{counted(units, 'unit')} in {counted(with_units, 'file')}"
        screen.print_message(f"all scores follow from their evidence, bit for bit: {amount}")


def _document(verified: list[_Verified]) -> dict[str, Any]:
    """Returns the document of `--json`."""
    return {
        "schema": 1,
        "follows": all(file.good for file in verified),
        "files": [
            {
                "model": file.report.model,
                "suite": file.report.suite,
                "units": file.report.units,
                "verified": file.report.verified,
                "follows": file.good,
                "unfinished": file.report.unfinished,
                "scores": file.report.scores,
                "mismatches": [asdict(mismatch) for mismatch in file.report.mismatches],
                "unverified": file.report.unverified,
                "notes": file.report.notes,
                "other_engine": file.report.other_engine,
                "update": None
                if file.update is None
                else {
                    "changed": file.update.changed,
                    "reopened": list(file.update.reopened),
                    "archived": str(file.update.archived) if file.update.archived else None,
                },
            }
            for file in verified
        ],
    }


def _count_reasons(report: FileReport) -> dict[str, int]:
    """Returns how many units have each reason; damaged lines are always named, as they are to be deleted."""
    reasons: dict[str, int] = {}
    all_reasons = list(report.unverified.values())
    for place, why in report.unverified.items():
        is_shared = all_reasons.count(why) > 1 and place not in report.damaged_lines
        key = why if is_shared else f"{place}: {why}"
        reasons[key] = reasons.get(key, 0) + 1
    return reasons
