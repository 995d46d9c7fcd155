"""The pictures above the table of all models: the best of each column, and prices against scores."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site.figures import PALETTE, PricePoint, price_score, round_ticks
from triathlon_site.pages._reported import REPORTED, ShownScore
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import FrontColumn
from triathlon_site.pages.front._columns import RANKED_BY
from triathlon_site.pages.front._table import ModelRow
from triathlon_site.render import Figure

BEST: Final = 8
"""Rows of a chart: all on a phone, the first five beside other charts."""
FEWEST_FOR_BAND: Final = 5
"""Models of one protocol from which on the chart shows which cannot be told from the best."""
FEWEST_FOR_PRICES: Final = 5
"""Points from which on prices against scores are a picture."""
_MOST_INTERVALS: Final = 4


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One model in a chart; lengths in per cent of the width of the plot."""

    row: ModelRow
    cell: ShownScore
    x: float
    ends: tuple[float, float] | None
    """Of the interval; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The best models of one column, each with its interval."""

    column: FrontColumn
    page: str
    """The board of the column, or the table that its figures are from."""
    rows: tuple[ChartRow, ...]
    models: int
    """The number of models that have the column."""
    alike: int
    """Models that the tasks cannot tell from the best; 0 where too few models have one protocol."""
    band: float | None
    """Where the scores of these begin, in per cent."""
    newest: str
    """Day or month of the newest score; empty where none has a date."""
    ticks: tuple[tuple[str, float], ...]
    """The ends of the axis."""


def charts(site: Gathered, rows: Sequence[ModelRow]) -> Iterator[Chart]:
    """A chart for each column that models can be ranked by and that some have."""
    for column in RANKED_BY:
        scored = [(row, cell) for row in rows if (cell := row.cells.get(column.id))]
        if any(row.mostly_ran for row, _ in scored):
            scored.sort(key=lambda pair: (-pair[1].middle, pair[0].name.lower()))
            yield _chart(site, column, scored)


def _chart(site: Gathered, column: FrontColumn, scored: Sequence[tuple[ModelRow, ShownScore]]) -> Chart:
    cells = [cell for _, cell in scored]
    shown = [(row, cell) for row, cell in scored if row.mostly_ran][:BEST]
    numbers = _axis([cell for _, cell in shown])
    low, width = numbers[0], numbers[-1] - numbers[0]

    def across(value: float) -> float:
        return 100 * min(1.0, max(0.0, (value - low) / width))

    alike = _alike(cells)
    return Chart(
        column=column,
        page=_page(site, column, cells),
        rows=tuple(
            ChartRow(
                row,
                cell,
                across(cell.middle),
                (across(cell.interval.low), across(cell.interval.high)) if cell.interval else None,
            )
            for row, cell in shown
        ),
        models=len(scored),
        alike=len(alike),
        band=across(min(alike)) if alike else None,
        newest=max(cell.date for cell in cells),
        ticks=tuple((f"{number:g}", across(number)) for number in (numbers[0], numbers[-1])),
    )


def _alike(cells: Sequence[ShownScore]) -> list[float]:
    """The scores of the first tier, where enough models have ranks."""
    if sum(cell.rank is not None for cell in cells) < FEWEST_FOR_BAND:
        return []
    return [cell.middle for cell in cells if cell.tier == 1]


def _axis(cells: Sequence[ShownScore]) -> list[float]:
    """Round numbers from below every interval to above."""
    lows = [cell.interval.low if cell.interval else cell.middle for cell in cells]
    highs = [cell.interval.high if cell.interval else cell.middle for cell in cells]
    return round_ticks(min(lows), max(highs), _MOST_INTERVALS, least=0.1)


def _page(site: Gathered, column: FrontColumn, cells: Sequence[ShownScore]) -> str:
    board = site.board(column.board)
    if board:
        return board.plan.page
    return Counter(cell.link for cell in cells).most_common(1)[0][0]


def prices(rows: Sequence[ModelRow], column: FrontColumn | None) -> Figure | None:
    """The price of a million tokens of output against the score; None where too few models have both."""
    priced = [row for row in rows if row.info.price and row.mostly_ran]
    scored = [(row, cell) for row in priced if column and (cell := row.cells.get(column.id))]
    if not column or len(scored) < FEWEST_FOR_PRICES:
        return None
    makers = Counter(row.info.organization for row, _ in scored if row.info.organization)
    colours = {maker: place for place, (maker, _) in enumerate(makers.most_common(PALETTE - 2))}
    points = [
        PricePoint(
            row.name,
            row.page,
            row.info.price[1],
            cell.middle,
            colour=colours.get(row.info.organization or ""),
            hollow=cell.grade == REPORTED,
            gone=row.info.usable is False,
        )
        for row, cell in scored
        if row.info.price
    ]
    graded = [cell for row in rows if (cell := row.cells.get(column.id))]
    figure = price_score(
        f"Price against {column.title}: {len(points)} models",
        points,
        y_title=f"{column.title}, {column.small}",
        band=min(_alike(graded), default=None),
        legend=list(colours),
    )
    return Figure(figure, "")
