"""The rows of `triathlon results list`: what each results file holds, and in which state it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.errors import UserError
from triathlon_runner.store import (
    IMPORTED,
    MAKE_MISSING,
    Archived,
    RecordedFile,
    ResultsFolder,
    UnreadableManifestError,
    archived,
    count_lines,
    recorded_files,
)
from triathlon_runner.terminal import Screen, counted, first_of, table

CURRENT, OUTDATED, UNREADABLE, ALTERED = "current", "outdated", "unreadable", "altered"
"""States: as a run would make it; made under another protocol, data or model revision; with a line or
manifest that is damaged; with a line that reads well and contradicts itself."""
_NAMED = 3
"""Files that are named behind a reason; others are counted."""
_WIDE = 110
"""Columns of a window that has room for everything."""
_COLUMNS = {"model": "model", "suite": "suite", "units": "units", "open": "open", "short": "state"}
_WIDE_COLUMNS = {"protocol": "protocol", "ended": "ended", "origin": "from"}
"""Titles of columns by the field of a row; `_WIDE_COLUMNS` are shown in a wide window."""
FileId = tuple[str, str]
"""(model, suite) of a results file."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of the state of a results file."""

    short: str
    reason: str = ""
    """In a sentence; empty where `short` says it all."""
    usable_lines: int | None = None
    """How many lines count in a file with a damaged or altered line."""


@dataclass(frozen=True, slots=True)
class Row:
    """One results file, as `results list` shows it."""

    model: str
    suite: str
    units: int
    """Lines that count."""
    findings: Sequence[Finding]
    open: int | None = None
    """None where the manifest is damaged or missing."""
    protocol: str = "?"
    ended: str = ""
    """Empty where the last run did not come to its end."""
    origin: str = ""
    """Where an import or recording comes from, or where an archived file is."""

    def as_json(self) -> dict[str, Any]:
        """Returns the fields with the state in a word or two (`short`) and in sentences (`state`)."""
        sentences = [finding.reason or finding.short for finding in self.findings]
        if self.origin and sentences:
            sentences[0] += f": {self.origin}"
        return {
            **{
                name: getattr(self, name) for name in ("model", "suite", "units", "open", "protocol", "ended")
            },
            "short": ", ".join(dict.fromkeys(finding.short for finding in self.findings)),
            "state": "; ".join(sentences),
            "reasons": [finding.reason for finding in self.findings if finding.reason],
            "origin": self.origin,
        }


_RECORDED: Final = Finding("recorded")


def rows_of(folder: ResultsFolder, states: Mapping[FileId, Sequence[Finding]]) -> list[Row]:
    """Returns a row for every results file: measured, imported, recorded and archived."""
    imported = ResultsFolder(folder.root / IMPORTED)
    return [
        *(_row(folder, file_id, states.get(file_id, ())) for file_id in folder.files()),
        *(_row(imported, file_id, [Finding("imported")]) for file_id in imported.files()),
        *map(_recorded_row, recorded_files(folder.root)),
        *map(_archived_row, archived(folder)),
    ]


def show_rows(rows: Sequence[Row], screen: Screen) -> None:
    """Prints a table that fits the window, and below it each reason once, behind the names of its files.

    Recorded files without a reason are summed up, a line a source: a board has hundreds.
    """
    recorded = [row for row in rows if row.findings == [_RECORDED]]
    rows = [row for row in rows if row.findings != [_RECORDED]]
    columns = [*_COLUMNS, *(_WIDE_COLUMNS if screen.width >= _WIDE else {})]
    titles = _COLUMNS | _WIDE_COLUMNS
    shown = table(*(titles[name] for name in columns), right=["units", "open"], whole=["model", "suite"])
    files: dict[str, list[str]] = {}
    for row in rows:
        cells = row.as_json()
        shown.add_row(*("?" if cells[name] is None else str(cells[name]) for name in columns))
        for reason in cells["reasons"]:
            files.setdefault(reason, []).append(f"{row.model} {row.suite}")
    if rows:
        screen.print(shown)
    for source, rows_of_source in groupby(recorded, key=lambda row: row.origin.partition(", ")[0]):
        listed = list(rows_of_source)
        models = counted(len({row.model for row in listed}), "model")
        screen.print_message(
            f"recorded, {source}: {counted(len(listed), 'file')} of {models}; --json lists each"
        )
    for reason, names in files.items():
        screen.print_message(f"{', '.join(first_of(names, _NAMED))}: {reason}")


def _row(folder: ResultsFolder, file_id: FileId, state: Sequence[Finding]) -> Row:
    """Returns the row of a file. Its lines are its units: a manifest counts those of a finished run only."""
    path = folder.lines(*file_id)
    try:
        lines, torn = count_lines(path)
    except OSError as error:
        reason = f"{path}: cannot be read ({error.strerror}); make it readable"
        return Row(*file_id, 0, [Finding(UNREADABLE, reason)])
    findings = list(state)
    usable = next((f.usable_lines for f in findings if f.usable_lines is not None), None)
    units = lines if usable is None else usable
    cut = [Finding("cut", f"its last line was cut before its end; {MAKE_MISSING}")] if torn else []
    try:
        manifest = folder.read_manifest(*file_id)
    except UnreadableManifestError as error:
        return Row(*file_id, units, [Finding(UNREADABLE, str(error)), *findings])
    if manifest is None:  # and so not `current`: its lines may be another model's
        findings = [finding for finding in findings if finding.short != CURRENT]
        findings.append(Finding("no manifest", about_missing_manifest(folder, *file_id)))
        return Row(*file_id, units, [*findings, *cut])
    counted_units = sum(manifest.outcomes.values())
    if manifest.unfinished:
        findings.append(Finding("unfinished", f"unfinished run, {counted(units, 'line')} whole"))
    elif counted_units != units and usable is None:
        lost = f"; {MAKE_MISSING}" if counted_units > units else ""
        findings.append(Finding("changed", f"its manifest counts {counted(counted_units, 'unit')}{lost}"))
    if units and (engine := graded_otherwise(manifest.engine_versions)):
        findings.append(Finding("other version", engine))
    log = manifest.origin or {}
    return Row(
        *file_id,
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


def _recorded_row(file: RecordedFile) -> Row:
    file_id = file.model, file.suite
    units, _ = count_lines(file.lines)
    try:
        manifest = file.read_manifest()
    except UserError as error:
        return Row(*file_id, units, [Finding(UNREADABLE, str(error))])
    receipt = manifest.receipt
    findings = [_RECORDED]
    if engine := graded_otherwise(manifest.engine_versions):
        findings.append(Finding("other version", engine))
    return Row(
        *file_id,
        units,
        findings,
        open=0,
        protocol=str(manifest.protocol),
        ended=receipt.date,
        origin=f"{receipt.source}, {receipt.file}",
    )


def _archived_row(file: Archived) -> Row:
    units, _ = count_lines(file.lines)
    findings = [Finding("archived")]
    return Row(file.model, file.suite, units, findings, protocol=file.lines.stem, origin=str(file.lines))
