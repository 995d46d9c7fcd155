"""Rows and bars: dots and arrows on a common scale, grouped bars, the grid of tasks, rank lines, badges."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from triathlon_site.figures._base import PALETTE, draw, quarter_ticks
from triathlon_site.render.formats import px

WIDTH, LEFT, RIGHT, ROW, TOP = 560, 190, 16, 20, 44
_SHAPES = {
    1: ((-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)),
    2: ((0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)),
    3: ((0, -4.2), (4.2, 3.4), (-4.2, 3.4)),
    4: ((-1.3, -6), (1.3, -6), (1.3, 6), (-1.3, 6)),
    5: ((0, 4.2), (-4.2, -3.4), (4.2, -3.4)),
}
"""Square, diamond, triangle, bar, triangle upside down; all others are circles: told apart without colour."""


@dataclass(frozen=True, slots=True)
class DotRow:
    """One model; None where a value is missing."""

    name: str
    values: tuple[float | None, ...]


def _says_nothing(rows: Sequence[DotRow]) -> bool:
    return not any(value for row in rows for value in row.values)


def dots(title: str, series: Sequence[str], rows: Sequence[DotRow], *, maximum: float = 100.0) -> Markup:
    """A dot for each series on each row. The shapes differ as the colours do."""
    if _says_nothing(rows):
        return Markup("")
    placed = []
    for place, row in enumerate(rows):
        y = TOP + 6 + ROW * place
        known = [(n, _x(value, maximum)) for n, value in enumerate(row.values) if value is not None]
        ends = [x for _, x in known]
        rail = (min(ends), max(ends)) if ends else ()
        placed.append((row.name, y, rail, [_mark(n, x, y) for n, x in known]))
    return _draw("dots", title, maximum, placed, legend=_legend(series))


def arrows(title: str, labels: tuple[str, str], rows: Sequence[DotRow], *, maximum: float = 100.0) -> Markup:
    """An arrow from the first value of each row to its second; up and down differ in colour."""
    complete = [row for row in rows if None not in row.values]
    if _says_nothing(complete):
        return Markup("")
    placed = []
    for place, row in enumerate(complete):
        y = TOP + 6 + ROW * place
        start, end = (_x(value or 0.0, maximum) for value in row.values)
        back = end - 6 if end >= start else end + 6
        tip = [(end, y), (back, y - 3.5), (back, y + 3.5)] if abs(end - start) > 1 else []
        placed.append((row.name, y, start, end, tip))
    return _draw("arrows", title, maximum, placed, labels=labels)


def _mark(series: int, x: float, y: float) -> tuple[int, list[tuple[float, float]], float, float]:
    """Colour, corners of the shape, which a circle has not, and place."""
    corners = [(x + right, y + down) for right, down in _SHAPES.get(series, ())]
    return series % PALETTE, corners, x, y


def _legend(series: Sequence[str]) -> list[tuple[str, float, Any]]:
    """Each name, where it begins, its mark; from the left edge where all would not fit beside the names."""
    widths = [28 + 6.2 * len(name) for name in series]
    starts = accumulate(widths[:-1], initial=LEFT - max(0.0, sum(widths) - (WIDTH - LEFT)))
    named = zip(series, starts, strict=True)
    return [(name, x, _mark(number, x + 4, 11)) for number, (name, x) in enumerate(named)]


def _draw(template: str, title: str, maximum: float, rows: Sequence[Any], **parts: Any) -> Markup:
    """Rows on a scale from 0 to the maximum."""
    scale = {"ticks": quarter_ticks(LEFT, WIDTH - RIGHT, maximum), "left": LEFT, "top": TOP}
    return draw(template, title, WIDTH, TOP + len(rows) * ROW + 8, **scale, rows=rows, **parts)


def _x(value: float, maximum: float) -> float:
    return LEFT + value / maximum * (WIDTH - LEFT - RIGHT)


BARS_LEFT: Final = 80
BARS_TOP: Final = 34
PLOT: Final = 220
FOOT: Final = 96
BAR: Final = 11
SLIM: Final = 7
"""Width of a bar where there are more than MANY groups: they keep the width of a figure, and its letters."""
MANY: Final = 8
GAP: Final = 16


def bars(title: str, series: Sequence[str], ink: str, rows: Sequence[DotRow]) -> Markup:
    """Per cent, grouped by row, with a line across them.

    The last value of each row is that of the line `ink`; the others are bars, as in `series`.
    """
    if _says_nothing(rows):
        return Markup("")
    bar = BAR if len(rows) <= MANY else SLIM
    group = bar * len(series) + GAP
    width = BARS_LEFT + group * len(rows) + GAP
    groups, crossing = [], []
    for place, row in enumerate(rows):
        x = BARS_LEFT + GAP / 2 + place * group
        middle = x + (group - GAP) / 2
        *shares, last = row.values
        heights = [
            (n, x + n * bar, _height(share), PLOT * share / 100)
            for n, share in enumerate(shares)
            if share is not None
        ]
        groups.append((row.name, middle, heights))
        if last is not None:
            crossing.append((middle, _height(last)))
    names = (*series, ink)
    *starts, end = accumulate((28 + 6.4 * len(name) for name in names), initial=BARS_LEFT)
    parts = {
        "ticks": quarter_ticks(_height(0), _height(100)),
        "left": BARS_LEFT,
        "right": width,
        "base": BARS_TOP + PLOT,
        "groups": groups,
        "crossing": crossing,
        "bar": bar - 1,
        "legend": list(zip(names, starts, strict=True)),
    }
    return draw("bars", title, max(width, end), BARS_TOP + PLOT + FOOT, **parts)


def _height(share: float) -> float:
    return BARS_TOP + PLOT * (1 - share / 100)


GRID_WIDTH, GRID_LEFT, GRID_ROW, GRID_TOP = 1000, 180, 15, 22
WIDEST: Final = 14.0
WIDTH_FOR_GAP: Final = 5
"""Width of a cell of the grid from which on there is a gap to the next."""


def grid(title: str, names: Sequence[str], shares: NDArray[np.float64]) -> Markup:
    """Who solves what: a row a model, a column a task. Full cells are solved, pale ones in part.

    `shares`: models × tasks, 0 to 1, nan for none.
    """
    if not names or not shares.size:
        return Markup("")
    step = min(WIDEST, (GRID_WIDTH - GRID_LEFT) / shares.shape[1])
    right = GRID_LEFT + step * shares.shape[1]
    rows = []
    for place, (name, row) in enumerate(zip(names, shares, strict=True)):
        y = GRID_TOP + place * GRID_ROW + GRID_ROW / 2
        solved = row > 1 - 1e-9
        kinds = {"solved": solved, "partly": (row > 0) & ~solved, "failed": row == 0}
        rows.append((name, y, {kind: _strokes(there, y, step) for kind, there in kinds.items()}))
    width, height = max(right, GRID_LEFT + 120), GRID_TOP + GRID_ROW * len(names) + 4
    return draw("grid", title, width, height, left=GRID_LEFT, right=right, rows=rows)


def _strokes(there: NDArray[np.bool_], y: float, step: float) -> str:
    """Strokes of a row's cells; neighbours are one stroke where they are too narrow for a gap."""
    gap = 1.0 if step >= WIDTH_FOR_GAP else 0.0
    if gap:
        runs = [(column, column + 1) for column in np.flatnonzero(there).tolist()]
    else:
        edges = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
        runs = list(zip(edges[::2], edges[1::2], strict=True))
    strokes = [(GRID_LEFT + start * step, (end - start) * step - gap) for start, end in runs]
    return "".join(f"M{px(x)} {px(y)}h{px(width)}" for x, width in strokes)


