"""Two columns against each other, one point a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup, escape

from triathlon_site.figures._curves import shorten
from triathlon_site.figures._svg import number, path, svg, tag

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
    base, right = SIZE - BOTTOM, SIZE - RIGHT
    x_scale, y_scale = (right - LEFT) / x_maximum, (base - TOP) / y_maximum
    marks = _regions(border, x_maximum, y_maximum) if border else []
    marks += [tag("path", class_="rule", d=f"M{LEFT} {base}L{right} {TOP}")] if identity else []
    placed = [(point, LEFT + point.x * x_scale, base - point.y * y_scale) for point in points]
    marks += [_mark(*one) for one in placed]
    marks += _labels([one for one in placed if one[0].label])
    return svg(SIZE, SIZE, title, *_axes(x_title, y_title, x_maximum, y_maximum), *marks)


def _regions(border: Border, x_maximum: float, y_maximum: float) -> list[Markup]:
    """The region below the border, shaded, and the names of both."""
    base, right = SIZE - BOTTOM, SIZE - RIGHT
    ends = [0.0, x_maximum]
    if border.slope:
        crossings = ((y - border.intercept) / border.slope for y in (0.0, y_maximum))
        ends += [x for x in crossings if 0 < x < x_maximum]
    edge = [(x, min(y_maximum, max(0.0, border.intercept + border.slope * x))) for x in sorted(ends)]
    corners = [
        (LEFT + x / x_maximum * (right - LEFT), base - y / y_maximum * (base - TOP))
        for x, y in (*edge, (x_maximum, 0.0), (0.0, 0.0))
    ]
    return [
        tag("path", class_="region", d=path(corners, closed=True)),
        tag("text", border.above, class_="tick", x=LEFT + 6, y=TOP + 14),
        tag("text", border.below, class_="tick", x=right - 6, y=base - 8, text_anchor="end"),
    ]


Box = tuple[float, float, float, float]


def _labels(placed: Sequence[tuple[Point, float, float]]) -> list[Markup]:
    """Each beside its point where there is room; a name without any room is told when pointed at only."""
    taken: list[Box] = [(x - 4, y - 4, x + 4, y + 4) for _, x, y in placed]
    labels = []
    for point, x, y in placed:
        name = shorten(point.name)
        width = 6.1 * len(name)
        choices = (
            ("start", x + 7, y + 4, x + 6),
            ("end", x - 7, y + 4, x - 6 - width),
            ("middle", x, y - 8, x - width / 2),
            ("middle", x, y + 16, x - width / 2),
        )
        for anchor, text_x, text_y, left in choices:
            box = (left, text_y - 10, left + width, text_y + 3)
            if left >= LEFT and box[2] <= SIZE - 2 and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                labels.append(tag("text", name, class_="note", x=text_x, y=text_y, text_anchor=anchor))
                break
    return labels


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _mark(point: Point, x: float, y: float) -> Markup:
    """Written out: there are a hundred in each of thousands of figures."""
    name = f"<title>{_escaped(point.name)}</title>"
    if point.marked:
        place = f'x="{number(x - 3.4)}" y="{number(y - 3.4)}" width="6.8" height="6.8"'
        return Markup(f'<rect class="dot marked" {place}>{name}</rect>')
    return Markup(f'<circle class="dot" cx="{number(x)}" cy="{number(y)}" r="3.5">{name}</circle>')


_escaped = lru_cache(maxsize=2048)(escape)


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
