"""The front page: the best of each discipline in pictures, and all models in one table."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd

from triathlon_site.exports import csv_file
from triathlon_site.overall_index import CENTRE, POINTS
from triathlon_site.pages._site import FRONT as PATH
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import FrontColumn
from triathlon_site.pages.front._charts import Chart, charts, prices
from triathlon_site.pages.front._columns import BESIDE, FRONT, RANKED_BY, SHOWN
from triathlon_site.pages.front._ranks import FrontRank, default_column, in_order, ranks_in
from triathlon_site.pages.front._table import AllModels, ModelRow
from triathlon_site.render import Draft, Figure, Page

TABLE: Final = "data/all-models.csv"
LIST: Final = "all-models.html"
REST: Final = "data/front-rows-{}.js"
IN_PAGE: Final = 60
"""Rows in the page itself; the others are in scripts beside it."""
IN_SCRIPT: Final = 40
"""Rows in each of them: a phone would stand still for a script of more."""
SNAPSHOTS: Final = "data/all-snapshots.csv"
"""A line a snapshot, none with cells of two: what the index was fitted to."""
INDEX: Final = "index"
TOP: Final = 20
"""Rows of which the first line counts those that can no longer be used."""


@dataclass(frozen=True)
class RowsContext:
    """The template's data for some of the rows."""

    rows: Sequence[ModelRow]
    """In the order of the column that the page is ranked by at first."""
    columns: Sequence[FrontColumn]
    """Those that some model has a cell in."""
    first: str
    """Id of the column that the page is ranked by at first; `index` where no discipline has a score."""
    ranks: Mapping[str, Mapping[str, FrontRank]]
    """By id of a column, then by name of a model."""
    compared: Collection[str]
    """Ids of the models that the page of comparisons has."""


@dataclass(frozen=True)
class FrontContext(RowsContext):
    """The template's data for the front page, with the first of the rows."""

    models: int
    """The number of all rows."""
    rest: Sequence[str]
    """Paths of the scripts with the other rows."""
    ranked_by: Collection[str]
    """Ids of the columns that the table can be ranked by."""
    charts: Sequence[Chart]
    prices: Figure | None
    dates: tuple[str, str] | None
    """The oldest and the newest date of a cell."""
    retired: int
    """Of the first `TOP` rows, those that can no longer be used."""
    gone: bool
    """Whether any model can no longer be used."""
    marks: Collection[str]
    """Grades of the cells, and `again` where one was graded again here."""
    ranges: bool
    """Whether some score is only known as a range."""
    linking: Sequence[str]
    """Titles of the columns that only link the others in the index."""
    centre: float = CENTRE
    points: float = POINTS
    top: int = TOP
    table: str = TABLE
    names: str = LIST


def drafts(site: Gathered, table: AllModels) -> Iterator[Draft]:
    """The front page, its other rows, its CSV files and the list of all models."""
    first = default_column(table.rows)
    rows = [_on_one_scale(row) for row in in_order(table.rows, first) if _is_ranked(row)]
    columns = [c for c in (*SHOWN, *BESIDE) if any(c.id in row.cells for row in rows)]
    ranked_by = [column for column in RANKED_BY if column in columns]
    shared: dict[str, Any] = {
        "columns": columns,
        "first": first.id if first else INDEX,
        "ranks": {column.id: ranks_in(rows, column) for column in ranked_by} | {INDEX: _index_ranks(rows)},
        "compared": site.results.models if len(site.results.models) > 1 else (),
    }
    rest = {
        REST.format(place): rows[start : start + IN_SCRIPT]
        for place, start in enumerate(range(IN_PAGE, len(rows), IN_SCRIPT), 1)
    }
    cells = [cell for row in rows for cell in row.cells.values()]
    dates = sorted(cell.date for cell in cells if cell.date)
    context = FrontContext(
        **shared,
        rows=rows[:IN_PAGE],
        models=len(rows),
        rest=list(rest),
        ranked_by=[column.id for column in ranked_by],
        charts=list(charts(site, rows)),
        prices=prices(rows, first),
        dates=(dates[0], dates[-1]) if dates else None,
        retired=sum(row.info.usable is False for row in rows[:TOP]),
        gone=any(row.info.usable is False for row in rows),
        marks={cell.grade for cell in cells} | {"again" for cell in cells if cell.judged_again},
        ranges=any(cell.upper is not None for cell in cells),
        linking=[column.name for column in FRONT if column not in SHOWN],
    )
    yield Draft(
        PATH, "front/page", vars(context), (_csv(TABLE, table.rows), _csv(SNAPSHOTS, table.snapshots))
    )
    for path, later in rest.items():
        yield Draft(path, "front/rest", vars(RowsContext(**shared, rows=later)))
    yield Draft(LIST, "front/list")


def _is_ranked(row: ModelRow) -> bool:
    """Whether the table shows a score of it: in a column that it can be ranked by, or in the index."""
    return row.index is not None or any(column.id in row.cells for column in RANKED_BY)


def _on_one_scale(row: ModelRow) -> ModelRow:
    """The row with each cell on the scale of its column: scores are shares of 1, figures often per cent."""
    maxima = {column.id: column.maximum for column in (*SHOWN, *BESIDE)}
    cells = {name: cell.scaled(maxima[name]) for name, cell in row.cells.items() if name in maxima}
    return replace(row, cells=cells)


def _index_ranks(rows: Sequence[ModelRow]) -> Mapping[str, FrontRank]:
    return {row.name: FrontRank(row.index.rank.rank, row.index.rank) for row in rows if row.index}


def _csv(path: str, rows: Sequence[ModelRow]) -> Page:
    """All figures as CSV, scores as shares of their maximum; of the rows those with a column of the index."""
    counted = {column.id for column in FRONT}
    frame = pd.DataFrame([_line(row) for row in rows if counted & row.cells.keys()])
    names = [f"{column.id}{field}" for column in FRONT for field in ("", "_tasks", "_grade")]
    columns = [*frame.columns, *(name for name in names if name not in frame)]
    return csv_file(path, frame.reindex(columns=columns))


def _line(row: ModelRow) -> dict[str, Any]:
    info, place = row.info, row.index
    line: dict[str, Any] = {
        "model": row.name,
        "id": info.id,
        "organization": info.organization or "",
        "parameters": info.parameters or "",
        "licence": info.license or "",
        "released": info.released or "",
        "availability": info.status,
        "price_in": info.price[0] if info.price else None,
        "price_out": info.price[1] if info.price else None,
        "page": row.page,
        "newest_result": row.date,
    }
    if place:
        line |= {
            "index": round(place.value, 2),
            "index_low": round(place.low, 2),
            "index_high": round(place.high, 2),
            "rank": place.rank.rank,
            "rank_low": place.rank.low,
            "rank_high": place.rank.high,
            "columns": place.columns,
        }
    for name, cell in row.cells.items():
        line |= {name: round(cell.share, 6), f"{name}_tasks": cell.tasks, f"{name}_grade": cell.grade}
    return line
