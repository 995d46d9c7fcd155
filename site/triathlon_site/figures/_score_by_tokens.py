"""Scores of one model's rows by the tokens that they write."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._plane import BASE, EDGES, LEFT, LETTER, RIGHT, SIZE, TOP, Box, Note, is_free, up
from triathlon_site.figures._template import draw, quarter_ticks
from triathlon_site.render.formats import path_data, shorten

_PAD: Final = 16
"""Between the ends of the axis and its first and last number."""
_MOST_TICKS: Final = 8
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
    """A line through the points in the order of their tokens, each with its interval; beside it, dashed, how
    far its score could rise with more tokens.

    The axis of tokens is logarithmic, since budgets are multiples of each other. That of scores begins at 0
    and ends above the highest value, at `y_maximum` at most.
    """
    numbers = _axis_numbers([point.tokens for point in points])
    y_end = min(y_maximum, _round_up(max(point.top for point in points)))
    placed, spans = [], []
    for point in sorted(points, key=lambda point: point.tokens):
        x = _place(point.tokens, numbers)
        score, low, high, top = (up(v, y_end) for v in (point.score, point.low, point.high, point.top))
        most = None if point.most is None else up(point.most, y_end)
        placed.append((point.name, x, score, low, high, most))
        spans.append((point.name, x, top, low))
    y_axis = {"y_title": y_title, "y_ticks": quarter_ticks(BASE, TOP, y_end)}
    line = path_data((x, y) for _, x, y, *_ in placed)
    marks = {"line": line, "points": placed, "names": list(_names(spans))}
    x_ticks = list(_tokens_ticks(numbers))
    return draw("score_by_tokens", title, SIZE, SIZE, edges=EDGES, x_ticks=x_ticks, **y_axis, **marks)


def _axis_numbers(values: Sequence[float]) -> list[float]:
    """1, 2 or 5 times a power of ten, from the first below all values to the first above."""
    low, high = max(1.0, min(values)), max(1.0, *values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1
    known = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    start = max(number for number in known if number <= low)
    end = min(number for number in known if number >= high and number > start)
    return [number for number in known if start <= number <= end]


def _place(value: float, numbers: Sequence[float]) -> float:
    """On a logarithmic axis with these numbers."""
    share = math.log(max(1.0, value) / numbers[0]) / math.log(numbers[-1] / numbers[0])
    return LEFT + _PAD + share * (RIGHT - LEFT - 2 * _PAD)


def _tokens_ticks(numbers: Sequence[float]) -> Iterator[tuple[str, float]]:
    """Each number and its place; powers of ten alone where there are many."""
    for number in numbers:
        if len(numbers) <= _MOST_TICKS or math.log10(number).is_integer():
            size, unit = next(
                (size, unit) for size, unit in ((1e6, "M"), (1e3, "k"), (1, "")) if number >= size
            )
            yield f"{number / size:g}{unit}", _place(number, numbers)


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


def _round_up(value: float) -> float:
    """The next number whose quarters are easy to read."""
    size = 10 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return next(step * size for step in (1, 2, 4, 6, 8, 10, 20) if step * size >= value)
