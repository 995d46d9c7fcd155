"""Degradation curves: as SVG, as paths that scripts add, and as traces for plotly.js.

plotly.js draws them when a visitor asks for that: a page adds its colours, and which models were chosen.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import plotly
from markupsafe import Markup

from triathlon_site.figures._base import NOTHING, PALETTE, draw, quarter_ticks
from triathlon_site.render.formats import path_data

PLOTLY: Final = f"plotly-{plotly.__version__}.min.js"  # name of the copy of plotly.js under `assets/`
WIDTH, HEIGHT = 620, 300
LEFT, RIGHT, TOP, BASE = 34, WIDTH - 216, 14, HEIGHT - 34  # of curves, whose names stand at their ends
LABEL_GAP: Final = 15.0
CURVES_LAYOUT: Final = {
    "xaxis": {"dtick": 1, "title": {"text": "loop"}},
    "yaxis": {"range": [0, 100], "title": {"text": "still passing, %"}},
}
"""The axes of the degradation curves, for plotly."""


@dataclass(frozen=True, slots=True)
class Series:
    """One model. Muted ones are drawn thin and grey, and named when pointed at."""

    name: str
    values: tuple[float, ...]
    muted: bool = False


def curves(title: str, series: Sequence[Series]) -> Markup:
    """Per cent over loops 1…n; nothing where all are 0."""
    steps = max((len(one.values) for one in series), default=0)
    if not any(value for one in series for value in one.values):
        return NOTHING
    coloured = [(one.name, _points(one.values, steps)) for one in series if not one.muted][:PALETTE]
    ends = _spread([points[-1][1] for _, points in coloured])
    named = [
        (name, path_data(points), *points[-1], end)
        for (name, points), end in zip(coloured, ends, strict=True)
    ]
    muted = [(one.name, curve_path(one.values, steps)) for one in series if one.muted]
    return curves_frame(title, steps, named, muted)


def curves_frame(title: str, steps: int, named: Sequence[Any] = (), muted: Sequence[Any] = ()) -> Markup:
    """The axes, empty for scripts to add `curve_path`s to their group; nothing for a single step."""
    if steps < 2:
        return NOTHING
    edges = {"left": LEFT, "right": RIGHT, "base": BASE}
    loops = [x for x, _ in _points([0.0] * steps, steps)]
    axes = {"edges": edges, "ticks": quarter_ticks(BASE, TOP), "loops": loops}
    return draw("curves", title, WIDTH, HEIGHT, **axes, named=named, muted=muted)


@lru_cache(maxsize=1024)
def curve_path(values: tuple[float, ...], steps: int) -> str:
    """The line of one model on these axes; kept, because it is in the figure of every model beside it."""
    return path_data(_points(values, steps))


def _points(values: Sequence[float], steps: int) -> list[tuple[float, float]]:
    x_scale, y_scale = (RIGHT - LEFT) / max(1, steps - 1), (BASE - TOP) / 100
    return [(LEFT + step * x_scale, BASE - value * y_scale) for step, value in enumerate(values)]


def _spread(wanted: Sequence[float]) -> list[float]:
    """Heights of names near the wanted ones, at least LABEL_GAP apart and inside the plot, order kept."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed = [0.0] * len(wanted)
    lowest: float = TOP
    for index in order:
        placed[index] = max(wanted[index], lowest)
        lowest = placed[index] + LABEL_GAP
    highest: float = BASE
    for index in reversed(order):
        placed[index] = min(placed[index], highest)
        highest = placed[index] - LABEL_GAP
    return placed


def interactive_curve(name: str, values: Sequence[float]) -> dict[str, Any]:
    """The degradation curve of one model as a plotly trace: share of tasks, in per cent, by loop."""
    return {
        "hoverinfo": "text+name",
        "hovertext": [f"loop {loop}: {value:.1f}" for loop, value in enumerate(values, 1)],
        "mode": "lines+markers",
        # as it is: in plotly's texts `<a href=…>` is a link
        "name": name.replace("&", "&amp;").replace("<", "&lt;"),
        "x": list(range(1, len(values) + 1)),
        "y": list(values),
        "type": "scatter",
    }


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
