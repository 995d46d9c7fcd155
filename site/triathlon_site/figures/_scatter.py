"""Two columns against each other, one point a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._svg import svg, tag

SIZE, LEFT, TOP, BOTTOM, RIGHT = 360, 44, 12, 44, 12


@dataclass(frozen=True, slots=True)
class Point:
    name: str
    x: float
    y: float
    label: bool = False
    """Named in the figure itself; every point is named when pointed at."""
    marked: bool = False
    """A square in another colour."""


def scatter(
    title: str,
    points: Sequence[Point],
    *,
    x_title: str,
    y_title: str,
    x_maximum: float,
    y_maximum: float,
    identity: bool = False,
) -> Markup:
    """Both axes from 0 to their maximum; `identity` draws the line on which both are equal."""
    base, right = SIZE - BOTTOM, SIZE - RIGHT
    x_scale, y_scale = (right - LEFT) / x_maximum, (base - TOP) / y_maximum
    marks = [tag("path", class_="rule", d=f"M{LEFT} {base}L{right} {TOP}")] if identity else []
    for point in points:
        x, y = LEFT + point.x * x_scale, base - point.y * y_scale
        marks.append(_mark(point, x, y))
        if point.label:
            side, step = ("end", -7.0) if x > SIZE * 0.62 else ("start", 7.0)
            marks.append(tag("text", point.name, class_="note", x=x + step, y=y + 4, text_anchor=side))
    return svg(SIZE, SIZE, title, *_axes(x_title, y_title, x_maximum, y_maximum), *marks)


def _mark(point: Point, x: float, y: float) -> Markup:
    name = tag("title", point.name)
    if point.marked:
        return tag("rect", name, class_="dot marked", x=x - 3.4, y=y - 3.4, width=6.8, height=6.8)
    return tag("circle", name, class_="dot", cx=x, cy=y, r=3.5)


def _axes(x_title: str, y_title: str, x_maximum: float, y_maximum: float) -> list[Markup]:
    base, right = SIZE - BOTTOM, SIZE - RIGHT
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = LEFT + share * (right - LEFT), base - share * (base - TOP)
        parts += [
            tag("path", class_="grid", d=f"M{LEFT} {y:.1f}H{right}M{x:.1f} {TOP}V{base}"),
            tag("text", f"{share * x_maximum:g}", class_="tick", x=x, y=base + 16, text_anchor="middle"),
            tag("text", f"{share * y_maximum:g}", class_="tick", x=LEFT - 6, y=y + 4, text_anchor="end"),
        ]
    middle = (TOP + base) / 2
    parts.append(tag("text", x_title, class_="tick", x=(LEFT + right) / 2, y=SIZE - 8, text_anchor="middle"))
    turned = f"rotate(-90 12 {middle:.1f})"
    parts.append(tag("text", y_title, class_="tick", x=12, y=middle, text_anchor="middle", transform=turned))
    return parts
