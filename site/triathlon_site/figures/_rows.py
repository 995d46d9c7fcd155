"""One line a model: dots, or an arrow, on a common scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._svg import PALETTE, QUARTERS, horizontal, line, name_at, svg, tag, tick
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


def dots(title: str, series: Sequence[str], rows: Sequence[DotRow], *, maximum: float = 100.0) -> Markup:
    """A dot for each series on each row. The shapes differ as the colours do."""
    if not any(value for row in rows for value in row.values):
        return Markup("")
    marks = []
    for row, y in _placed(rows):
        known = [(n, _x(value, maximum)) for n, value in enumerate(row.values) if value is not None]
        ends = [x for _, x in known]
        rail = [horizontal(y, min(ends), max(ends))] if ends else []
        marks.append(_named(row, y, tag("g", *rail, *(_mark(n, x, y) for n, x in known))))
    return _figure(title, len(rows), maximum, [*_legend(series), *marks])


def arrows(title: str, labels: tuple[str, str], rows: Sequence[DotRow]) -> Markup:
    """An arrow from the first value of each row to its second, in per cent; up and down differ in colour."""
    complete = [row for row in rows if None not in row.values]
    if not any(value for row in complete for value in row.values):
        return Markup("")
    marks = []
    for row, y in _placed(complete):
        start, end = (_x(value or 0.0, 100) for value in row.values)
        side = 1 if end >= start else -1
        shaft = tag("path", class_="arrow", d=f"M{px(start)} {px(y)}H{px(end)}")
        head = [(end, y), (end - 6 * side, y - 3.5), (end - 6 * side, y + 3.5)]
        tip = line(head, "tip", closed=True) if abs(end - start) > 1 else Markup("")
        foot = tag("circle", cx=start, cy=y, r=2.5)
        marks.append(_named(row, y, tag("g", shaft, foot, tip, class_="c2" if side > 0 else "c1")))
    return _figure(title, len(complete), 100, [tick(" → ".join(labels), LEFT, 14, None), *marks])


def _placed(rows: Sequence[DotRow]) -> list[tuple[DotRow, float]]:
    return [(row, TOP + 6.0 + position * ROW) for position, row in enumerate(rows)]


def _named(row: DotRow, y: float, mark: Markup) -> Markup:
    return tag("g", name_at(row.name, 27, LEFT - 10, y + 4), mark)


def _mark(series: int, x: float, y: float) -> Markup:
    colour = f"mark c{series % PALETTE}"
    if series in _SHAPES:
        return line([(x + right, y + down) for right, down in _SHAPES[series]], colour, closed=True)
    return tag("circle", class_=colour, cx=x, cy=y, r=3.5)


def _legend(series: Sequence[str]) -> list[Markup]:
    """In one line, from the left edge where it would not fit beside the names."""
    widths = [28 + 6.2 * len(name) for name in series]
    parts, x = [], LEFT - max(0.0, sum(widths) - (WIDTH - LEFT))
    for position, name in enumerate(series):
        parts += [_mark(position, x + 4, 11), tick(name, x + 13, 15, None)]
        x += widths[position]
    return parts


def _figure(title: str, rows: int, maximum: float, marks: Sequence[Markup]) -> Markup:
    """The marks on a scale from 0 to the maximum."""
    height = TOP + rows * ROW + 8
    scale = []
    for share in QUARTERS:
        x = _x(share * maximum, maximum)
        scale.append(tag("path", class_="grid", d=f"M{px(x)} {TOP - 8}V{height - 8}"))
        scale.append(tick(f"{share * maximum:g}", x, TOP - 12))
    return svg(WIDTH, height, title, *scale, *marks)


def _x(value: float, maximum: float) -> float:
    return LEFT + value / maximum * (WIDTH - LEFT - RIGHT)
