"""The rows of `triathlon results list`: what each results file holds, and in which state it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Final

from rich.console import JustifyMethod
from rich.table import Table

from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.errors import UserError
from triathlon_runner.store import (
    IMPORTED,
    RecordedFile,
    ResultsFolder,
    UnreadableManifestError,
    archived,
    count_lines,
    recorded_files,
)
from triathlon_runner.terminal import Screen, counted

CURRENT, OUTDATED, UNREADABLE, ALTERED = "current", "outdated", "unreadable", "altered"
"""States: as a run would make it; made under another protocol, data or model revision; with a line or
manifest that is damaged; with a line that reads well and contradicts itself."""
_NAMED = 3
"""Files that are named with a reason which several have."""
_WIDE = 110
"""Columns of a window that has room for everything."""
_COLUMNS = {"model": "model", "suite": "suite", "units": "units", "open": "open", "short": "state"}
_WIDE_COLUMNS = {"protocol": "protocol", "ended": "ended", "origin": "from"}
"""Fields of a row and the titles of their columns; the second ones where there is room."""


@dataclass(frozen=True, slots=True)
class Row:
    """One results file, as `results list` shows it."""

    model: str
    suite: str
    units: int
    """Lines that count."""
    open: int | None
    """None where the manifest is damaged or missing."""
    protocol: str
    ended: str
    """Empty where the last run did not come to its end."""
    short: str
    """The state in a word or two, for the table."""
    state: str
    """`current`, what it was made with instead, or why that is not known; what else there is to say of it."""
    reasons: tuple[str, ...] = ()
    """The sentences of `state` that `short` leaves out."""
    origin: str = ""
    """Where results come from that no run of ours made, or were put."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to say of a results file."""

    short: str
    reason: str = ""
    """In a sentence; empty where `short` says it all."""
    usable_lines: int | None = None
    """Of a file with a damaged or altered line, how many lines count."""


IMPORTED_STATE: Final = Finding("imported")
RECORDED_STATE: Final = "recorded"


def _row_of(
    place: tuple[str, str],
    units: int,
    findings: Sequence[Finding],
    *,
    open_units: int | None = None,
    protocol: str = "?",
    ended: str = "",
    origin: str = "",
) -> Row:
    reasons = tuple(one.reason for one in findings if one.reason)
    said = [one.reason or one.short for one in findings]
    if origin:
        said[0] += f": {origin}"
    short = ", ".join(dict.fromkeys(one.short for one in findings))
    return Row(*place, units, open_units, protocol, ended, short, "; ".join(said), reasons, origin)


def rows_of(folder: ResultsFolder, states: Mapping[tuple[str, str], Sequence[Finding]]) -> list[Row]:
    """Every results file: measured, imported, recorded and put aside."""
    return [
        *(_row(folder, model, suite, states.get((model, suite), ())) for model, suite in folder.files()),
        *_imported_rows(folder),
        *map(_recorded_row, recorded_files(folder.root)),
        *_archived_rows(folder),
    ]


def show_rows(rows: Sequence[Row], screen: Screen) -> None:
    """A table that fits the window, and below it each reason once, with the files that it is of.

    Recorded files of which there is nothing to say are summed up, a line a source: a board has hundreds.
    """
    recorded = [row for row in rows if row.short == RECORDED_STATE]
    rows = [row for row in rows if row.short != RECORDED_STATE]
    shown = [*_COLUMNS, *(_WIDE_COLUMNS if screen.width >= _WIDE else {})]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in shown:
        justify: JustifyMethod = "right" if name in {"units", "open"} else "left"
        title = (_COLUMNS | _WIDE_COLUMNS)[name]
        table.add_column(title, overflow="fold", justify=justify, no_wrap=name in {"model", "suite"})
    files: dict[str, list[str]] = {}
    for row in rows:
        cells = asdict(row)
        table.add_row(*("?" if cells[name] is None else str(cells[name]) for name in shown))
        for reason in row.reasons:
            files.setdefault(reason, []).append(f"{row.model} {row.suite}")
    if rows:
        screen.print(table)
    for source, files_of in groupby(recorded, key=lambda row: row.origin.partition(", ")[0]):
        listed = list(files_of)
        models = counted(len({row.model for row in listed}), "model")
        screen.print_message(
            f"recorded, {source}: {counted(len(listed), 'file')} of {models}; --json lists each"
        )
    for reason, names_of in files.items():
        more = f" and {len(names_of) - _NAMED} more" if len(names_of) > _NAMED else ""
        screen.print_message(f"{', '.join(names_of[:_NAMED])}{more}: {reason}")


