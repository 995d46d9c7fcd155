"""A radar chart: several dimensions of a few models, each axis from 0 to 100, or less where all are low."""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from markupsafe import Markup
from plotly import graph_objects

from triathlon_site.figures._degradation_curve import Series
from triathlon_site.figures._plotly import plain_text
from triathlon_site.figures._template import PALETTE, QUARTERS, draw
from triathlon_site.render.formats import path_data

WIDTH, HEIGHT, RADIUS = 620, 340, 120
FEWEST_AXES: Final = 3
"""Fewer span no area."""


def radar(title: str, axes: Sequence[str], series: Sequence[Series]) -> Markup:
    """One shape a model, muted ones in grey; nothing for too few axes."""
    if len(axes) < FEWEST_AXES or not any(value for one in series for value in one.values):
        return Markup("")
    end = _end_of_axes(value for one in series[:PALETTE] for value in one.values)
    shapes = [
        (one.name, "other" if one.muted else f"c{place}", radar_path([100 * v / end for v in one.values]))
        for place, one in enumerate(series[:PALETTE])
    ]
    return _draw(title, axes, shapes, end)


def _end_of_axes(values: Iterable[float]) -> float:
    """100, or 50, 25 or 10 where no value is above that: small shapes can be read."""
    most = max(values)
    return next(end for end in (10, 25, 50, 100) if most <= end or end == 100)


def radar_frame(title: str, axes: Sequence[str]) -> Markup:
    """The empty web, for scripts to add `radar_path`s to its group."""
    return _draw(title, axes, []) if len(axes) >= FEWEST_AXES else Markup("")


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


def interactive_radar(name: str, axes: Sequence[str], values: Sequence[float | None]) -> dict[str, Any]:
    """The shape of one model as a plotly trace: dimensions in per cent of their maximum; None is a gap."""
    theta, r = [*axes, *axes[:1]], [*values, *values[:1]]
    texts = [
        "" if value is None else f"{plain_text(axis)}: {value:.1f}"
        for axis, value in zip(theta, r, strict=True)
    ]
    trace = graph_objects.Scatterpolar(
        name=plain_text(name), theta=theta, r=r, fill="none", hovertext=texts, hoverinfo="text+name"
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


def _draw(title: str, axes: Sequence[str], shapes: Sequence[Any], end: float = 100) -> Markup:
    """The web with the end of its axes in per cent, the shapes, and the names of several shapes below."""
    count = len(axes)
    height = HEIGHT + 18 * (len(shapes) if len(shapes) > 1 else 0)
    rings = [[_at(i, share, count) for i in range(count)] for share in QUARTERS[1:]]
    spokes = [[_at(0, 0, 1), _at(i, 1, count)] for i in range(count)]
    names = [(name, *_at(place, 1.12, count)) for place, name in enumerate(axes)]
    top = (f"{end:g} %", WIDTH / 2 + 4, HEIGHT / 2 - RADIUS + 12)
    web = {"rings": rings, "spokes": spokes, "names": names, "top": top}
    return draw("radar", title, WIDTH, height, **web, shapes=shapes, base=HEIGHT)


def _at(position: int, share: float, axes: int) -> tuple[float, float]:
    angle = 2 * math.pi * position / axes - math.pi / 2
    return WIDTH / 2 + share * RADIUS * math.cos(angle), HEIGHT / 2 + share * RADIUS * math.sin(angle)
