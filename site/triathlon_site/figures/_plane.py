"""The plane of a scatter: where its values lie, its axes, dots and names."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._degradation_curve import shorten
from triathlon_site.figures._svg import tag

SIZE: Final = 360
LEFT: Final = 44
TOP: Final = 12
BASE: Final = SIZE - 44
RIGHT: Final = SIZE - 12
SHARES: Final = (0, 0.25, 0.5, 0.75, 1)
"""Of each axis, where it has a number."""


def across(value: float, maximum: float) -> float:
    """Place on the horizontal axis, from 0 to the maximum."""
    return LEFT + value * ((RIGHT - LEFT) / maximum)


def up(value: float, maximum: float) -> float:
    """Place on the vertical axis."""
    return BASE - value * ((BASE - TOP) / maximum)


def frame(horizontal: Sequence[Markup], vertical: Sequence[Markup]) -> list[Markup]:
    """Lines with two axes, in their order in the figure."""
    return [part for parts in zip(_lines(), horizontal, vertical, strict=True) for part in parts]


def _lines() -> tuple[Markup, ...]:
    """One each way at each number; none at the titles."""
    places = [(across(share, 1), up(share, 1)) for share in SHARES]
    lines = [tag("path", class_="grid", d=f"M{LEFT} {y:.1f}H{RIGHT}M{x:.1f} {TOP}V{BASE}") for x, y in places]
    return (*lines, Markup(""))


def horizontal_axis(title: str, maximum: float) -> list[Markup]:
    """Its numbers, then its title."""
    ticks = [tick(f"{share * maximum:g}", across(share, 1), BASE + 16) for share in SHARES]
    return [*ticks, tick(title, (LEFT + RIGHT) / 2, SIZE - 8)]


def vertical_axis(title: str, maximum: float) -> list[Markup]:
    """Its numbers, then its title."""
    ticks = [tick(f"{share * maximum:g}", LEFT - 6, up(share, 1) + 4, "end") for share in SHARES]
    middle = (TOP + BASE) / 2
    return [*ticks, tick(title, 12, middle, transform=f"rotate(-90 12 {middle:.1f})")]


def tick(text: str, x: float, y: float, anchor: str = "middle", transform: str | None = None) -> Markup:
    """A number or a title of an axis."""
    return tag("text", text, class_="tick", x=x, y=y, text_anchor=anchor, transform=transform)


def dot(name: str, x: float, y: float) -> Markup:
    """A point, named when pointed at."""
    return tag("circle", tag("title", name), class_="dot", cx=x, cy=y, r=3.5)


Box = tuple[float, float, float, float]


def labels(placed: Sequence[tuple[str, float, float]]) -> list[Markup]:
    """Each name beside its point where there is room; other names show when their point is pointed at."""
    taken: list[Box] = [(x - 4, y - 4, x + 4, y + 4) for _, x, y in placed]
    texts = []
    for full, x, y in placed:
        name = shorten(full)
        width = 6.1 * len(name)
        choices = (
            ("start", x + 7, y + 4, x + 6),
            ("end", x - 7, y + 4, x - 6 - width),
            ("middle", x, y - 8, x - width / 2),
            ("middle", x, y + 16, x - width / 2),
        )
        for anchor, text_x, text_y, left in choices:
            box = (left, text_y - 10, left + width, text_y + 3)
            if left >= LEFT and box[2] <= SIZE - 2 and not any(overlap(box, label) for label in taken):
                taken.append(box)
                texts.append(tag("text", name, class_="note", x=text_x, y=text_y, text_anchor=anchor))
                break
    return texts


def overlap(first: Box, second: Box) -> bool:
    """Whether two rectangles (left, top, right, bottom) share a part."""
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]
