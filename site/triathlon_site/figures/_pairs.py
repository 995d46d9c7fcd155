"""Every two of several columns against each other: what the figures of a column share is written once."""

from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Final

from markupsafe import Markup

from triathlon_site.figures._plane import (
    SIZE,
    across,
    dot_across,
    dot_up,
    frame,
    horizontal_axis,
    labels,
    up,
    vertical_axis,
)
from triathlon_site.figures._svg import svg

FARTHEST: Final = 3
"""Models that are named where there are too many to name all: those that the two columns place most apart."""


class Axis:
    """A column that is drawn along either axis of several figures."""

    def __init__(self, title: str, maximum: float, points: Mapping[str, tuple[str, float]]) -> None:
        """`points`: by model, its name and its value."""
        self.title = title
        self.horizontal, self.vertical = horizontal_axis(title, maximum), vertical_axis(title, maximum)
        order = sorted(points, key=lambda model: points[model][1])
        self.places = {model: place / len(order) for place, model in enumerate(order)}
        self.names = {model: name for model, (name, _) in points.items()}
        self.x = {model: across(value, maximum) for model, (_, value) in points.items()}
        self.y = {model: up(value, maximum) for model, (_, value) in points.items()}
        self.dots_across = {model: dot_across(x) for model, x in self.x.items()}
        self.dots_up = {model: dot_up(y, self.names[model]) for model, y in self.y.items()}


def pair_scatter(left: Axis, right: Axis, *, most_labels: int) -> Markup:
    """The models that both have, in the order of the left; all named if they are few."""
    both = [model for model in left.x if model in right.y]
    dots = "".join([left.dots_across[model] + right.dots_up[model] for model in both])
    told = both if len(both) <= most_labels else _farthest(left, right, both)
    named = [(left.names[m], left.x[m], right.y[m]) for m in told]
    title = f"{right.title} against {left.title}"
    return svg(SIZE, SIZE, title, *frame(left.horizontal, right.vertical), Markup(dots), *labels(named))


def _farthest(left: Axis, right: Axis, models: Sequence[str]) -> list[str]:
    """Those that two columns place most apart, as shares of their orders."""
    gaps = [abs(left.places[model] - right.places[model]) for model in models]
    return [models[place] for place in nlargest(FARTHEST, range(len(models)), key=gaps.__getitem__)]
