"""Degradation curves and radars: as SVG, as paths that scripts add, and as traces for plotly.js.

plotly.js draws them when a visitor asks for that: a page adds its colours, and which models were chosen.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import plotly
from markupsafe import Markup

from triathlon_site.figures._base import NOTHING, PALETTE, QUARTERS, draw, quarter_ticks
from triathlon_site.render.formats import path_data

PLOTLY: Final = f"plotly-{plotly.__version__}.min.js"  # name of the copy of plotly.js under `assets/`
WIDTH, HEIGHT = 620, 300
LEFT, RIGHT, TOP, BASE = 34, WIDTH - 216, 14, HEIGHT - 34  # of curves, whose names stand at their ends
LABEL_GAP: Final = 15.0
WEB_WIDTH, WEB_HEIGHT, RADIUS = 620, 340, 120  # of radars
FEWEST_AXES: Final = 3  # of a radar: fewer span no area
CURVES_LAYOUT: Final = {
    "xaxis": {"dtick": 1, "title": {"text": "loop"}},
    "yaxis": {"range": [0, 100], "title": {"text": "still passing, %"}},
}
"""The axes of the degradation curves, for plotly."""
RADAR_LAYOUT: Final = {
    "polar": {
        "angularaxis": {"direction": "clockwise", "rotation": 90},
        "bgcolor": "rgba(0,0,0,0)",
        "radialaxis": {"range": [0, 100]},
    }
}
"""The axes of the radar, for plotly: the first upwards, the others clockwise."""


@dataclass(frozen=True, slots=True)
class Series:
    """One model. Muted ones are drawn thin and grey, and named when pointed at."""

    name: str
    values: tuple[float, ...]
    muted: bool = False


def curves(title: str, series: Sequence[Series], steps: int = 0) -> Markup:
    """Per cent over loops 1…n; nothing for a single loop, or where all are 0.

    Without series: the axes of so many `steps`, to whose group scripts add lines.
    """
    steps = max((len(one.values) for one in series), default=steps)
    if steps < 2 or (series and not any(value for one in series for value in one.values)):
        return NOTHING
    coloured = [(one.name, _points(one.values, steps)) for one in series if not one.muted][:PALETTE]
    ends = _spread([points[-1][1] for _, points in coloured])
    named = [
        (name, path_data(points), *points[-1], end)
        for (name, points), end in zip(coloured, ends, strict=True)
    ]
    muted = [(one.name, _curve_path(one.values, steps)) for one in series if one.muted]
    edges = {"left": LEFT, "right": RIGHT, "base": BASE}
    loops = [x for x, _ in _points([0.0] * steps, steps)]
    axes = {"edges": edges, "ticks": quarter_ticks(BASE, TOP), "loops": loops}
    return draw("curves", title, WIDTH, HEIGHT, **axes, named=named, muted=muted)


@lru_cache(maxsize=1024)
def _curve_path(values: tuple[float, ...], steps: int) -> str:
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


def radar(title: str, axes: Sequence[str], series: Sequence[Series] = ()) -> Markup:
    """One shape a model, muted ones in grey; nothing for too few axes, or where all are 0.

    Without series: the web, to whose group scripts add `radar_path`s.
    """
    count = len(axes)
    most = max((value for one in series for value in one.values), default=100)
    if count < FEWEST_AXES or not most:
        return NOTHING
    end = next(end for end in (10, 25, 50, 100) if most <= end or end == 100)  # small shapes can be read
    shapes = [
        (one.name, "other" if one.muted else f"c{place}", radar_path([100 * v / end for v in one.values]))
        for place, one in enumerate(series[:PALETTE])
    ]
    height = WEB_HEIGHT + 18 * (len(shapes) if len(shapes) > 1 else 0)
    rings = [[_at(i, share, count) for i in range(count)] for share in QUARTERS[1:]]
    spokes = [[_at(0, 0, 1), _at(i, 1, count)] for i in range(count)]
    # every second of many names stands further out, because they would cover each other
    outside = (1.12, 1.24 if count > 12 else 1.12)
    names = [(name, *_at(place, outside[place % 2], count)) for place, name in enumerate(axes)]
    top = (f"{end} %", WEB_WIDTH / 2 + 4, WEB_HEIGHT / 2 - RADIUS + 12)
    web = {"rings": rings, "spokes": spokes, "names": names, "top": top}
    return draw("radar", title, WEB_WIDTH, height, **web, shapes=shapes, base=WEB_HEIGHT)


def radar_path(values: Sequence[float | None]) -> str:
    """The shape of one model, in per cent of each axis; open where a value is missing."""
    points = [
        None if value is None else _at(i, max(0.0, value) / 100, len(values))
        for i, value in enumerate(values)
    ]
    if None not in points:
        return path_data([point for point in points if point], closed=True)
    start = points.index(None)
    runs = groupby(points[start:] + points[:start], bool)
    return "".join(path_data([point for point in run if point]) for known, run in runs if known)


def _at(position: int, share: float, axes: int) -> tuple[float, float]:
    angle = 2 * math.pi * position / axes - math.pi / 2
    x, y = WEB_WIDTH / 2, WEB_HEIGHT / 2
    return x + share * RADIUS * math.cos(angle), y + share * RADIUS * math.sin(angle)


def interactive_curve(name: str, values: Sequence[float]) -> dict[str, Any]:
    """The degradation curve of one model as a plotly trace: share of tasks, in per cent, by loop."""
    return {
        "hoverinfo": "text+name",
        "hovertext": [f"loop {loop}: {value:.1f}" for loop, value in enumerate(values, 1)],
        "mode": "lines+markers",
        "name": _plain_text(name),
        "x": list(range(1, len(values) + 1)),
        "y": [float(f"{value:.6g}") for value in values],
        "type": "scatter",
    }


def interactive_radar(name: str, axes: Sequence[str], values: Sequence[float | None]) -> dict[str, Any]:
    """The shape of one model as a plotly trace: dimensions in per cent of their maximum; None is a gap."""
    theta, r = [*axes, *axes[:1]], [*values, *values[:1]]
    return {
        "fill": "none",
        "hoverinfo": "text+name",
        "hovertext": [
            "" if value is None else f"{_plain_text(axis)}: {value:.1f}"
            for axis, value in zip(theta, r, strict=True)
        ],
        "name": _plain_text(name),
        "r": r,
        "theta": theta,
        "type": "scatterpolar",
    }


def _plain_text(name: str) -> str:
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
