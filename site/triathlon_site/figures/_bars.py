"""Grouped bars with a line across them: several accuracies a model, and what holds together of them."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._rows import DotRow
from triathlon_site.figures._template import draw, quarter_ticks

LEFT: Final = 80
TOP: Final = 34
PLOT: Final = 220
FOOT: Final = 96
BAR: Final = 11
SLIM: Final = 7
"""Width of a bar where there are more than MANY groups: they keep the width of a figure, and its letters."""
MANY: Final = 8
GAP: Final = 16


def bars(title: str, series: Sequence[str], ink: str, rows: Sequence[DotRow]) -> Markup:
    """Per cent. The last value of each row is that of the line `ink`; the others are bars, as in `series`."""
    if not any(value for row in rows for value in row.values):
        return Markup("")
    bar = BAR if len(rows) <= MANY else SLIM
    group = bar * len(series) + GAP
    width = LEFT + group * len(rows) + GAP
    groups, crossing = [], []
    for place, row in enumerate(rows):
        x = LEFT + GAP / 2 + place * group
        middle = x + (group - GAP) / 2
        *shares, last = row.values
        heights = [
            (n, x + n * bar, _y(share), PLOT * share / 100)
            for n, share in enumerate(shares)
            if share is not None
        ]
        groups.append((row.name, middle, heights))
        if last is not None:
            crossing.append((middle, _y(last)))
    starts = accumulate((28 + 6.4 * len(name) for name in series), initial=LEFT)
    legend = list(zip((*series, ink), starts, strict=True))
    axis = {"ticks": quarter_ticks(_y(0), _y(100)), "left": LEFT, "right": width, "base": TOP + PLOT}
    marks = {"groups": groups, "crossing": crossing, "bar": bar - 1}
    return draw("bars", title, max(width, 420), TOP + PLOT + FOOT, **axis, **marks, legend=legend)


def _y(share: float) -> float:
    return TOP + PLOT * (1 - share / 100)
