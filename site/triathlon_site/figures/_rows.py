"""One line a model: dots, or an arrow, on a common scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._degradation_curve import shorten
from triathlon_site.figures._svg import PALETTE, number, path, svg, tag

WIDTH, LEFT, RIGHT, ROW, TOP = 560, 190, 16, 20, 44


@dataclass(frozen=True, slots=True)
class DotRow:
    """One model; None where a value is missing."""

    name: str
    values: tuple[float | None, ...]


def dots(title: str, series: Sequence[str], rows: Sequence[DotRow], *, maximum: float = 100.0) -> Markup:
    """A dot for each series on each row. The shapes differ as the colours do."""
    if not any(value for row in rows for value in row.values):
        return Markup("")
    legend = _legend(series)
    marks = [_row(row, position, maximum) for position, row in enumerate(rows)]
    return svg(WIDTH, _height(len(rows)), title, *_scale(len(rows), maximum), *legend, *marks)


def arrows(title: str, labels: tuple[str, str], rows: Sequence[DotRow]) -> Markup:
    """An arrow from the first value of each row to its second, in per cent; up and down differ in colour."""
    complete = [row for row in rows if None not in row.values]
    if not any(value for row in complete for value in row.values):
        return Markup("")
    marks = []
    for position, row in enumerate(complete):
        start, end = (_x(value or 0.0, 100) for value in row.values)
        y = _y(position)
        side = 1 if end >= start else -1
        head = path([(end, y), (end - 6 * side, y - 3.5), (end - 6 * side, y + 3.5)], closed=True)
        colour = "c2" if side > 0 else "c1"
        line = tag("path", class_="arrow", d=f"M{number(start)} {number(y)}H{number(end)}")
        tip = tag("path", class_="tip", d=head) if abs(end - start) > 1 else Markup("")
        marks.append(
            _named(
                row.name, position, tag("g", line, tag("circle", cx=start, cy=y, r=2.5), tip, class_=colour)
            )
        )
    note = tag("text", f"{labels[0]} → {labels[1]}", class_="tick", x=LEFT, y=14)
    return svg(WIDTH, _height(len(complete)), title, *_scale(len(complete), 100), note, *marks)


def _row(row: DotRow, position: int, maximum: float) -> Markup:
    known = [_x(value, maximum) for value in row.values if value is not None]
    y = _y(position)
    line = (
        tag("path", class_="grid", d=f"M{number(min(known))} {number(y)}H{number(max(known))}")
        if known
        else Markup("")
    )
    marks = [
        _mark(colour, _x(value, maximum), y) for colour, value in enumerate(row.values) if value is not None
    ]
    return _named(row.name, position, tag("g", line, *marks))


def _named(name: str, position: int, mark: Markup) -> Markup:
    label = tag(
        "text", tag("title", name), shorten(name, 27), x=LEFT - 10, y=_y(position) + 4, text_anchor="end"
    )
    return tag("g", label, mark)


def _mark(series: int, x: float, y: float) -> Markup:
    """Circle, square, diamond, triangle, bar, triangle upside down: told apart without colour."""
    colour = f"c{series % PALETTE}"
    shapes = {
        1: [(x - 3.2, y - 3.2), (x + 3.2, y - 3.2), (x + 3.2, y + 3.2), (x - 3.2, y + 3.2)],
        2: [(x, y - 4.5), (x + 4.5, y), (x, y + 4.5), (x - 4.5, y)],
        3: [(x, y - 4.2), (x + 4.2, y + 3.4), (x - 4.2, y + 3.4)],
        4: [(x - 1.3, y - 6), (x + 1.3, y - 6), (x + 1.3, y + 6), (x - 1.3, y + 6)],
        5: [(x, y + 4.2), (x - 4.2, y - 3.4), (x + 4.2, y - 3.4)],
    }
    if series in shapes:
        return tag("path", class_=f"mark {colour}", d=path(shapes[series], closed=True))
    return tag("circle", class_=f"mark {colour}", cx=x, cy=y, r=3.5)


def _legend(series: Sequence[str]) -> list[Markup]:
    """In one line, from the left edge where it would not fit beside the names."""
    widths = [28 + 6.2 * len(name) for name in series]
    parts, x = [], LEFT - max(0.0, sum(widths) - (WIDTH - LEFT))
    for position, name in enumerate(series):
        parts.append(_mark(position, x + 4, 11))
        parts.append(tag("text", name, class_="tick", x=x + 13, y=15))
        x += widths[position]
    return parts


def _scale(rows: int, maximum: float) -> list[Markup]:
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = _x(share * maximum, maximum)
        parts.append(tag("path", class_="grid", d=f"M{number(x)} {TOP - 8}V{_height(rows) - 8}"))
        parts.append(
            tag("text", f"{share * maximum:g}", class_="tick", x=x, y=TOP - 12, text_anchor="middle")
        )
    return parts


def _x(value: float, maximum: float) -> float:
    return LEFT + value / maximum * (WIDTH - LEFT - RIGHT)


def _y(position: int) -> float:
    return TOP + 6.0 + position * ROW


def _height(rows: int) -> int:
    return TOP + rows * ROW + 8