@dataclass(frozen=True, slots=True)
class RankLine:
    """One model's rank in each column."""

    name: str
    ranks: tuple[int, ...]
    colour: int | None = None
    """A palette colour, None for grey."""


def rank_shift(title: str, columns: Sequence[str], lines: Sequence[RankLine]) -> Markup:
    """One line a model across the columns, rank 1 on top. Ties are drawn in the order of the lines."""
    if len(columns) < 2 or len(lines) < 2:
        return Markup("")
    left, right, top, step, gap = 40, 190, 30, 150, 17
    heads = [(column, left + step * place) for place, column in enumerate(columns)]
    points: list[list[tuple[float, float]]] = [[] for _ in lines]
    for place, (_, x) in enumerate(heads):
        order = sorted(range(len(lines)), key=lambda index: lines[index].ranks[place])
        for row, index in enumerate(order):
            points[index].append((x, top + gap * row))
    drawn = sorted(zip(lines, points, strict=True), key=lambda pair: pair[0].colour is not None)
    width, height = heads[-1][1] + right, top + gap * len(lines) + 6
    return draw("rank_shift", title, width, height, heads=heads, lines=drawn)


def badge(name: str, value: str, colour: str) -> Markup:
    """Two words beside each other, in colours of their own, as they stand on other people's pages."""
    pad, letter = 7.0, 6.3
    left, right = (len(text) * letter + 2 * pad for text in (name, value))
    words = ((name, left / 2, len(name) * letter), (value, left + right / 2, len(value) * letter))
    return draw(
        "badge", f"{name}: {value}", left + right, 20, left=left, right=right, colour=colour, words=words
    )
