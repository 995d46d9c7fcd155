"""Rows and bars: arrows on a common scale, grouped bars, the grid of tasks, badges."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from triathlon_site.figures._base import NOTHING, draw, filled, quarter_ticks
from triathlon_site.render.formats import px

WIDTH, LEFT, RIGHT, ROW, TOP = 560, 190, 16, 20, 44
BARS_LEFT, BARS_TOP, PLOT, GAP = 80, 34, 220, 16
BAR, SLIM, MANY = 11, 7, 8
"""Width of a bar, and of one in more than MANY groups: they keep the width of a figure, and its letters."""
NAMES: Final = {True: 21, False: 36}  # letters of a name below bars, by whether the groups are many
ALONG, DOWN = 5.3, 4.3  # how far a letter of such a name, which is turned, goes left and down
GRID_WIDTH, GRID_LEFT, GRID_ROW, GRID_TOP = 1000, 180, 15, 22
WIDEST: Final = 14.0
WIDTH_FOR_GAP: Final = 5  # width of a cell of the grid from which on there is a gap to the next


def arrows(
    title: str, labels: tuple[str, str], rows: Sequence[tuple[str, float, float]], *, maximum: float = 100.0
) -> Markup:
    """An arrow a row, of a name and two values, to the second; up and down differ in colour."""
    if not any(value for _, *values in rows for value in values):
        return NOTHING

    def across(value: float) -> float:
        return LEFT + value / maximum * (WIDTH - LEFT - RIGHT)

    placed = []
    for place, (name, *values) in enumerate(rows):
        y = TOP + 6 + ROW * place
        start, end = map(across, values)
        back = end - 6 if end >= start else end + 6
        tip = [(end, y), (back, y - 3.5), (back, y + 3.5)] if abs(end - start) > 1 else []
        placed.append((name, y, start, end, tip))
    scale = {"ticks": quarter_ticks(LEFT, WIDTH - RIGHT, maximum), "left": LEFT, "top": TOP}
    height = TOP + len(rows) * ROW + 8
    return draw("arrows", title, WIDTH, height, **scale, rows=placed, labels=labels)


def bars(
    title: str, series: Sequence[str], ink: str, rows: Sequence[tuple[str, Sequence[float | None]]]
) -> Markup:
    """Per cent, grouped by row: the name of a model, and its values, None where one is missing.

    The last value of each row, called `ink`, is a dot over its bars; the others are bars, as in `series`.
    """
    if not any(value for _, values in rows for value in values):
        return NOTHING
    bar, most = (BAR if len(rows) <= MANY else SLIM), NAMES[len(rows) > MANY]
    letters = min(most, max(len(name) for name, _ in rows))
    group = bar * len(series) + GAP
    left = max(BARS_LEFT, ALONG * letters - group / 2)
    width = left + group * len(rows) + GAP

    def up(share: float) -> float:
        return BARS_TOP + PLOT * (1 - share / 100)

    groups, dots = [], []
    for place, (name, values) in enumerate(rows):
        x = left + GAP / 2 + place * group
        middle = x + (group - GAP) / 2
        *shares, last = values
        heights = [
            (n, x + n * bar, up(share), PLOT * share / 100)
            for n, share in enumerate(shares)
            if share is not None
        ]
        groups.append((name, middle, heights))
        if last is not None:
            dots.append((middle, up(last)))
    names = (*series, ink)
    *starts, end = accumulate((28 + 6.4 * len(name) for name in names), initial=left)
    parts = {
        "ticks": quarter_ticks(up(0), up(100)),
        "left": left,
        "right": width,
        "base": BARS_TOP + PLOT,
        "groups": groups,
        "dots": dots,
        "most": most,
        "bar": bar - 1,
        "legend": list(zip(names, starts, strict=True)),
    }
    return draw("bars", title, max(width, end), BARS_TOP + PLOT + 16 + DOWN * letters, **parts)


def grid(title: str, names: Sequence[str], shares: NDArray[np.float64]) -> Markup:
    """Who solves what: a row a model, a column a task. Full cells are solved, pale ones in part.

    `shares`: models × tasks, 0 to 1, nan for none.
    """
    if not names or not shares.size:
        return NOTHING
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


def badge(name: str, value: str, colour: str) -> Markup:
    """Two words beside each other, in colours of their own, as they stand on other people's pages."""
    pad, letter = 7.0, 6.3
    left, right = (len(text) * letter + 2 * pad for text in (name, value))
    words = ((name, left / 2, len(name) * letter), (value, left + right / 2, len(value) * letter))
    size = {"width": left + right, "height": 20, "left": left, "right": right}
    return filled("badge", title=f"{name}: {value}", colour=colour, words=words, **size)
