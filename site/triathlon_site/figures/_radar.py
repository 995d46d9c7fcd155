"""A radar chart: several dimensions of a few models, each axis from 0 to 100."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup
from plotly import graph_objects

from triathlon_site.figures._degradation_curve import Series
from triathlon_site.figures._svg import PALETTE, QUARTERS, line, path, shorten, svg, tag, tick

WIDTH, HEIGHT, RADIUS = 560, 340, 120


def radar(title: str, axes: Sequence[str], series: Sequence[Series]) -> Markup:
    """One shape a model, muted ones in grey; nothing for fewer than three axes, which span no area."""
    if len(axes) < 3 or not any(value for one in series for value in one.values):
        return Markup("")
    shown = [(one, "other" if one.muted else f"c{place}") for place, one in enumerate(series[:PALETTE])]
    shapes = [tag("path", class_=f"area {colour}", d=radar_path(one.values)) for one, colour in shown[::-1]]
    legend = []
    for row, (one, colour) in enumerate(shown if len(series) > 1 else ()):
        y = float(HEIGHT + 18 * row)
        stroke = line([(WIDTH / 2 - 90, y), (WIDTH / 2 - 66, y)])
        name = tag("text", shorten(one.name, 32), x=WIDTH / 2 - 58, y=y + 4)
        legend.append(tag("g", stroke, name, class_=colour))
    return svg(WIDTH, HEIGHT + 18 * len(legend), title, *_web(len(axes)), *shapes, *_names(axes), *legend)


def radar_frame(title: str, axes: Sequence[str]) -> Markup:
    """The empty web, for scripts to add `radar_path`s to its group."""
    if len(axes) < 3:
        return Markup("")
    return svg(WIDTH, HEIGHT, title, *_web(len(axes)), tag("g", data_series="radar"), *_names(axes))


def radar_path(values: Sequence[float | None]) -> str:
    """The shape of one model, in per cent of each axis; open where a value is missing."""
    points = [
        None if value is None else _at(i, max(0.0, value) / 100, len(values))
        for i, value in enumerate(values)
    ]
    if None not in points:
        return path([point for point in points if point], closed=True)
    start = points.index(None)
    runs = groupby(points[start:] + points[:start], bool)
    return "".join(path([point for point in run if point]) for known, run in runs if known)


def interactive_radar(name: str, axes: Sequence[str], values: Sequence[float | None]) -> dict[str, Any]:
    """The shape of one model as a plotly trace: dimensions in per cent of their maximum; None is a gap."""
    theta, r = [*axes, *axes[:1]], [*values, *values[:1]]
    return dict(graph_objects.Scatterpolar(name=name, theta=theta, r=r, fill="none").to_plotly_json())


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


def _web(axes: int) -> list[Markup]:
    rings = [[_at(i, share, axes) for i in range(axes)] for share in QUARTERS[1:]]
    spokes = [[_at(0, 0, 1), _at(i, 1, axes)] for i in range(axes)]
    return [*(line(ring, "grid", closed=True) for ring in rings), *(line(spoke, "grid") for spoke in spokes)]


def _names(axes: Sequence[str]) -> list[Markup]:
    names = []
    for position, name in enumerate(axes):
        x, y = _at(position, 1.12, len(axes))
        anchor = "middle" if abs(x - WIDTH / 2) < 8 else "start" if x > WIDTH / 2 else "end"
        names.append(tick(name, x, y + 4, anchor))
    return names


def _at(position: int, share: float, axes: int) -> tuple[float, float]:
    angle = 2 * math.pi * position / axes - math.pi / 2
    return WIDTH / 2 + share * RADIUS * math.cos(angle), HEIGHT / 2 + share * RADIUS * math.sin(angle)
