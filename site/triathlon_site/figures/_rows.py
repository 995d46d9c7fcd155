"""One line a model: dots, or an arrow, on a common scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from markupsafe import Markup

from triathlon_site.figures._template import PALETTE, draw, quarter_ticks

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


def dots(title: str, series: Sequence[str], rows: Sequence[DotRow], *, maximum: float = 100.0) -> Markup:
    """A dot for each series on each row. The shapes differ as the colours do."""
    if not any(value for row in rows for value in row.values):
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
    if not any(value for row in complete for value in row.values):
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
