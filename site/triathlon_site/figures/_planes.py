"""Points in a plane: two scores against each other, prices against scores."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._base import NOTHING, draw, quarter_ticks
from triathlon_site.render import formats

SIZE: Final = 360
LEFT, RIGHT, TOP, BASE = 44, SIZE - 12, 12, SIZE - 44
EDGES: Final = {"left": LEFT, "right": RIGHT, "top": TOP, "base": BASE, "size": SIZE}
"""Of the square plane, for its template."""
PRICES: Final = {"left": 34, "right": 426, "top": 24, "base": 170, "size": 206}
"""Edges of the figure of prices, for its template."""
PRICES_WIDTH: Final = 440
LEGEND: Final = 17  # names may stand below the legend, above the plot
PAD: Final = 14  # between the ends of the axis of prices and the outermost points
MOST_TICKS: Final = 8  # numbers of a logarithmic axis, beyond which it has powers of ten alone
NAMED: Final = 9  # names that are tried: first the models that are the best at their price, then the best
LOWEST_SHARE: Final = 0.75
"""Scores below this share of the best are counted and not drawn: they would press all others together."""
LETTER: Final = 6.6  # width of a letter of a name, as the widest of the usual fonts have it
Box = tuple[float, float, float, float]  # left, top, right, bottom
Note = tuple[str, float, float, str]
"""A name that is drawn: its text, its place, which end of the text stands there."""


@dataclass(frozen=True, slots=True)
class Point:
    """One model in the plane."""

    name: str
    x: float
    y: float
    label: bool = False  # named in the figure itself; every point is named when pointed at


def scatter(
    title: str,
    points: Sequence[Point],
    *,
    x_title: str,
    y_title: str,
    x_maximum: float = 100,
    y_maximum: float = 100,
) -> Markup:
    """Both axes from 0 to their maximum."""
    placed = [
        (p, LEFT + p.x * ((RIGHT - LEFT) / x_maximum), BASE - p.y * ((BASE - TOP) / y_maximum))
        for p in points
    ]
    x_axis = {"x_title": x_title, "x_ticks": quarter_ticks(LEFT, RIGHT, x_maximum)}
    y_axis = {"y_title": y_title, "y_ticks": quarter_ticks(BASE, TOP, y_maximum)}
    names = list(_labels([(point.name, x, y) for point, x, y in placed if point.label]))
    marks = {"points": placed, "names": names}
    return draw("scatter", title, SIZE, SIZE, edges=EDGES, **x_axis, **y_axis, **marks)


@dataclass(frozen=True, slots=True)
class PricePoint:
    """One model."""

    name: str
    link: str  # its page, from the site's root
    price: float  # dollars per million tokens of output; above 0
    score: float
    colour: int | None = None  # of the palette; None for grey
    hollow: bool = False  # whether its score was reported by others and not checked
    gone: bool = False  # whether it can no longer be used: a cross


def price_score(
    title: str,
    points: Sequence[PricePoint],
    *,
    y_title: str,
    band: float | None = None,
    legend: Sequence[str] = (),
) -> Markup:
    """A point a model; the axis of prices is logarithmic, that of scores is fitted.

    Args:
        title: the accessible name.
        points: a model without a price above 0 is left out; nothing is drawn where none is left.
        y_title: of the scores.
        band: scores from here on cannot be told from the best.
        legend: names of the colours, from the first.
    """
    priced = [point for point in points if point.price > 0]
    if not priced:
        return NOTHING
    best = max(point.score for point in priced)
    points = [point for point in priced if point.score >= LOWEST_SHARE * best]
    prices = _log_numbers([point.price for point in points])
    scores = round_ticks(min(point.score for point in points), best, 5)

    def across(price: float) -> float:
        share = math.log(price / prices[0]) / math.log(prices[-1] / prices[0])
        return PRICES["left"] + PAD + share * (PRICES["right"] - PRICES["left"] - 2 * PAD)

    def up(score: float) -> float:
        height = PRICES["base"] - PRICES["top"]
        return PRICES["base"] - (score - scores[0]) / (scores[-1] - scores[0]) * height

    def is_frontier(point: PricePoint) -> bool:
        """Whether no other is as cheap and as good, of those that can be used."""
        return not point.gone and not any(
            other.price <= point.price and other.score > point.score and not other.gone for other in points
        )

    placed = [(point, across(point.price), up(point.score)) for point in points]
    named = sorted(placed, key=lambda one: (not is_frontier(one[0]), -one[0].score))[:NAMED]
    names = _labels(
        [(point.name, x, y) for point, x, y in named],
        taken=[(x, y) for _, x, y in placed],
        bounds=(PRICES["left"], LEGEND, PRICES_WIDTH, PRICES["base"] + 4),
    )
    starts = accumulate((22 + 6.2 * len(name) for name in legend), initial=PRICES["left"])
    parts = {
        "points": placed,
        "names": list(names),
        "left_out": len(priced) - len(points),
        "links": {name: point.link for point in points for name in (formats.shorten(point.name), point.name)},
        "band": None if band is None else up(band),
        "x_ticks": [(formats.price(price), across(price)) for price in prices],
        "y_ticks": [(f"{score:g}", up(score)) for score in scores],
        "legend": [(name, place, x) for place, (name, x) in enumerate(zip(legend, starts, strict=False))],
    }
    return draw("price_score", title, PRICES_WIDTH, PRICES["size"], edges=PRICES, y_title=y_title, **parts)


def round_ticks(low: float, high: float, intervals: int, least: float = 0.01) -> list[float]:
    """Round numbers from below `low` to above `high`, `least` or more apart, at most so many intervals."""
    steps = (step * 10.0**power for power in range(-2, 3) for step in (1, 2, 5))
    step = next(s for s in steps if s >= least and math.ceil(high / s) - math.floor(low / s) <= intervals)
    first, last = math.floor(low / step), max(math.ceil(high / step), math.floor(low / step) + 1)
    return [round(number * step, 6) for number in range(first, last + 1)]


def _log_numbers(values: Sequence[float]) -> list[float]:
    """1, 2 or 5 times a power of ten, from below all values to above; powers alone where these are many."""
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    known = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    start = max(number for number in known if number <= low)
    end = min(number for number in known if number >= high and number > start)
    numbers = [number for number in known if start <= number <= end]
    return numbers if len(numbers) <= MOST_TICKS else [10.0**power for power in powers]


def _labels(
    placed: Sequence[tuple[str, float, float]],
    taken: Sequence[tuple[float, float]] = (),
    bounds: Box = (LEFT, 0, SIZE - 6, BASE + 7),
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
        for name in dict.fromkeys((full, formats.shorten(full))):
            if room := _room_for(name, x, y, bounds, boxes):
                box, note = room
                boxes.append(box)
                yield note
                break


def _room_for(name: str, x: float, y: float, bounds: Box, taken: Sequence[Box]) -> tuple[Box, Note] | None:
    """The first free place for a name: right of its point, left, above, below; None where there is none."""
    left_end, top_end, right_end, base = bounds
    width = LETTER * len(name)
    for anchor, text_x, text_y, left in (
        ("start", x + 7, y + 4, x + 6),
        ("end", x - 7, y + 4, x - 6 - width),
        ("middle", x, y - 8, x - width / 2),
        ("middle", x, y + 16, x - width / 2),
    ):
        right, top, bottom = left + width, text_y - 10, text_y + 3
        inside = left >= left_end and right <= right_end and top >= top_end and bottom <= base
        if inside and not any(left < b[2] and b[0] < right and top < b[3] and b[1] < bottom for b in taken):
            return (left, top, right, bottom), (name, text_x, text_y, anchor)
    return None
