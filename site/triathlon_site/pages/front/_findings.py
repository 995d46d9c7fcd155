"""The sentences above the table of all models: who leads, who is as good, how old figures are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site.models import ModelInfo
from triathlon_site.pages._reported import REPORTED, ShownScore
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import Finding, FrontColumn, finding
from triathlon_site.pages.front._columns import DISCIPLINES, SHOWN
from triathlon_site.pages.front._table import AllModels, ModelRow

SMALL_BILLIONS: Final = 10
"""Up to which size a model is one that people run themselves; the filter of sizes has the same bound."""


@dataclass(frozen=True, slots=True)
class ReportedLead:
    """The highest reported figure of a column."""

    rows: tuple[ModelRow, ...]
    """More than one where several have the figure."""
    cell: ShownScore
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


def discipline_leads(site: Gathered, table: AllModels) -> dict[str, list[ColumnLead]]:
    """The leaders of each discipline's columns; a discipline without any is left out."""
    leads = list(_column_leads(site, table.rows))
    return {
        discipline: own
        for discipline in DISCIPLINES
        if (own := [lead for lead in leads if lead.column.discipline == discipline])
    }


def _column_leads(site: Gathered, rows: Sequence[ModelRow]) -> Iterator[ColumnLead]:
    for column in SHOWN:
        board = site.board(column.board)
        graded = finding(board, site.models) if board else None
        reported = _reported_lead([(row, cell) for row in rows if (cell := row.cells.get(column.id))])
        if graded and reported:
            share = graded.score.value / graded.board.plan.headline.maximum
            reported = reported if reported.cell.share > share else None
        if graded or reported:
            yield ColumnLead(column, graded, reported)


def _reported_lead(cells: Sequence[tuple[ModelRow, ShownScore]]) -> ReportedLead | None:
    reported = [(row, cell) for row, cell in cells if cell.grade == REPORTED]
    if not reported:
        return None
    best = max(cell.value for _, cell in reported)
    leaders = [(row, cell) for row, cell in reported if cell.value == best]
    first = leaders[0][1]
    upper_ends = [cell.interval.high for _, cell in reported if cell.interval and cell.value < best]
    reached_by = sum(end >= best for end in upper_ends) if first.interval else None
    return ReportedLead(tuple(row for row, _ in leaders), first, reached_by)


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
    cells = [cell for row in rows for cell in row.cells.values()]
    ranges = {}
    for grade in ("measured", "recorded", REPORTED):
        dates = [cell.date for cell in cells if cell.grade == grade]
        if known := list(filter(None, dates)):
            ranges[grade] = (min(known), max(known), len(known) < len(dates))
    return ranges
