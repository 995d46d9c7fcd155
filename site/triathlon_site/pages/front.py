"""The front page: the best of each discipline in pictures, and all models in one table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pandas as pd

from triathlon_site.exports import csv_file
from triathlon_site.figures import PALETTE, PricePoint, price_score, round_ticks
from triathlon_site.overall_index import CENTRE, POINTS
from triathlon_site.pages._scores import Place, marks_of
from triathlon_site.pages._site import FRONT, Gathered
from triathlon_site.pages.all_models import (
    IN_INDEX,
    RANKED_BY,
    TABLE,
    AllModels,
    ModelRow,
    default_column,
    in_order,
    ranks_in,
)
from triathlon_site.pages.board import FrontColumn
from triathlon_site.ranking import REPORTED, Score
from triathlon_site.render import Draft, Figure, Page
from triathlon_site.uncertainty import Interval

REST: Final = "data/front-rows-{}.js"
IN_PAGE: Final = 60  # rows in the page itself; the others are in scripts beside it
IN_SCRIPT: Final = 40  # rows in each of them: a phone would stand still for a script of more
INDEX: Final = "index"
TOP: Final = 20  # rows of which the first line counts those that can no longer be used
BEST: Final = 8  # rows of a chart: all on a phone, the first five beside other charts
FEWEST_FOR_PRICES: Final = 5  # points from which on prices against scores are a picture
_MOST_INTERVALS: Final = 4


def drafts(site: Gathered, table: AllModels) -> Iterator[Draft]:
    """The front page, its other rows, its CSV files and the list of all models."""
    first = default_column(table.rows)
    indexed = [row for row in table.rows if row.index]
    rows = in_order(indexed, first)
    columns = [c for c in TABLE if any(c.id in row.cells for row in rows)]
    ranked_by = [column for column in RANKED_BY if column in columns]
    index_ranks = {row.name: Place(row.index.rank.rank, row.index.rank) for row in rows if row.index}
    shared: dict[str, Any] = {
        "columns": columns,
        # the column that the page is ranked by at first
        "first": first.id if first else INDEX,
        "ranks": {column.id: ranks_in(rows, column) for column in ranked_by} | {INDEX: index_ranks},
        "compared": site.compared,
    }
    rest = {
        REST.format(place): rows[start : start + IN_SCRIPT]
        for place, start in enumerate(range(IN_PAGE, len(rows), IN_SCRIPT), 1)
    }
    cells = [cell for row in rows for cell in row.cells.values()]
    dates = sorted(cell.date for cell in cells if cell.date)
    values = shared | {
        "rows": rows[:IN_PAGE],
        "models": len(rows),
        "rest": list(rest),
        "ranked_by": [column.id for column in ranked_by],
        "charts": list(charts(site, rows)),
        "prices": prices(rows, first),
        "dates": (dates[0], dates[-1]) if dates else None,
        "retired": sum(row.info.usable is False for row in rows[:TOP]),
        "gone": any(row.info.usable is False for row in rows),
        "marks": marks_of(cells),
        "tiers": any(cell.tier for cell in cells),
        "ranges": any(cell.upper is not None for cell in cells),
        "centre": CENTRE,
        "points": POINTS,
        "top": len(rows[:TOP]),
    }
    # a line a snapshot, none with cells of two: what the index was fitted to
    files = _csv("data/all-models.csv", indexed), _csv("data/all-snapshots.csv", table.snapshots)
    yield Draft(FRONT, "front/page", values, files)
    for path, later in rest.items():
        yield Draft(path, "front/rest", shared | {"rows": later})
    yield Draft("all-models.html", "front/list")


def _csv(path: str, rows: Sequence[ModelRow]) -> Page:
    """All figures as CSV, scores as shares of their maximum.

    A score that is only known as a range is its middle, with the ends beside it.
    """
    frame = pd.DataFrame([_line(row) for row in rows])
    names = (f"{column.id}{field}" for column in IN_INDEX for field in ("", "_tasks", "_grade"))
    columns = list(dict.fromkeys((*frame, *names)))
    whole = {name: "Int64" for name in columns if name.endswith("_tasks")}
    return csv_file(path, frame.reindex(columns=columns).astype(whole))


def _line(row: ModelRow) -> dict[str, Any]:
    info, place = row.info, row.index
    line: dict[str, Any] = {
        "model": row.name,
        "id": info.id,
        "organization": info.organization or "",
        "parameters": info.parameters or "",
        "measured_bits": info.bits or "",
        "licence": info.license or "",
        "released": info.released or "",
        "availability": info.status,
        **dict(zip(("price_in", "price_out"), info.price or (None, None), strict=True)),
        "page": info.page,
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
        line |= {name: round(cell.share, 6), f"{name}_tasks": cell.tasks or None, f"{name}_grade": cell.grade}
        if cell.upper is not None:
            ends = {"lower": cell.value, "upper": cell.upper}
            line |= {f"{name}_{end}": round(value / cell.maximum, 6) for end, value in ends.items()}
    return line


def charts(site: Gathered, rows: Sequence[ModelRow]) -> Iterator[dict[str, Any]]:
    """For each column that models can be ranked by and that some have, a chart of the best of them."""
    for column in RANKED_BY:
        scored = [(row, cell) for row in rows if (cell := row.cells.get(column.id))]
        if any(row.mostly_ran for row, _ in scored):
            scored.sort(key=lambda pair: (-pair[1].middle, pair[0].name.lower()))
            yield _chart(site, column, scored)


def _chart(site: Gathered, column: FrontColumn, scored: Sequence[tuple[ModelRow, Score]]) -> dict[str, Any]:
    """Lengths are in per cent of the width of the plot."""
    cells = [cell for _, cell in scored]
    shown = [(row, cell) for row, cell in scored if row.mostly_ran][:BEST]
    # round numbers from below every interval to above
    spans = [c.interval if c.interval.known else Interval(c.middle, c.middle) for _, c in shown]
    numbers = round_ticks(min(s.low for s in spans), max(s.high for s in spans), _MOST_INTERVALS, least=0.1)
    low, width = numbers[0], numbers[-1] - numbers[0]

    def across(value: float) -> float:
        return 100 * min(1.0, max(0.0, (value - low) / width))

    alike = _alike(cells)
    board = site.board(column.board)
    return {
        "column": column,
        # the board of the column, or the table that most of its figures are from
        "page": board.plan.page if board else Counter(cell.link for cell in cells).most_common(1)[0][0],
        "rows": [
            (
                row,
                cell,
                across(cell.middle),
                (across(cell.interval.low), across(cell.interval.high)) if cell.interval.known else None,
            )
            for row, cell in shown
        ],
        "models": len(scored),
        # models that the tasks cannot tell from the best, and where their scores begin
        "alike": len(alike),
        "band": across(min(alike)) if alike else None,
        "newest": max(cell.date for cell in cells),
        "ticks": [(f"{number:g}", across(number)) for number in (numbers[0], numbers[-1])],
    }


def _alike(cells: Sequence[Score]) -> list[float]:
    """The scores of the first tier; none where too few models are ranked."""
    return [cell.middle for cell in cells if cell.tier == 1]


def prices(rows: Sequence[ModelRow], column: FrontColumn | None) -> Figure | None:
    """The price of a million tokens of output against the score; None where too few models have both."""
    graded = [(row, cell) for row in rows if column and (cell := row.cells.get(column.id))]
    scored = [(row, cell, row.info.price[1]) for row, cell in graded if row.info.price and row.mostly_ran]
    if not column or len(scored) < FEWEST_FOR_PRICES:
        return None
    makers = Counter(row.info.organization for row, _, _ in scored if row.info.organization)
    colours = {maker: place for place, (maker, _) in enumerate(makers.most_common(PALETTE - 2))}
    points = [
        PricePoint(
            row.info.label,
            row.info.page,
            price,
            cell.middle,
            colour=colours.get(row.info.organization or ""),
            hollow=cell.grade == REPORTED,
            gone=row.info.usable is False,
        )
        for row, cell, price in scored
    ]
    figure = price_score(
        f"Price against {column.title}: {len(points)} models",
        points,
        y_title=f"{column.title}, {column.small}",
        band=min(_alike([cell for _, cell in graded]), default=None),
        legend=list(colours),
    )
    return Figure(figure, "")
