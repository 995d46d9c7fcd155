"""Two columns against each other, one point a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures import _plane as plane
from triathlon_site.figures._plane import BASE, LEFT, RIGHT, SIZE, TOP, across, up
from triathlon_site.figures._svg import QUARTERS, line, svg, tag, tick
from triathlon_site.render.formats import px


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
    x_maximum: float = 100,
    y_maximum: float = 100,
    identity: bool = False,
    border: Border | None = None,
) -> Markup:
    """Both axes from 0 to their maximum; `identity` draws the line on which both are equal."""
    rules = [f"M{LEFT} {px(up(share, 1))}H{RIGHT}M{px(across(share, 1))} {TOP}V{BASE}" for share in QUARTERS]
    axes = [tag("path", class_="grid", d=d) for d in rules]
    axes += [*plane.horizontal_axis(x_title, x_maximum), *plane.vertical_axis(y_title, y_maximum)]
    marks = _regions(border, x_maximum, y_maximum) if border else []
    marks += [tag("path", class_="rule", d=f"M{LEFT} {BASE}L{RIGHT} {TOP}")] if identity else []
    placed = [(point, across(point.x, x_maximum), up(point.y, y_maximum)) for point in points]
    marks += [_mark(*placed_point) for placed_point in placed]
    names = plane.labels([(point.name, x, y) for point, x, y in placed if point.label])
    return svg(SIZE, SIZE, title, *axes, *marks, *names)


def _regions(border: Border, x_maximum: float, y_maximum: float) -> list[Markup]:
    """The region below the border, shaded, and the names of both."""
    ends = [0.0, x_maximum]
    if border.slope:
        crossings = ((y - border.intercept) / border.slope for y in (0.0, y_maximum))
        ends += [x for x in crossings if 0 < x < x_maximum]
    edge = [(x, min(y_maximum, max(0.0, border.intercept + border.slope * x))) for x in sorted(ends)]
    corners = [(across(x, x_maximum), up(y, y_maximum)) for x, y in (*edge, (x_maximum, 0.0), (0.0, 0.0))]
    return [
        line(corners, "region", closed=True),
        tick(border.above, LEFT + 6, TOP + 14, None),
        tick(border.below, RIGHT - 6, BASE - 8, "end"),
    ]


def _mark(point: Point, x: float, y: float) -> Markup:
    if not point.marked:
        return plane.dot(point.name, x, y)
    title = tag("title", point.name)
    return tag("rect", title, class_="dot marked", x=x - 3.4, y=y - 3.4, width=6.8, height=6.8)
