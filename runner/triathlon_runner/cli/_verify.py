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
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.imports import graded_again
from triathlon_runner.records import Manifest
from triathlon_runner.registry import check_names
from triathlon_runner.schedule import PROFILES, BuiltSuite, build_suite
from triathlon_runner.store import (
    IMPORTED,
    RecordedFile,
    ResultsFolder,
    UnreadableManifestError,
    recorded_files,
)
from triathlon_runner.terminal import Screen, console, counted
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
    folder: ResultsFolder
    model: str
    suite: str


@dataclass(frozen=True, slots=True)
class _Verified:
    """One file, verified and, where that was wanted, brought up to date."""

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
    wanted, checked = _wanted(ResultsFolder(results), recorded, names(models), names(suites))
    grader = open_grader(executor, ray_address, screen.print_message)
    build = partial(built_suite, catalogue_beside(models_file), data_store(data), prompts)
    job = _verify(wanted, build, grader, None if as_json else screen, update=update)
    verified = asyncio.run(job)
    if as_json:
        typer.echo(json.dumps(_document(verified), indent=1))
    elif verified:
        _sum_up(verified, screen)
    whole = _check_recorded(checked, screen)
    raise typer.Exit(0 if whole and all(one.good for one in verified) else 1)


def _check_recorded(files: Sequence[RecordedFile], screen: Screen) -> bool:
    """Says what recorded results cannot show; whether each file is whole and as its receipt counts it."""
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


def _wanted(
    root: ResultsFolder,
    recorded: Sequence[RecordedFile],
    models: list[str] | None,
    suites: list[str] | None,
) -> tuple[list[_Stored], list[RecordedFile]]:
    """The files to grade again, and the recorded ones, in which there is nothing to grade."""
    files = [
        _Stored(folder, model, suite)
        for folder in (root, ResultsFolder(root.root / IMPORTED))
        for model, suite in folder.files()
    ]
    there: list[_Stored | RecordedFile] = [*files, *recorded]
    if not there:
        raise UserError(f"no results in {str(root.root)!r}; name their folder with --results")
    model_ids = sorted({one.model for one in there})
    check_names(models or (), model_ids, what="model", command="triathlon results list")
    suite_ids = sorted({one.suite for one in there})
    check_names(suites or (), suite_ids, what="suite", command="triathlon results list")

    def chosen(one: _Stored | RecordedFile) -> bool:
        return (models is None or one.model in models) and (suites is None or one.suite in suites)

    return [one for one in files if chosen(one)], [one for one in recorded if chosen(one)]


async def _verify(
    wanted: list[_Stored],
    build: Callable[[str, Grader], Awaitable[BuiltSuite | str]],
    opening: AbstractAsyncContextManager[Grader],
    screen: Screen | None,
    *,
    update: bool,
) -> list[_Verified]:
    verified: list[_Verified] = []
    async with opening as grader:
        for suite in dict.fromkeys(one.suite for one in wanted):
            built = await build(suite, grader)
            for stored in (one for one in wanted if one.suite == suite):
                with stored.folder.locked(stored.model) if update else nullcontext():
                    one = await _file(stored, built, grader, update=update)
                verified.append(one)
                if screen is not None:
                    _show(one, screen)
    return verified


async def built_suite(
    catalogue: Catalogue, data: DataStore, prompts: Path | None, suite: str, grader: Grader
) -> BuiltSuite | str:
    """The suite, or why it is not to be had."""
    try:
        (entry,) = catalogue.select([suite], (), prompts)
        return await build_suite(entry, data, grader, PROFILES["standard"])
    except (UserError, DataUnavailableError) as error:
        return str(error)


