"""The place of each model in each column that the front page can be ranked by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triathlon_site.pages._reported import ShownScore, places_beside
from triathlon_site.pages.board import FrontColumn
from triathlon_site.pages.front._columns import RANKED_BY
from triathlon_site.pages.front._table import ModelRow
from triathlon_site.ranking import Rank, smallest_ranks


@dataclass(frozen=True, slots=True)
class FrontRank:
    """The place of one model in one column."""

    sort: float
    """Places in this order are in the order of the scores."""
    rank: Rank | None = None
    """Among the scores of one protocol, or in the index."""
    among_all: int | None = None
    """The place among all figures, where there is no rank."""
    beside: bool = True
    """Whether others in the column have a rank: then this place stands in brackets."""


def default_column(rows: Sequence[ModelRow]) -> FrontColumn | None:
    """The discipline's column that most models have, of equal ones the first; None where nobody has any."""
    first = {column.discipline: column for column in reversed(RANKED_BY)}
    counts = {
        column.id: sum(column.id in row.cells for row in rows)
        for column in RANKED_BY
        if column in first.values()
    }
    best = max(counts, key=counts.__getitem__, default="")
    return next((column for column in RANKED_BY if column.id == best and counts[best]), None)


def in_order(rows: Sequence[ModelRow], first: FrontColumn | None) -> list[ModelRow]:
    """The rows by their score in `first`; those without it by the next column that they have, then by name.

    A month of release plays no part, as it does in the index.
    """
    columns = sorted(RANKED_BY, key=lambda column: column is not first)

    def key(row: ModelRow) -> tuple[int, float, str]:
        for place, column in enumerate(columns):
            if cell := row.cells.get(column.id):
                return place, -cell.middle, row.name.lower()
        return len(columns), 0.0, row.name.lower()

    return sorted(rows, key=key)


def ranks_in(rows: Sequence[ModelRow], column: FrontColumn) -> Mapping[str, FrontRank]:
    """The places in a column, by name of a model that has a score or figure in it."""
    cells = {row.name: cell for row in rows if (cell := row.cells.get(column.id))}
    graded = {name: cell for name, cell in cells.items() if cell.rank}
    others = {name: cell for name, cell in cells.items() if not cell.rank}
    places = {name: FrontRank(cell.rank.rank, cell.rank) for name, cell in graded.items() if cell.rank}
    return places | (_beside(graded, others) if graded else _alone(others))


def _beside(graded: Mapping[str, ShownScore], others: Mapping[str, ShownScore]) -> dict[str, FrontRank]:
    middles, values = ([cell.middle for cell in cells.values()] for cells in (graded, others))
    places = {name: places_beside(cell.middle, middles, values) for name, cell in others.items()}
    return {name: FrontRank(rank - 0.5, among_all=place) for name, (rank, place) in places.items()}


def _alone(others: Mapping[str, ShownScore]) -> dict[str, FrontRank]:
    places = zip(others, smallest_ranks([cell.middle for cell in others.values()]), strict=True)
    return {name: FrontRank(place, among_all=place, beside=False) for name, place in places if place}