def _row(folder: ResultsFolder, model: str, suite: str, state: Sequence[Finding], origin: str = "") -> Row:
    """Units are what lines count: a manifest counts them only where its run came to its end."""
    units, torn = count_lines(folder.lines(model, suite))
    findings = list(state)
    usable = next((one.usable_lines for one in findings if one.usable_lines is not None), None)
    units = units if usable is None else usable
    cut = [Finding("cut", "its last line was cut before its end")] if torn else []
    try:
        manifest = folder.read_manifest(model, suite)
    except UnreadableManifestError as error:
        unreadable = dict.fromkeys([Finding(UNREADABLE, str(error)), *findings])
        return _row_of((model, suite), units, list(unreadable))
    if manifest is None:
        return _row_of((model, suite), units, [*_no_manifest(folder, model, suite, findings), *cut])
    counted_units = sum(manifest.outcomes.values())
    if manifest.unfinished:
        findings.append(Finding("unfinished", f"unfinished run, {counted(units, 'line')} whole"))
    elif counted_units != units and usable is None:
        findings.append(Finding("changed", f"its manifest counts {counted(counted_units, 'unit')}"))
    if units and (engine := graded_otherwise(manifest.engine_versions)):
        findings.append(Finding("other version", engine))
    return _row_of(
        (model, suite),
        units,
        [*findings, *cut],
        open_units=max(0, counted_units + manifest.open_units - units),
        protocol=manifest.protocol,
        ended=manifest.ended,
        origin=origin,
    )


def _no_manifest(
    folder: ResultsFolder, model: str, suite: str, findings: Sequence[Finding]
) -> Iterator[Finding]:
    """What else is known of lines without a manifest; `current` is not: they may be another model's."""
    reason = (
        f"no manifest beside {str(folder.lines(model, suite))!r}: the conditions that its lines were made"
        " under are unknown; "
    )
    if IMPORTED_STATE in findings:
        reason += "import the log again"
    else:
        archive = folder.archive_command(model, suite)
        reason += f"`triathlon run` counts them and writes a new one, {archive} puts them aside"
    yield from (one for one in findings if one.short != CURRENT)
    yield Finding("no manifest", reason)


def _imported_rows(folder: ResultsFolder) -> Iterator[Row]:
    imported = ResultsFolder(folder.root / IMPORTED)
    for model, suite in imported.files():
        origin = _origin(imported, model, suite)
        where = f"{origin.get('format', '?')}, {origin.get('file', '?')}"
        yield _row(imported, model, suite, [IMPORTED_STATE], where)


def _origin(imported: ResultsFolder, model: str, suite: str) -> dict[str, str]:
    """Where an import comes from; empty where its manifest does not say."""
    try:
        manifest = imported.read_manifest(model, suite)
    except UnreadableManifestError:
        return {}
    return (manifest.origin if manifest else None) or {}


def _recorded_row(file: RecordedFile) -> Row:
    place = file.model, file.suite
    units, _ = count_lines(file.lines)
    try:
        manifest = file.read_manifest()
    except UserError as error:
        return _row_of(place, units, [Finding(UNREADABLE, str(error))])
    receipt = manifest.receipt
    findings = [Finding(RECORDED_STATE)]
    if engine := graded_otherwise(manifest.engine_versions):
        findings.append(Finding("other version", engine))
    return _row_of(
        place,
        units,
        findings,
        open_units=0,
        protocol=manifest.protocol,
        ended=receipt.date,
        origin=f"{receipt.source}, {receipt.file}",
    )


def _archived_rows(folder: ResultsFolder) -> list[Row]:
    return [
        _row_of(
            (one.model, one.suite),
            count_lines(one.lines)[0],
            [Finding("archived")],
            protocol=one.lines.stem,
            origin=str(one.lines),
        )
        for one in archived(folder)
    ]
