"""The rows of `triathlon results list`: what each results file holds, and in which state it is."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from triathlon_runner import models_yaml
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import built_suite, catalogue_beside, data_store, with_grader
from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.errors import UserError
from triathlon_runner.estimates import DryRunModel
from triathlon_runner.grading import Grader
from triathlon_runner.models_yaml import Registry
from triathlon_runner.schedule import BuiltSuite, differs, why_not, work_for
from triathlon_runner.store import (
    IMPORTED,
    MAKE_MISSING,
    ContradictingLineError,
    DamagedLineError,
    RecordedFile,
    ResultsFile,
    ResultsFolder,
    UnreadableManifestError,
    archived,
    count_lines,
    recorded_files,
    usable_units,
)
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import Screen, counted, first_of, table

OUTDATED: Final = "outdated"
"""Made under another protocol, data or model revision."""
_CURRENT: Final = "current"
_UNREADABLE: Final = "unreadable"
"""With a line or manifest that is damaged; `altered`: with a line that reads well and contradicts itself."""
_NAMED = 3
"""Files that are named behind a reason; others are counted."""
_WIDE = 110
"""Columns of a window that has room for everything."""
_COLUMNS = {"model": "model", "suite": "suite", "units": "units", "open": "open", "short": "state"}
_WIDE_COLUMNS = {"protocol": "protocol", "ended": "ended", "origin": "from"}
"""Titles of columns by the field of a row; `_WIDE_COLUMNS` are shown in a wide window."""
FileId = tuple[str, str]
"""(model, suite) of a results file."""
Row = dict[str, Any]
"""One results file, as `--json` has it: `short` is its state in a word or two, `state` in sentences; `open`
is None where the manifest is damaged or missing, `ended` empty where the last run did not come to its end."""


class Finding(NamedTuple):
    """A part of the state of a results file."""

    short: str
    reason: str = ""
    """In a sentence; empty where `short` says it all."""
    usable_lines: int | None = None
    """How many lines count in a file with a damaged or altered line."""


def rows_of(folder: ResultsFolder, states: Mapping[FileId, Sequence[Finding]]) -> list[Row]:
    """Returns a row for every results file: measured, imported, recorded and archived."""
    imported = ResultsFolder(folder.root / IMPORTED)
    return [
        *(_stored(folder, file_id, states.get(file_id, ())) for file_id in folder.files()),
        *(_stored(imported, file_id, [Finding("imported")]) for file_id in imported.files()),
        *map(_recorded, recorded_files(folder.root)),
        *(
            _row(
                (file.model, file.suite),
                count_lines(file.lines)[0],
                [Finding("archived")],
                protocol=file.lines.stem,
                origin=str(file.lines),
            )
            for file in archived(folder)
        ),
    ]


def show_rows(rows: Sequence[Row], screen: Screen) -> None:
    """Prints a table that fits the window, and below it each reason once, behind the names of its files.

    Recorded files without a reason are summed up, a line a source: a board has hundreds.
    """
    recorded = [row for row in rows if row["short"] == "recorded"]
    rows = [row for row in rows if row["short"] != "recorded"]
    titles = _COLUMNS | (_WIDE_COLUMNS if screen.width >= _WIDE else {})
    shown = table(*titles.values(), right=["units", "open"], whole=["model", "suite"])
    files: dict[str, list[str]] = {}
    for row in rows:
        shown.add_row(*("?" if row[name] is None else str(row[name]) for name in titles))
        for reason in row["reasons"]:
            files.setdefault(reason, []).append(f"{row['model']} {row['suite']}")
    if rows:
        screen.print(shown)
    for source, rows_of_source in groupby(recorded, key=lambda row: row["origin"].partition(", ")[0]):
        listed = list(rows_of_source)
        models = counted(len({row["model"] for row in listed}), "model")
        screen.print_message(
            f"recorded, {source}: {counted(len(listed), 'file')} of {models}; --json lists each"
        )
    for reason, names in files.items():
        screen.print_message(f"{', '.join(first_of(names, _NAMED))}: {reason}")


def _row(file_id: FileId, units: int, findings: Sequence[Finding], **more: Any) -> Row:
    """Returns the row of a file; `more` is what is known beside its lines."""
    row: Row = {"model": file_id[0], "suite": file_id[1], "units": units, "open": None}
    row |= {"protocol": "?", "ended": "", "origin": ""} | more
    sentences = [finding.reason or finding.short for finding in findings]
    if row["origin"] and sentences:
        sentences[0] += f": {row['origin']}"
    return row | {
        "short": ", ".join(dict.fromkeys(finding.short for finding in findings)),
        "state": "; ".join(sentences),
        "reasons": [finding.reason for finding in findings if finding.reason],
    }


def _stored(folder: ResultsFolder, file_id: FileId, state: Sequence[Finding]) -> Row:
    """Returns the row of a file. Its lines are its units: a manifest counts those of a finished run only."""
    path = folder.lines(*file_id)
    try:
        lines, torn = count_lines(path)
    except OSError as error:
        reason = f"{path}: cannot be read ({error.strerror}); make it readable"
        return _row(file_id, 0, [Finding(_UNREADABLE, reason)])
    findings = list(state)
    usable = next((f.usable_lines for f in findings if f.usable_lines is not None), None)
    units = lines if usable is None else usable
    cut = [Finding("cut", f"its last line was cut before its end; {MAKE_MISSING}")] if torn else []
    try:
        manifest = folder.read_manifest(*file_id)
    except UnreadableManifestError as error:
        return _row(file_id, units, [Finding(_UNREADABLE, str(error)), *findings])
    if manifest is None:  # and so not `current`: its lines may be another model's
        findings = [finding for finding in findings if finding.short != _CURRENT]
        findings.append(Finding("no manifest", about_missing_manifest(folder, *file_id)))
        return _row(file_id, units, [*findings, *cut])
    counted_units = sum(manifest.outcomes.values())
    if manifest.unfinished:
        findings.append(Finding("unfinished", f"unfinished run, {counted(units, 'line')} whole"))
    elif counted_units != units and usable is None:
        lost = f"; {MAKE_MISSING}" if counted_units > units else ""
        findings.append(Finding("changed", f"its manifest counts {counted(counted_units, 'unit')}{lost}"))
    if units and (engine := graded_otherwise(manifest.engine_versions)):
        findings.append(Finding("other version", engine))
    log = manifest.origin or {}
    return _row(
        file_id,
        units,
        [*findings, *cut],
        open=max(0, counted_units + manifest.open_units - units),
        protocol=str(manifest.protocol),
        ended=manifest.ended,
        origin=f"{log.get('format', '?')}, {log.get('file', '?')}" if log else "",
    )


def about_missing_manifest(folder: ResultsFolder, model: str, suite: str) -> str:
    """Returns what the lack of a manifest means, and what to do about it."""
    archive = folder.archive_command(model, suite)
    remedy = f"`triathlon run` counts them and writes a new one, {archive} puts them aside"
    if folder.root.name == IMPORTED:
        remedy = "import the log again"
    return (
        f"no manifest beside {str(folder.lines(model, suite))!r}: the conditions that its lines were made"
        f" under are unknown; {remedy}"
    )


def _recorded(file: RecordedFile) -> Row:
    file_id, (units, _) = (file.model, file.suite), count_lines(file.lines)
    try:
        manifest = file.read_manifest()
    except UserError as error:
        return _row(file_id, units, [Finding(_UNREADABLE, str(error))])
    receipt, engine = manifest.receipt, graded_otherwise(manifest.engine_versions)
    return _row(
        file_id,
        units,
        [Finding("recorded"), *([Finding("other version", engine)] if engine else [])],
        open=0,
        protocol=str(manifest.protocol),
        ended=receipt.date,
        origin=f"{receipt.source}, {receipt.file}",
    )


def states_of(folder: ResultsFolder, models_file: Path, data: Path | None) -> dict[FileId, list[Finding]]:
    """Returns what is damaged in each file, and whether a run would add to it."""
    listed = models_yaml.load(models_file, missing_ok=models_file == cli.MODELS_FILE)
    catalogue, store = catalogue_beside(models_file), data_store(data, fetch=False)
    by_suite = sorted(folder.files(), key=lambda file: file[1])

    async def find(grader: Grader) -> dict[FileId, list[Finding]]:
        states: dict[FileId, list[Finding]] = {}
        for suite, files in groupby(by_suite, key=lambda file: file[1]):
            entry, built = catalogue.find(suite), await built_suite(catalogue, store, suite, grader)
            for model, _ in files:
                states[model, suite] = _findings(folder, listed, model, suite, entry, built)
        return states

    return with_grader(find)


def _findings(
    folder: ResultsFolder,
    listed: Registry,
    model: str,
    suite: str,
    entry: SuiteEntry | None,
    built: BuiltSuite | str,
) -> list[Finding]:
    """Returns what is damaged in a file, or whether a run would add to it or ask its units anew."""
    findings: list[Finding] = []
    if entry is not None:
        file = ResultsFile(folder.lines(model, suite), entry.record)
        try:
            file.scan()
        except DamagedLineError as error:
            short = "altered" if isinstance(error, ContradictingLineError) else _UNREADABLE
            findings.append(Finding(short, str(error), len(usable_units(file.path, entry.record))))
        except OSError:
            return []  # the file's row says that
    if isinstance(built, str):
        return [*findings, Finding("not checked", built)]
    if model not in listed.ids:
        return [*findings, Finding("not in models.yaml")]
    if findings:
        return findings
    try:
        manifest = folder.read_manifest(model, suite)
    except UnreadableManifestError:
        return []  # the file's row says that
    judge = None if listed.judge is None else listed.row(listed.judge)
    stand_in = None if judge is None or why_not(judge) is not None else DryRunModel(judge.id, judge.kind)
    (work,) = work_for(listed, listed.row(model), [built], stand_in)
    why = differs(work, file, manifest)
    return [Finding(OUTDATED, f"made with {why}") if why else Finding(_CURRENT)]
