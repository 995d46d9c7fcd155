"""The sentences above the table of all models: who leads, who is as good, how old figures are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site.models import ModelInfo
from triathlon_site.pages.board import Finding, finding
from triathlon_site.pages.front._cells import REPORTED, FrontCell, ScoreCells
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
    """The leaders of a column."""

    column: FrontColumn
    finding: Finding | None
    """The leader among measured and recorded scores."""
    reported: ReportedLead | None
    """The leader among reported figures, if no score is measured or recorded, or all of them are lower."""


@dataclass(frozen=True, slots=True)
class IndexLead:
    """The first by the index, of all models or of some."""

    row: ModelRow
    alike: tuple[ModelRow, ...]
    """The models that cannot be told from it."""
    models: int
    """The number of models that were looked at."""


def discipline_leads(
    table: AllModels, scores: ScoreCells, models: Mapping[str, ModelInfo]
) -> Iterator[tuple[str, list[ColumnLead]]]:
    """The leaders of each discipline's columns; a discipline without any is left out."""
    for discipline in DISCIPLINES:
        columns = [column for column in SHOWN if column.discipline == discipline]
        leads = [lead for column in columns if (lead := _column_lead(column, table.rows, scores, models))]
        if leads:
            yield discipline, leads


def _column_lead(
    column: FrontColumn, rows: Sequence[ModelRow], scores: ScoreCells, models: Mapping[str, ModelInfo]
) -> ColumnLead | None:
    board = scores.board(column)
    graded = finding(board, models) if board else None
    reported = _reported_lead(column, rows)
    if graded and reported:
        share = graded.score.value / graded.board.plan.headline.maximum
        reported = reported if reported.cell.share > share else None
    return ColumnLead(column, graded, reported) if graded or reported else None


def _reported_lead(column: FrontColumn, rows: Sequence[ModelRow]) -> ReportedLead | None:
    cells = [(row, row.cells[column.id]) for row in rows if column.id in row.cells]
    reported = [(row, cell) for row, cell in cells if cell.grade == REPORTED]
    if not reported:
        return None
    best = max(cell.value for _, cell in reported)
    leaders = [(row, cell) for row, cell in reported if cell.value == best]
    cell = leaders[0][1]
    upper_ends = [cell.interval.high for _, cell in reported if cell.interval and cell.value < best]
    reached_by = sum(end >= best for end in upper_ends) if cell.interval else None
    return ReportedLead(tuple(row for row, _ in leaders), cell, reached_by)


def index_lead(table: AllModels, *, small_open: bool = False) -> IndexLead | None:
    """The first by the index of all models, or of those under 10 billion parameters with open weights."""
    places = [
        place
        for place, row in enumerate(table.rows)
        if row.index and (not small_open or is_small_and_open(row.info))
    ]
    if not places or table.index is None:
        return None
    first, *rivals = places  # rows are in the order of the index
    alike = tuple(table.rows[place] for place in table.index.not_told_from(first, rivals))
    return IndexLead(table.rows[first], alike, len(places))


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
    ranges = {}
    for grade in ("measured", "recorded", REPORTED):
        if known := list(filter(None, dates.get(grade, ()))):
            ranges[grade] = (min(known), max(known), len(known) < len(dates[grade]))
    return ranges
