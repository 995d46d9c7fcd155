"""Interactive figures: plotly's own, made in Python, and drawn by plotly.js when a visitor asks for them.

A page adds what only it knows: its colours, and which models were chosen.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import plotly
from plotly import graph_objects

PLOTLY: Final = f"plotly-{plotly.__version__}.min.js"
"""Name of the copy of plotly.js under `assets/`."""


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
    return tuple(found.decode() for found in guarded)


def interactive_curve(name: str, values: Sequence[float]) -> dict[str, Any]:
    """The degradation curve of one model as a plotly trace: share of tasks, in per cent, by loop."""
    loops = list(range(1, len(values) + 1))
    trace = graph_objects.Scatter(x=loops, y=list(values), name=name, mode="lines+markers")
    return dict(trace.to_plotly_json())


def interactive_curves_layout() -> dict[str, Any]:
    """The axes of the degradation curves."""
    layout = graph_objects.Layout(
        xaxis={"title": {"text": "loop"}, "dtick": 1},
        yaxis={"title": {"text": "still passing, %"}, "range": [0, 100]},
    )
    return dict(layout.to_plotly_json())


def interactive_radar(name: str, axes: Sequence[str], values: Sequence[float | None]) -> dict[str, Any]:
    """The shape of one model as a plotly trace: dimensions in per cent of their maximum; None is a gap."""
    closed = [*zip(axes, values, strict=True)]
    closed += closed[:1]
    trace = graph_objects.Scatterpolar(
        name=name, theta=[axis for axis, _ in closed], r=[value for _, value in closed], fill="none"
    )
    return dict(trace.to_plotly_json())


def interactive_radar_layout() -> dict[str, Any]:
    """The axes of the radar: the first upwards, the others clockwise."""
    layout = graph_objects.Layout(
        polar={
            "radialaxis": {"range": [0, 100]},
            "angularaxis": {"rotation": 90, "direction": "clockwise"},
            "bgcolor": "rgba(0,0,0,0)",
        }
    )
    return dict(layout.to_plotly_json())
