"""plotly.js, which draws the interactive figures when a visitor asks for them.

The figures are plotly's own, made in Python, each beside its static form. A page adds what only it knows: its
colours, and which models were chosen.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import plotly
from plotly import graph_objects

PLOTLY: Final = f"plotly-{plotly.__version__}.min.js"
"""Name of the copy of plotly.js under `assets/`."""
MARKER: Final = 8
"""Pixels."""


def plain_text(name: str) -> str:
    """A model's name as plotly shows it as it is: in its texts `<a href=…>` is a link."""
    return name.replace("&", "&amp;").replace("<", "&lt;")


@cache
def plotly_script() -> bytes:
    """The content of plotly.js."""
    return Path(plotly.__file__).with_name("package_data").joinpath("plotly.min.js").read_bytes()


@cache
def plotly_styles() -> tuple[str, ...]:
    """Ids of the style sheets that plotly.js would write into the page unless elements with them are there.

    They are of its maps, which no page draws; the content policy of the site does not admit such a sheet.
    """
    guarded = re.findall(rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)', plotly_script())
    return tuple(style_id.decode() for style_id in guarded)


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
