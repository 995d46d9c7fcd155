"""Two columns against each other, one point a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._plane import (
    BASE,
    LEFT,
    RIGHT,
    SIZE,
    TOP,
    across,
    dot,
    frame,
    horizontal_axis,
    labels,
    up,
    vertical_axis,
)
from triathlon_site.figures._svg import path, svg, tag


@dataclass(frozen=True, slots=True)
class Point:
    """One model in the plane."""

    name: str
    x: float
    y: float
    label: bool = False
    """Named in the figure itself; every point is named when pointed at."""
    marked: bool = False
    """A square in another colour."""


@dataclass(frozen=True, slots=True)
class Border:
    """A line through the plane: on either side of it is a region with a name."""

    intercept: float
    slope: float
    above: str
    below: str


def scatter(
    title: str,
    points: Sequence[Point],
    *,
    x_title: str,
    y_title: str,
    x_maximum: float,
    y_maximum: float,
    identity: bool = False,
    border: Border | None = None,
) -> Markup:
    """Both axes from 0 to their maximum; `identity` draws the line on which both are equal."""
    marks = _regions(border, x_maximum, y_maximum) if border else []
    marks += [tag("path", class_="rule", d=f"M{LEFT} {BASE}L{RIGHT} {TOP}")] if identity else []
    placed = [(point, across(point.x, x_maximum), up(point.y, y_maximum)) for point in points]
    marks += [_mark(*placed_point) for placed_point in placed]
    marks += labels([(point.name, x, y) for point, x, y in placed if point.label])
    axes = frame(horizontal_axis(x_title, x_maximum), vertical_axis(y_title, y_maximum))
    return svg(SIZE, SIZE, title, *axes, *marks)


def _regions(border: Border, x_maximum: float, y_maximum: float) -> list[Markup]:
    """The region below the border, shaded, and the names of both."""
    ends = [0.0, x_maximum]
    if border.slope:
        crossings = ((y - border.intercept) / border.slope for y in (0.0, y_maximum))
        ends += [x for x in crossings if 0 < x < x_maximum]
    edge = [(x, min(y_maximum, max(0.0, border.intercept + border.slope * x))) for x in sorted(ends)]
    corners = [(across(x, x_maximum), up(y, y_maximum)) for x, y in (*edge, (x_maximum, 0.0), (0.0, 0.0))]
    return [
        tag("path", class_="region", d=path(corners, closed=True)),
        tag("text", border.above, class_="tick", x=LEFT + 6, y=TOP + 14),
        tag("text", border.below, class_="tick", x=RIGHT - 6, y=BASE - 8, text_anchor="end"),
    ]


def _mark(point: Point, x: float, y: float) -> Markup:
    if not point.marked:
        return dot(point.name, x, y)
    title = tag("title", point.name)
    return tag("rect", title, class_="dot marked", x=x - 3.4, y=y - 3.4, width=6.8, height=6.8)
