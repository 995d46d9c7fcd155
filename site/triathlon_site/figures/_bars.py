"""Grouped bars with a line across them: several accuracies a model, and what holds together of them."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._rows import DotRow
from triathlon_site.figures._svg import QUARTERS, horizontal, line, name_at, svg, tag, tick
from triathlon_site.render.formats import px

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
    axis = []
    for share in QUARTERS:
        y = _y(100 * share)
        axis += [horizontal(y, LEFT, width), tick(f"{100 * share:g}", LEFT - 6, y + 4, "end")]
    starts = [LEFT + GAP / 2 + place * group for place in range(len(rows))]
    groups = [_group(row, x, bar) for row, x in zip(rows, starts, strict=True)]
    points = [
        (x + (group - GAP) / 2, _y(row.values[-1]))
        for row, x in zip(rows, starts, strict=True)
        if row.values[-1] is not None
    ]
    dots = [tag("circle", cx=x, cy=y, r=3.5) for x, y in points]
    crossing = tag("g", line(points), *dots, class_="ink")
    return svg(max(width, 420), TOP + PLOT + FOOT, title, *axis, *groups, crossing, *_legend(series, ink))


def _y(value: float | None) -> float:
    return TOP + PLOT * (1 - (value or 0.0) / 100)


def _bar(place: int, x: float, y: float, width: float, height: float) -> Markup:
    return tag("rect", class_=f"bar c{place}", x=x, y=y, width=width, height=height)


def _group(row: DotRow, x: float, bar: float) -> Markup:
    marks = [
        _bar(place, x + place * bar, _y(value), bar - 1, PLOT * value / 100)
        for place, value in enumerate(row.values[:-1])
        if value is not None
    ]
    middle, base = x + bar * (len(row.values) - 1) / 2, TOP + PLOT + 12
    return tag("g", *marks, name_at(row.name, 16, middle, base, f"rotate(-38 {px(middle)} {base})"))


def _legend(series: Sequence[str], ink: str) -> list[Markup]:
    parts, x = [], float(LEFT)
    for place, name in enumerate(series):
        parts += [_bar(place, x, 6, 9, 9), tick(name, x + 13, 15, None)]
        x += 28 + 6.4 * len(name)
    stroke = tag("path", class_="line ink", d=f"M{px(x)} 10.5H{px(x + 18)}")
    return [*parts, stroke, tick(ink, x + 23, 15, None)]
