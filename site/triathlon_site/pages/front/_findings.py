"""What the first screen says above the table: who leads, who cannot be told from them, how old it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site.models import ModelInfo
from triathlon_site.pages.board import Finding, finding
from triathlon_site.pages.front._cells import REPORTED, FrontCell, OwnCells
from triathlon_site.pages.front._columns import SHOWN, FrontColumn
from triathlon_site.pages.front._models import DISCIPLINES, AllModels, ModelRow

SMALL_BILLIONS: Final = 10
"""Up to which size a model is one that people run themselves; the filter of sizes has the same bound."""


@dataclass(frozen=True, slots=True)
class ReportedLead:
    """The highest reported figure of a column."""

    rows: tuple[ModelRow, ...]
    """More than one where several have the figure."""
    cell: FrontCell
    reached_by: int | None
    """Models with lower figures whose intervals reach it; None where no intervals are known."""


@dataclass(frozen=True, slots=True)
class ColumnLead:
    """Who leads a column."""

    column: FrontColumn
    own: Finding | None
    """Among measured and recorded scores."""
    reported: ReportedLead | None
    """Where no score is measured or recorded, or a reported one is higher than all of them."""


@dataclass(frozen=True, slots=True)
class IndexLead:
    """The first by the index, of all models or of some."""

    row: ModelRow
    alike: tuple[ModelRow, ...]
    """Those that cannot be told from it."""
    models: int


def discipline_leads(
    found: AllModels, own: OwnCells, models: Mapping[str, ModelInfo]
) -> Iterator[tuple[str, list[ColumnLead]]]:
    """The leaders of each discipline's columns; a discipline without any is left out."""
    for discipline in DISCIPLINES:
        columns = [column for column in SHOWN if column.discipline == discipline]
        leads = [lead for column in columns if (lead := _column_lead(column, found.rows, own, models))]
        if leads:
            yield discipline, leads


def _column_lead(
    column: FrontColumn, rows: Sequence[ModelRow], own: OwnCells, models: Mapping[str, ModelInfo]
) -> ColumnLead | None:
    board = own.board(column)
    measured = finding(board, models) if board else None
    reported = _reported_lead(column, rows)
    if measured and reported:
        share = measured.score.value / measured.board.plan.headline.maximum
        reported = reported if reported.cell.share > share else None
    return ColumnLead(column, measured, reported) if measured or reported else None


def _reported_lead(column: FrontColumn, rows: Sequence[ModelRow]) -> ReportedLead | None:
    cells = [(row, row.cells[column.id]) for row in rows if column.id in row.cells]
    reported = [(row, cell) for row, cell in cells if cell.grade == REPORTED]
    if not reported:
        return None
    best = max(cell.value for _, cell in reported)
    leaders = [(row, cell) for row, cell in reported if cell.value == best]
    highs = [cell.interval.high for _, cell in reported if cell.interval and cell.value < best]
    known = leaders[0][1].interval is not None
    return ReportedLead(
        tuple(row for row, _ in leaders), leaders[0][1], sum(h >= best for h in highs) if known else None
    )


def index_lead(found: AllModels, *, small_open: bool = False) -> IndexLead | None:
    """The first by the index of all models, or of those under 10 billion parameters with open weights."""
    places = [
        place
        for place, row in enumerate(found.rows)
        if row.index and (not small_open or is_small_and_open(row.info))
    ]
    if not places or found.index is None:
        return None
    first, *others = places  # rows are in the order of the index
    alike = tuple(found.rows[place] for place in found.index.not_told_from(first, others))
    return IndexLead(found.rows[first], alike, len(places))


def is_small_and_open(info: ModelInfo) -> bool:
    """Whether the weights are open and there are fewer than `SMALL_BILLIONS` of them."""
    return bool(info.open_weights) and info.billions is not None and info.billions < SMALL_BILLIONS


def ages(rows: Sequence[ModelRow]) -> dict[str, tuple[str, str, bool]]:
    """By grade, the dates of its oldest and newest cell, and whether others have no date.

    Grades without a dated cell are left out.
    """
    dates: dict[str, list[str]] = {}
    for row in rows:
        for cell in row.cells.values():
            dates.setdefault(cell.grade, []).append(cell.date)
    found = {}
    for grade in ("measured", "recorded", REPORTED):
        if known := list(filter(None, dates.get(grade, ()))):
            found[grade] = (min(known), max(known), len(known) < len(dates[grade]))
    return found
