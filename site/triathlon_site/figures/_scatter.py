"""Two columns against each other, one point a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._plane import BASE, EDGES, LEFT, RIGHT, SIZE, TOP, across, labels, up
from triathlon_site.figures._template import draw, quarter_ticks


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
    placed = [(point, across(point.x, x_maximum), up(point.y, y_maximum)) for point in points]
    x_axis = {"x_title": x_title, "x_ticks": quarter_ticks(LEFT, RIGHT, x_maximum)}
    y_axis = {"y_title": y_title, "y_ticks": quarter_ticks(BASE, TOP, y_maximum)}
    region = _region(border, x_maximum, y_maximum) if border else []
    names = list(labels([(point.name, x, y) for point, x, y in placed if point.label]))
    marks = {"border": border, "region": region, "identity": identity, "points": placed, "names": names}
    return draw("scatter", title, SIZE, SIZE, edges=EDGES, **x_axis, **y_axis, **marks)


def _region(border: Border, x_maximum: float, y_maximum: float) -> list[tuple[float, float]]:
    """The corners of what lies below the border."""
    ends = [0.0, x_maximum]
    if border.slope:
        crossings = ((y - border.intercept) / border.slope for y in (0.0, y_maximum))
        ends += [x for x in crossings if 0 < x < x_maximum]
    edge = [(x, min(y_maximum, max(0.0, border.intercept + border.slope * x))) for x in sorted(ends)]
    return [(across(x, x_maximum), up(y, y_maximum)) for x, y in (*edge, (x_maximum, 0.0), (0.0, 0.0))]
