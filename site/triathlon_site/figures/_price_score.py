"""Prices against scores: what more money buys."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._plane import labels
from triathlon_site.figures._template import draw, round_ticks
from triathlon_site.render.formats import shorten

WIDTH: Final = 440
HEIGHT: Final = 206
LEFT: Final = 34
RIGHT: Final = WIDTH - 14
LEGEND: Final = 17
"""Names may stand below the legend, above the plot."""
TOP: Final = 24
BASE: Final = HEIGHT - 36
PAD: Final = 14
"""Between the ends of an axis and the outermost points."""
NAMED: Final = 9
"""Names that are tried: first the models that are the best at their price, then the best."""
LOWEST_SHARE: Final = 0.75
"""Scores below this share of the best are counted and not drawn: they would press all others together."""
_MOST_TICKS: Final = 8


@dataclass(frozen=True, slots=True)
class PricePoint:
    """One model."""

    name: str
    link: str
    """Its page, from the site's root; empty where it has none."""
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
        points: at least one; a model without a price above 0 is left out.
        y_title: of the scores.
        band: scores from here on cannot be told from the best.
        legend: names of the colours, from the first.
    """
    priced = [point for point in points if point.price > 0]
    if not priced:
        return Markup("")
    best = max(point.score for point in priced)
    points = [point for point in priced if point.score >= LOWEST_SHARE * best]
    low = min(point.score for point in points)
    prices = _price_ticks([point.price for point in points])
    scores = round_ticks(low, best, 5)
    placed = [(point, _across(point.price, prices), _up(point.score, scores)) for point in points]
    named = sorted(placed, key=lambda one: (not _is_frontier(one[0], points), -one[0].score))[:NAMED]
    edges = {"left": LEFT, "right": RIGHT, "top": TOP, "base": BASE, "size": HEIGHT}
    starts = accumulate((22 + 6.2 * len(name) for name in legend), initial=LEFT)
    parts = {
        "points": placed,
        "names": list(
            labels(
                [(point.name, x, y) for point, x, y in named],
                taken=[(x, y) for _, x, y in placed],
                bounds=(LEFT, LEGEND, WIDTH, BASE + 4),
            )
        ),
        "left_out": len(priced) - len(points),
        "links": {name: point.link for point in points for name in (shorten(point.name), point.name)},
        "band": None if band is None else _up(band, scores),
        "x_ticks": [(f"{price:g}", _across(price, prices)) for price in prices],
        "y_ticks": [(f"{score:g}", _up(score, scores)) for score in scores],
        "legend": [(name, place, x) for place, (name, x) in enumerate(zip(legend, starts, strict=False))],
    }
    return draw("price_score", title, WIDTH, HEIGHT, edges=edges, y_title=y_title, **parts)


def _is_frontier(point: PricePoint, points: Sequence[PricePoint]) -> bool:
    """Whether no other is as cheap and as good, of those that can be used."""
    return not point.gone and not any(
        other.price <= point.price and other.score > point.score and not other.gone for other in points
    )


def _price_ticks(prices: Sequence[float]) -> list[float]:
    """1, 2 or 5 times a power of ten around all prices; powers of ten alone where these are many."""
    first, last = math.floor(math.log10(min(prices))), math.ceil(math.log10(max(prices)))
    known = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    start = max(number for number in known if number <= min(prices))
    end = min(number for number in known if number >= max(prices) and number > start)
    ticks = [number for number in known if start <= number <= end]
    if len(ticks) <= _MOST_TICKS:
        return ticks
    return [10.0**power for power in range(first, last + 1)]


def _across(price: float, ticks: Sequence[float]) -> float:
    share = math.log(price / ticks[0]) / math.log(ticks[-1] / ticks[0])
    return LEFT + PAD + share * (RIGHT - LEFT - 2 * PAD)


def _up(score: float, ticks: Sequence[float]) -> float:
    return BASE - (score - ticks[0]) / (ticks[-1] - ticks[0]) * (BASE - TOP)
