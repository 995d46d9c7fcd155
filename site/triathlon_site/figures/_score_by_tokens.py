"""Scores of one model's rows by the tokens that they write."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._plane import SIZE, across, dot, frame, horizontal_axis, labels, up, vertical_axis
from triathlon_site.figures._svg import path, svg, tag


@dataclass(frozen=True, slots=True)
class TokenPoint:
    """One row: an effort or a token budget."""

    name: str
    tokens: float
    """Output tokens a unit."""
    score: float
    low: float
    high: float
    most: float | None = None
    """What the score could be at most if no reply had been cut; None where none was."""


def score_by_tokens(title: str, points: Sequence[TokenPoint], y_title: str, y_maximum: float) -> Markup:
    """A line through the points in the order of their tokens, each with its interval; above a point, dashed,
    how far its score could rise with more tokens.
    """
    x_maximum = _round_up(max(point.tokens for point in points))
    ordered = sorted(points, key=lambda point: point.tokens)
    placed = [(point, across(point.tokens, x_maximum), up(point.score, y_maximum)) for point in ordered]
    marks = [tag("path", class_="line", d=path([(x, y) for _, x, y in placed]))]
    for point, x, y in placed:
        ends = up(point.low, y_maximum), up(point.high, y_maximum)
        marks.append(tag("path", class_="line", d=path([(x, ends[0]), (x, ends[1])])))
        if point.most is not None:
            marks.append(tag("path", class_="rule", d=path([(x, y), (x, up(point.most, y_maximum))])))
        marks.append(dot(point.name, x, y))
    marks = [tag("g", *marks, class_="c0"), *labels([(point.name, x, y) for point, x, y in placed])]
    axes = frame(horizontal_axis("output tokens a unit", x_maximum), vertical_axis(y_title, y_maximum))
    return svg(SIZE, SIZE, title, *axes, *marks)


def _round_up(value: float) -> float:
    """The next number whose quarters are easy to read."""
    size = 10 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return next(step * size for step in (1, 2, 4, 6, 8, 10, 20) if step * size >= value)
