"""Grouped bars with a line across them: several accuracies a model, and what holds together of them."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._degradation_curve import shorten
from triathlon_site.figures._rows import DotRow
from triathlon_site.figures._svg import number, path, svg, tag

LEFT: Final = 80
TOP: Final = 34
PLOT: Final = 220
FOOT: Final = 96
BAR: Final = 11
SLIM: Final = 7
"""Width of a bar where there are more than MANY groups: they keep the width of a figure, and its letters."""
MANY: Final = 8
GAP: Final = 16


def bars(title: str, series: Sequence[str], line: str, rows: Sequence[DotRow]) -> Markup:
    """Per cent. The last value of each row is the line's; the others are bars, in the order of `series`."""
    if not any(value for row in rows for value in row.values):
        return Markup("")
    bar = BAR if len(rows) <= MANY else SLIM
    group = bar * len(series) + GAP
    width = LEFT + group * len(rows) + GAP
    groups = [_group(row, LEFT + GAP / 2 + place * group, bar) for place, row in enumerate(rows)]
    points = [
        (LEFT + GAP / 2 + place * group + (group - GAP) / 2, _y(row.values[-1]))
        for place, row in enumerate(rows)
        if row.values[-1] is not None
    ]
    crossing = tag(
        "g",
        tag("path", class_="line", d=path(points)),
        *(tag("circle", cx=x, cy=y, r=3.5) for x, y in points),
        class_="ink",
    )
    legend = _legend(tuple(series), line)
    return svg(max(width, 420), TOP + PLOT + FOOT, title, _axis(width), *groups, crossing, legend)


def _y(value: float | None) -> float:
    return TOP + PLOT * (1 - (value or 0.0) / 100)


def _group(row: DotRow, x: float, bar: float) -> Markup:
    marks = [
        tag(
            "rect",
            class_=f"bar c{place}",
            x=x + place * bar,
            y=_y(value),
            width=bar - 1,
            height=PLOT * value / 100,
        )
        for place, value in enumerate(row.values[:-1])
        if value is not None
    ]
    middle, base = x + bar * (len(row.values) - 1) / 2, TOP + PLOT + 12
    turned = f"rotate(-38 {number(middle)} {base})"
    name = tag(
        "text", tag("title", row.name), shorten(row.name, 16), x=middle, y=base, text_anchor="end",
        transform=turned,
    )  # fmt: skip
    return tag("g", *marks, name)


def _axis(width: float) -> Markup:
    parts = []
    for value in (0, 25, 50, 75, 100):
        parts.append(tag("path", class_="grid", d=f"M{LEFT} {number(_y(value))}H{number(width)}"))
        parts.append(tag("text", str(value), class_="tick", x=LEFT - 6, y=_y(value) + 4, text_anchor="end"))
    return Markup("").join(parts)


def _legend(series: tuple[str, ...], line: str) -> Markup:
    parts, x = [], float(LEFT)
    for place, name in enumerate(series):
        parts.append(tag("rect", class_=f"bar c{place}", x=x, y=6, width=9, height=9))
        parts.append(tag("text", name, class_="tick", x=x + 13, y=15))
        x += 28 + 6.4 * len(name)
    parts.append(tag("path", class_="line ink", d=f"M{number(x)} 10.5H{number(x + 18)}"))
    parts.append(tag("text", line, class_="tick", x=x + 23, y=15))
    return Markup("").join(parts)
