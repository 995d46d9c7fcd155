"""The interactive figure of scores against costs."""

from typing import Any, Final

from plotly import graph_objects

MARKER: Final = 8
"""Pixels."""


def interactive_choice(title: str) -> dict[str, Any]:
    """Empty plotly traces and layout; the page fills in the chosen models.

    The first trace holds the models, each with its interval; the second those that are on the frontier by
    their scores, named; the third is the frontier as steps.

    Args:
        title: of the vertical axis.
    """
    models = graph_objects.Scatter(
        mode="markers",
        marker={"size": MARKER},
        error_y={"type": "data", "symmetric": False, "thickness": 1, "width": 0},
        showlegend=False,
    )
    frontier = graph_objects.Scatter(
        mode="markers+text",
        marker={"size": MARKER + 2},
        error_y={"type": "data", "symmetric": False, "thickness": 1.5, "width": 0},
        textposition="top center",
        showlegend=False,
        cliponaxis=False,
    )
    steps = graph_objects.Scatter(mode="lines", line={"shape": "hv"}, hoverinfo="skip", showlegend=False)
    layout = graph_objects.Layout(yaxis={"title": {"text": title}}, hovermode="closest")
    return {
        "data": [trace.to_plotly_json() for trace in (models, frontier, steps)],
        "layout": layout.to_plotly_json(),
    }


def interactive_choice_axis(title: str, *, logarithmic: bool) -> dict[str, Any]:
    """The horizontal axis of one kind of cost, as plotly's."""
    kind = "log" if logarithmic else "date"
    ticks = {"dtick": "D2"} if logarithmic else {}
    axis = graph_objects.layout.XAxis(title={"text": title}, type=kind, **ticks)
    return dict(axis.to_plotly_json())
