"""Two columns against each other: the scatter of the models that have both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any, Final

from markupsafe import Markup
from plotly import graph_objects

from triathlon_site.figures._scatter import Point, scatter

FARTHEST: Final = 3
"""Models that are named where there are too many to name all: those ranked most differently."""


@dataclass(frozen=True)
class Axis:
    """A column that is drawn along either axis of several figures."""

    title: str
    maximum: float
    points: Mapping[str, tuple[str, float]]
    """By model, its name and its value."""

    @property
    def places(self) -> dict[str, float]:
        """By model, its place in the order of the values, from 0 to 1."""
        order = sorted(self.points, key=lambda model: self.points[model][1])
        return {model: place / len(order) for place, model in enumerate(order)}


def pair_scatter(left: Axis, right: Axis, *, most_labels: int) -> Markup:
    """The models that both columns have; all named if they are at most `most_labels`."""
    both = [model for model in left.points if model in right.points]
    labelled = both if len(both) <= most_labels else _farthest(left, right, both)
    order = [*labelled, *(model for model in both if model not in labelled)]
    points = [
        Point(left.points[m][0], left.points[m][1], right.points[m][1], label=m in labelled) for m in order
    ]
    return scatter(
        f"{right.title} against {left.title}",
        points,
        x_title=left.title,
        y_title=right.title,
        x_maximum=left.maximum,
        y_maximum=right.maximum,
    )


def interactive_pair_scatter() -> dict[str, Any]:
    """The scatter of two columns as plotly's traces and layout, without values: the page fills them in."""
    points = graph_objects.Scatter(
        mode="markers",
        marker={"size": 8},
        hoverinfo="text+x+y",
        showlegend=False,
    )
    layout = graph_objects.Layout(
        xaxis={"rangemode": "tozero"}, yaxis={"rangemode": "tozero"}, hovermode="closest"
    )
    return {"data": [points.to_plotly_json()], "layout": layout.to_plotly_json()}


def _farthest(left: Axis, right: Axis, models: Sequence[str]) -> list[str]:
    """The models whose places in the two orders differ the most."""
    x, y = left.places, right.places
    gaps = [abs(x[model] - y[model]) for model in models]
    return [models[place] for place in nlargest(FARTHEST, range(len(models)), key=gaps.__getitem__)]
