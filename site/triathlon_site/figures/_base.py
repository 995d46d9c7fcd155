"""What all figures share: their templates, the palette, axes, and the plane that points and names lie in.

Modules of this folder compute places, in pixels; `templates/figures/` has the markup.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from markupsafe import Markup

from triathlon_site.render import installed_environment
from triathlon_site.render.formats import shorten

PALETTE: Final = 8
"""Classes c0…c7 of the style sheet; each also has a dash pattern or marker of its own."""
QUARTERS: Final = (0, 0.25, 0.5, 0.75, 1)
"""Of each axis, where it has a number."""
MOST_TICKS: Final = 8
"""Numbers of a logarithmic axis, beyond which it has powers of ten alone."""
SIZE: Final = 360
LEFT: Final = 44
TOP: Final = 12
BASE: Final = SIZE - 44
RIGHT: Final = SIZE - 12
EDGES: Final = {"left": LEFT, "right": RIGHT, "top": TOP, "base": BASE, "size": SIZE}
"""Of the square plane, for the templates."""
LETTER: Final = 6.1
"""Width of a letter of a name."""
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Note = tuple[str, float, float, str]
"""A name that is drawn: its text, its place, which end of the text stands there."""


def draw(template: str, title: str, width: float, height: float, **parts: Any) -> Markup:
    """A figure: its template, filled with these parts; the title is its accessible name."""
    parts |= {"title": title, "width": width, "height": height}
    return Markup(installed_environment().render(f"figures/{template}", **parts).strip())


def quarter_ticks(start: float, end: float, maximum: float = 100) -> list[tuple[str, float]]:
    """The numbers of an axis from 0 to the maximum, and where each stands between its ends."""
    return [(f"{share * maximum:g}", start + share * (end - start)) for share in QUARTERS]


def round_ticks(low: float, high: float, intervals: int, least: float = 0.01) -> list[float]:
    """Round numbers from below `low` to above `high`, `least` or more apart, at most so many intervals."""
    steps = (step * 10.0**power for power in range(-2, 3) for step in (1, 2, 5))
    step = next(s for s in steps if s >= least and math.ceil(high / s) - math.floor(low / s) <= intervals)
    first, last = math.floor(low / step), max(math.ceil(high / step), math.floor(low / step) + 1)
    return [round(number * step, 6) for number in range(first, last + 1)]


def log_numbers(low: float, high: float) -> list[float]:
    """1, 2 or 5 times a power of ten, from the last up to `low` to the first from `high` on; at least two."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    known = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    start = max(number for number in known if number <= low)
    end = min(number for number in known if number >= high and number > start)
    return [number for number in known if start <= number <= end]


def log_place(value: float, numbers: Sequence[float], start: float, end: float) -> float:
    """The place of a value on a logarithmic axis with these numbers at its ends."""
    return start + math.log(value / numbers[0]) / math.log(numbers[-1] / numbers[0]) * (end - start)


def across(value: float, maximum: float) -> float:
    """Place on the horizontal axis of the square plane, from 0 to the maximum."""
    return LEFT + value * ((RIGHT - LEFT) / maximum)


def up(value: float, maximum: float) -> float:
    """Place on its vertical axis."""
    return BASE - value * ((BASE - TOP) / maximum)


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
