"""`triathlon verify`: whether the stored scores follow from the stored evidence."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from triathlon_runner import catalogue
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._bounds import say
from triathlon_runner.cli._executor import ExecutorOption, Place, RayAddress, check_executor, open_place
from triathlon_runner.cli._options import (
    Common,
    Data,
    Names,
    Results,
    cache_folder,
    console,
    data_store,
    names,
)
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.imports import judged_again
from triathlon_runner.registry import check_names
from triathlon_runner.schedule import PROFILES, BuiltSuite, build_suite
from triathlon_runner.store import IMPORTED, ResultsFolder
from triathlon_runner.verify import FileReport, replayed, verify_file, work_of

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _Stored:
    folder: ResultsFolder
    model: str
    suite: str


@app.command(
    epilog=examples(
        "triathlon verify",
        "triathlon verify --models my-model --suites loop/core",
    )
)
def verify(
    models: Names = None,
    suites: Names = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder with the prompts of your own that were used.")
    ] = None,
    executor: ExecutorOption = "local",
    ray_address: RayAddress = None,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Executes and judges everything that is stored again, asks no model, and compares; imports, too.

    Exit code 0: every line and score follows from its evidence, bit for bit; 1: something does not, or could
    not be judged again; 2: something is for you to mend.
    """
    check_executor(executor, ray_address)
    screen = console()
    wanted = _wanted(ResultsFolder(results), names(models), names(suites))
    place = open_place(executor, ray_address, cache_folder(), lambda line: say(screen, line))
    raise typer.Exit(asyncio.run(_verify(wanted, data_store(data), prompts, place, screen)))


def _wanted(root: ResultsFolder, models: list[str] | None, suites: list[str] | None) -> list[_Stored]:
    files = [
        _Stored(folder, model, suite)
        for folder in (root, ResultsFolder(root.root / IMPORTED))
        for model, suite in folder.files()
    ]
    if not files:
        raise UserError(f"no results in {str(root.root)!r}; name their folder with --results")
    check_names(models or (), sorted({one.model for one in files}), what="model")
    check_names(suites or (), sorted({one.suite for one in files}), what="suite")
    return [
        one
        for one in files
        if (models is None or one.model in models) and (suites is None or one.suite in suites)
    ]


async def _verify(
    wanted: list[_Stored],
    data: DataStore,
    prompts: Path | None,
    opening: AbstractAsyncContextManager[Place],
    screen: Console,
) -> int:
    reports: list[FileReport] = []
    async with opening as place:
        for suite in dict.fromkeys(one.suite for one in wanted):
            built = await _built(suite, data, place.grader, prompts)
            for stored in (one for one in wanted if one.suite == suite):
                report = await _file(stored, built, place.grader)
                _show(report, screen)
                reports.append(report)
    bad = [report for report in reports if not report.follows]
    units = sum(report.verified for report in reports)
    if bad:
        say(screen, f"{len(bad)} of {len(reports)} files do NOT follow from their evidence, as listed above")
        return 1
    say(screen, f"all scores follow from their evidence, bit for bit: {units} units in {len(reports)} files")
    return 0


async def _built(suite: str, data: DataStore, grader: Grader, prompts: Path | None) -> BuiltSuite | str:
    """The suite, or why it is not to be had."""
    try:
        (entry,) = catalogue.select([suite], (), prompts)
        return await build_suite(entry, data, grader, PROFILES["standard"], None)
    except (UserError, DataUnavailableError) as error:
        return str(error)


async def _file(stored: _Stored, built: BuiltSuite | str, grader: Grader) -> FileReport:
    model, suite = stored.model, stored.suite
    if isinstance(built, str):
        return FileReport(model, suite, unverified={"the suite": built})
    manifest = stored.folder.read_manifest(model, suite)
    origin = manifest.origin if manifest is not None else None
    report = await verify_file(
        work_of(model, built, manifest),
        stored.folder.lines(model, suite),
        manifest,
        grader,
        judge=judged_again if origin else replayed,
    )
    if origin:
        report.notes.append(
            f"imported from {origin.get('format')}, {origin.get('file')}: that these are the log's replies"
            f" shows only in the log itself, SHA-256 {origin.get('sha256')}"
        )
    return report


def _show(report: FileReport, screen: Console) -> None:
    verdict = "follows" if report.follows else "DOES NOT FOLLOW"
    scores = ", ".join(f"{name} {value:.6g}" for name, value in report.scores.items())
    say(screen, f"{report.model} {report.suite}: {report.verified}/{report.units} units, {verdict}; {scores}")
    for one in report.mismatches[:_SHOWN]:
        say(screen, f"  {one.what}: stored {one.stored}, judged again {one.found}")
    if len(report.mismatches) > _SHOWN:
        say(screen, f"  and {len(report.mismatches) - _SHOWN} more differences")
    for note in report.notes:
        say(screen, f"  {note}")
    for reason, count in _counted(report.unverified).items():
        say(screen, f"  not judged again: {reason}" + (f" ({count} units)" if count > 1 else ""))


def _counted(unverified: dict[str, str]) -> dict[str, int]:
    reasons: dict[str, int] = {}
    for what, why in unverified.items():
        key = why if list(unverified.values()).count(why) > 1 else f"{what}: {why}"
        reasons[key] = reasons.get(key, 0) + 1
    return reasons
