"""The plane of a scatter: where its values lie, where its names have room."""

from collections.abc import Iterator, Sequence
from typing import Final

from triathlon_site.render.formats import shorten

SIZE: Final = 360
LEFT: Final = 44
TOP: Final = 12
BASE: Final = SIZE - 44
RIGHT: Final = SIZE - 12
EDGES: Final = {"left": LEFT, "right": RIGHT, "top": TOP, "base": BASE, "size": SIZE}
"""For the templates."""
LETTER: Final = 6.1
"""Width of a letter of a name."""


def across(value: float, maximum: float) -> float:
    """Place on the horizontal axis, from 0 to the maximum."""
    return LEFT + value * ((RIGHT - LEFT) / maximum)


def up(value: float, maximum: float) -> float:
    """Place on the vertical axis."""
    return BASE - value * ((BASE - TOP) / maximum)


Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Note = tuple[str, float, float, str]
"""A name that is drawn: its text, its place, which end of the text stands there."""


def labels(
    placed: Sequence[tuple[str, float, float]],
    taken: Sequence[tuple[float, float]] = (),
    bounds: Box = (LEFT, -SIZE, SIZE - 2, 2 * SIZE),
) -> Iterator[Note]:
    """Each name beside its point where there is room, cut only where the whole has none.

    Other names show when their point is pointed at.

    Args:
        placed: names and their points.
        taken: points that no name may cover, beside those that are named.
        bounds: where names may stand.
    """
    points = {*taken, *((x, y) for _, x, y in placed)}
    boxes: list[Box] = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    for full, x, y in placed:
        for name in dict.fromkeys((full, shorten(full))):
            if room := _room_for(name, x, y, bounds, boxes):
                box, note = room
                boxes.append(box)
                yield note
                break


def _room_for(name: str, x: float, y: float, bounds: Box, taken: Sequence[Box]) -> tuple[Box, Note] | None:
    """The first free place for a name: right of its point, left, above, below; None where there is none."""
    left_end, top, right_end, base = bounds
    width = LETTER * len(name)
    for anchor, text_x, text_y, left in (
        ("start", x + 7, y + 4, x + 6),
        ("end", x - 7, y + 4, x - 6 - width),
        ("middle", x, y - 8, x - width / 2),
        ("middle", x, y + 16, x - width / 2),
    ):
        box = (left, text_y - 10, left + width, text_y + 3)
        inside = left >= left_end and box[2] <= right_end and box[1] >= top and box[3] <= base
        if inside and is_free(box, taken):
            return box, (name, text_x, text_y, anchor)
    return None


def is_free(box: Box, taken: Sequence[Box]) -> bool:
    """Whether a rectangle shares no part with any other."""
    left, top, right, bottom = box
    return not any(left < b[2] and b[0] < right and top < b[3] and b[1] < bottom for b in taken)
