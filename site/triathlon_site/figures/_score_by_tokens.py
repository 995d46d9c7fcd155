"""Scores of one model's rows by the tokens that they write."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._degradation_curve import shorten
from triathlon_site.figures._plane import (
    BASE,
    LEFT,
    RIGHT,
    SIZE,
    TOP,
    Box,
    dot,
    overlap,
    tick,
    up,
    vertical_axis,
)
from triathlon_site.figures._svg import path, svg, tag

_PAD: Final = 16
"""Between the ends of the axis and its first and last number."""
_MOST_TICKS: Final = 8
_LETTER: Final = 6.1
"""Width of a letter of a name."""
_LINE: Final = 14
"""From one line of names to the next."""
_LONGEST: Final = 30
"""Letters of a name: rows of one model often differ in the last word alone."""


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

    @property
    def top(self) -> float:
        """The highest value that is drawn for this point."""
        return max(self.high, self.most or 0.0)


def score_by_tokens(title: str, points: Sequence[TokenPoint], y_title: str, y_maximum: float) -> Markup:
    """A line through the points in the order of their tokens, each with its interval; above a point, dashed,
    how far its score could rise with more tokens.

    The axis of tokens is logarithmic, since budgets are multiples of each other. That of scores begins at 0
    and ends above the highest value, at `y_maximum` at most.
    """
    axis = _TokenAxis.of([point.tokens for point in points])
    y_end = min(y_maximum, _round_up(max(point.top for point in points)))
    ordered = sorted(points, key=lambda point: point.tokens)
    placed = [(point, axis.place(point.tokens), up(point.score, y_end)) for point in ordered]
    marks = [tag("path", class_="line", d=path([(x, y) for _, x, y in placed]))]
    for point, x, y in placed:
        ends = up(point.low, y_end), up(point.high, y_end)
        if point.most is not None:
            marks.append(tag("path", class_="rule", d=path([(x, y), (x, up(point.most, y_end))])))
        marks.append(tag("path", class_="line", d=path([(x, ends[0]), (x, ends[1])])))
        marks.append(dot(point.name, x, y))
    spans = [(point.name, x, up(point.top, y_end), up(point.low, y_end)) for point, x, _ in placed]
    marks = [tag("g", *marks, class_="c0"), *_names(spans)]
    return svg(SIZE, SIZE, title, *axis.drawn(), *_scores_axis(y_title, y_end), *marks)


@dataclass(frozen=True, slots=True)
class _TokenAxis:
    """A logarithmic axis."""

    numbers: tuple[float, ...]
    """1, 2 or 5 times a power of ten, from the first below all values to the first above."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "_TokenAxis":
        low, high = max(1.0, min(values)), max(1.0, *values)
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1
        known = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
        start = max(number for number in known if number <= low)
        end = min(number for number in known if number >= high and number > start)
        return cls(tuple(number for number in known if start <= number <= end))

    def place(self, value: float) -> float:
        share = math.log(max(1.0, value) / self.numbers[0]) / math.log(self.numbers[-1] / self.numbers[0])
        return LEFT + _PAD + share * (RIGHT - LEFT - 2 * _PAD)

    def drawn(self) -> Iterator[Markup]:
        """A line and a number at each; at powers of ten alone where there are many."""
        few = len(self.numbers) <= _MOST_TICKS
        for number in self.numbers:
            if few or math.log10(number).is_integer():
                x = self.place(number)
                yield tag("path", class_="grid", d=f"M{x:.1f} {TOP}V{BASE}")
                yield tick(_tokens_text(number), x, BASE + 16)
        yield tick("output tokens a unit (logarithmic)", (LEFT + RIGHT) / 2, SIZE - 8)


def _tokens_text(number: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def _scores_axis(title: str, end: float) -> Iterator[Markup]:
    for share in (0, 0.25, 0.5, 0.75, 1):
        yield tag("path", class_="grid", d=f"M{LEFT} {up(share, 1):.1f}H{RIGHT}")
    yield from vertical_axis(title, end)


def _names(spans: Sequence[tuple[str, float, float, float]]) -> Iterator[Markup]:
    """Each name below or above what is drawn of its point, where no other name and no other point stands.

    Without such a place it stands above, over whatever is there.
    """
    taken: list[Box] = [(x - 3, top, x + 3, bottom) for _, x, top, bottom in spans]
    for full, x, top, bottom in spans:
        name = shorten(full, _LONGEST)
        width = _LETTER * len(name)
        left = min(max(x - width / 2, LEFT + 2), SIZE - 2 - width)
        heights = [y for gap in range(0, SIZE, _LINE) for y in (bottom + 13 + gap, top - 5 - gap)]
        boxes = [(left, y - 10, left + width, y + 3) for y in heights]
        inside = [box for box in boxes if box[1] >= 0 and box[3] <= BASE]
        box = next((box for box in inside if not any(overlap(box, label) for label in taken)), boxes[1])
        taken.append(box)
        yield tag("text", name, class_="note", x=left + width / 2, y=box[3] - 3, text_anchor="middle")


def _round_up(value: float) -> float:
    """The next number whose quarters are easy to read."""
    size = 10 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return next(step * size for step in (1, 2, 4, 6, 8, 10, 20) if step * size >= value)
