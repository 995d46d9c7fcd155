"""Two columns against each other: the scatter of the models that have both."""

from collections.abc import Mapping
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

    def places(self) -> dict[str, float]:
        """By model, its place in the order of the values, from 0 to 1."""
        order = sorted(self.points, key=lambda model: self.points[model][1])
        return {model: place / len(order) for place, model in enumerate(order)}


def pair_scatter(left: Axis, right: Axis, *, most_labels: int) -> Markup:
    """The models that both columns have; all named if they are at most `most_labels`, first those named."""
    both = labelled = [model for model in left.points if model in right.points]
    if len(both) > most_labels:
        x, y = left.places(), right.places()
        labelled = nlargest(FARTHEST, both, key=lambda model: abs(x[model] - y[model]))
    points = [
        Point(*left.points[model], right.points[model][1], label=model in labelled)
        for model in dict.fromkeys((*labelled, *both))
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
    points = graph_objects.Scatter(mode="markers", marker={"size": 8}, hoverinfo="text", showlegend=False)
    axis = {"rangemode": "tozero"}
    layout = graph_objects.Layout(xaxis=axis, yaxis=axis, hovermode="closest")
    return {"data": [points.to_plotly_json()], "layout": layout.to_plotly_json()}
