"""Points in a plane: two scores, prices and scores, tokens and scores."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._base import (
    BASE,
    EDGES,
    LEFT,
    LETTER,
    MOST_TICKS,
    RIGHT,
    SIZE,
    TOP,
    Box,
    Note,
    across,
    draw,
    is_free,
    labels,
    log_numbers,
    log_place,
    quarter_ticks,
    round_ticks,
    up,
)
from triathlon_site.render.formats import path_data, shorten

PRICES: Final = {"left": 34, "right": 426, "top": 24, "base": 170, "size": 206}
"""Edges of the figure of prices, for its template."""
PRICES_WIDTH: Final = 440
LEGEND: Final = 17
"""Names may stand below the legend, above the plot."""
PAD: Final = 14
"""Between the ends of the axis of prices and the outermost points."""
TOKENS_PAD: Final = 16
NAMED: Final = 9
"""Names that are tried: first the models that are the best at their price, then the best."""
LOWEST_SHARE: Final = 0.75
"""Scores below this share of the best are counted and not drawn: they would press all others together."""
_LINE: Final = 14
"""From one line of names to the next."""
_LONGEST: Final = 30
"""Letters of a name: rows of one model often differ in the last word alone."""


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


@dataclass(frozen=True, slots=True)
class PricePoint:
    """One model."""

    name: str
    link: str
    """Its page, from the site's root."""
    price: float
    """Dollars per million tokens of output; above 0."""
    score: float
    colour: int | None = None
    """Of the palette; None for grey."""
    hollow: bool = False
    """Whether its score was reported by others and not checked."""
    gone: bool = False
    """Whether it can no longer be used: a cross."""


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
        return Markup("")
    best = max(point.score for point in priced)
    points = [point for point in priced if point.score >= LOWEST_SHARE * best]
    known = [point.price for point in points]
    prices = log_numbers(min(known), max(known))
    if len(prices) > MOST_TICKS:
        first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
        prices = [10.0**power for power in range(first, last + 1)]
    scores = round_ticks(min(point.score for point in points), best, 5)

    def across(price: float) -> float:
        return log_place(price, prices, PRICES["left"] + PAD, PRICES["right"] - PAD)

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
    names = labels(
        [(point.name, x, y) for point, x, y in named],
        taken=[(x, y) for _, x, y in placed],
        bounds=(PRICES["left"], LEGEND, PRICES_WIDTH, PRICES["base"] + 4),
    )
    starts = accumulate((22 + 6.2 * len(name) for name in legend), initial=PRICES["left"])
    parts = {
        "points": placed,
        "names": list(names),
        "left_out": len(priced) - len(points),
        "links": {name: point.link for point in points for name in (shorten(point.name), point.name)},
        "band": None if band is None else up(band),
        "x_ticks": [(f"{price:g}", across(price)) for price in prices],
        "y_ticks": [(f"{score:g}", up(score)) for score in scores],
        "legend": [(name, place, x) for place, (name, x) in enumerate(zip(legend, starts, strict=False))],
    }
    return draw("price_score", title, PRICES_WIDTH, PRICES["size"], edges=PRICES, y_title=y_title, **parts)


@dataclass(frozen=True, slots=True)
class TokenPoint:
    """One row of a model: an effort or a token budget."""

    name: str
    tokens: float
    """Output tokens a unit."""
    score: float
    low: float
    high: float
    most: float | None = None
    """What the score could be at most if no reply had been cut; None where none was."""


def score_by_tokens(title: str, points: Sequence[TokenPoint], y_title: str, y_maximum: float) -> Markup:
    """A line through the points in the order of their tokens, each with its interval; beside it, dashed, how
    far its score could rise with more tokens.

    The axis of tokens is logarithmic, since budgets are multiples of each other. That of scores begins at 0
    and ends above the highest value, at `y_maximum` at most.
    """
    tokens = [max(1.0, point.tokens) for point in points]
    numbers = log_numbers(min(tokens), max(tokens))
    highest = max(max(point.high, point.most or 0.0) for point in points)
    # the next number whose quarters are easy to read
    size = 10 ** math.floor(math.log10(highest)) if highest > 0 else 1.0
    y_end = min(y_maximum, next(step * size for step in (1, 2, 4, 6, 8, 10, 20) if step * size >= highest))
    placed, spans = [], []
    for point in sorted(points, key=lambda point: point.tokens):
        x = _token_place(point.tokens, numbers)
        score, low, high = (up(value, y_end) for value in (point.score, point.low, point.high))
        most = None if point.most is None else up(point.most, y_end)
        placed.append((point.name, x, score, low, high, most))
        spans.append((point.name, x, high if most is None else min(high, most), low))
    parts = {
        "x_ticks": list(_token_ticks(numbers)),
        "y_title": y_title,
        "y_ticks": quarter_ticks(BASE, TOP, y_end),
        "line": path_data((x, y) for _, x, y, *_ in placed),
        "points": placed,
        "names": list(_names(spans)),
    }
    return draw("score_by_tokens", title, SIZE, SIZE, edges=EDGES, **parts)


def _token_place(value: float, numbers: Sequence[float]) -> float:
    return log_place(max(1.0, value), numbers, LEFT + TOKENS_PAD, RIGHT - TOKENS_PAD)


def _token_ticks(numbers: Sequence[float]) -> Iterator[tuple[str, float]]:
    """Each number and its place; powers of ten alone where there are many."""
    units = ((1e6, "M"), (1e3, "k"), (1, ""))
    for number in numbers:
        if len(numbers) <= MOST_TICKS or math.log10(number).is_integer():
            size, unit = next((size, unit) for size, unit in units if number >= size)
            yield f"{number / size:g}{unit}", _token_place(number, numbers)


def _names(spans: Sequence[tuple[str, float, float, float]]) -> Iterator[Note]:
    """Each name below or above what is drawn of its point, where no other name and no other point stands.

    Without such a place it stands above, over whatever is there.
    """
    taken: list[Box] = [(x - 3, top, x + 3, bottom) for _, x, top, bottom in spans]
    for full, x, top, bottom in spans:
        name = shorten(full, _LONGEST)
        width = LETTER * len(name)
        left = min(max(x - width / 2, LEFT + 2), SIZE - 2 - width)
        heights = [y for gap in range(0, SIZE, _LINE) for y in (bottom + 13 + gap, top - 5 - gap)]
        boxes = [(left, y - 10, left + width, y + 3) for y in heights]
        inside = [box for box in boxes if box[1] >= 0 and box[3] <= BASE]
        box = next((box for box in inside if is_free(box, taken)), boxes[1])
        taken.append(box)
        yield name, left + width / 2, box[3] - 3, "middle"