async def _file(stored: _Stored, built: BuiltSuite | str, grader: Grader, *, update: bool) -> _Verified:
    model, suite = stored.model, stored.suite
    if isinstance(built, str):
        return _Verified(FileReport(model, suite, unverified={"the suite": built}))
    manifest, unreadable = None, ""
    try:
        manifest = stored.folder.read_manifest(model, suite)
    except UnreadableManifestError as error:
        unreadable = str(error)
    report = await _reported(stored, built, manifest, grader)
    if unreadable:
        report.unverified["manifest"] = unreadable
    if not update or not report.other_engine:
        return _Verified(report)
    if manifest is None or (why := why_not_updated(report, manifest)):
        report.notes.append(f"not brought up to date: {why}")
        return _Verified(report)
    level = grader.sandbox.level
    done = update_file(
        stored.folder, report, manifest, sandbox_level=level, integrity=grader_integrity(level)
    )
    return _Verified(report, done)


async def _reported(
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
    for one in report.mismatches[:_SHOWN]:
        screen.print_message(f"  {one.what}: {one.in_words()}")
    if len(report.mismatches) > _SHOWN:
        screen.print_message(f"  and {len(report.mismatches) - _SHOWN} more differences")
    notes = [*report.notes, *([report.other_engine] if report.other_engine and not verified.update else [])]
    for note in notes:
        screen.print_message(f"  {note}")
    if verified.update is not None and verified.update.archived is not None:
        screen.print_message(f"  as it was: {verified.update.archived}")
    for reason, count in _counted(report).items():
        screen.print_message(
            f"  not graded again: {reason}" + (f" ({counted(count, 'unit')})" if count > 1 else "")
        )


def _in_short(verified: _Verified) -> str:
    report, update = verified.report, verified.update
    if report.follows and not report.units:
        return "no unit is finished, so there is nothing to grade"
    verdict = "follows" if report.follows else "DOES NOT FOLLOW"
    if update is not None:
        verdict = (
            f"brought up to date: {counted(update.changed, 'line')} changed,"
            f" {counted(len(update.reopened), 'unit')} open again"
        )
    scores = ", ".join(f"{name} {value:.6g}" for name, value in report.scores.items())
    return f"{report.verified}/{report.units} units, {verdict}" + (f"; {scores}" if scores else "")


def _sum_up(verified: list[_Verified], screen: Screen) -> None:
    bad = sum(not one.good for one in verified)
    units = sum(one.report.verified for one in verified)
    if bad:
        which = f"{bad} of {counted(len(verified), 'file')}"
        screen.print_message(f"scores that DO NOT FOLLOW from their evidence: in {which}, as listed above")
    elif not units:
        screen.print_message(
            f"no unit is finished in {counted(len(verified), 'file')}: there is nothing to grade"
        )
    else:
        files = sum(bool(one.report.units) for one in verified)
        amount = f"{counted(units, 'unit')} in {counted(files, 'file')}"
        screen.print_message(f"all scores follow from their evidence, bit for bit: {amount}")


def _document(verified: list[_Verified]) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "schema": 1,
        "follows": all(one.good for one in verified),
        "files": [
            {
                "model": one.report.model,
                "suite": one.report.suite,
                "units": one.report.units,
                "verified": one.report.verified,
                "follows": one.good,
                "unfinished": one.report.unfinished,
                "scores": one.report.scores,
                "mismatches": [asdict(mismatch) for mismatch in one.report.mismatches],
                "unverified": one.report.unverified,
                "notes": one.report.notes,
                "other_engine": one.report.other_engine,
                "update": None
                if one.update is None
                else {
                    "changed": one.update.changed,
                    "reopened": list(one.update.reopened),
                    "archived": str(one.update.archived) if one.update.archived else None,
                },
            }
            for one in verified
        ],
    }


def _counted(report: FileReport) -> dict[str, int]:
    """How many units have each reason; a damaged line is always named, because it is to be deleted."""
    reasons: dict[str, int] = {}
    everything = list(report.unverified.values())
    for what, why in report.unverified.items():
        shared = everything.count(why) > 1 and what not in report.damaged_lines
        key = why if shared else f"{what}: {why}"
        reasons[key] = reasons.get(key, 0) + 1
    return reasons
