"""A radar chart: several dimensions of a few models, each axis from 0 to 100."""

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup
from plotly import graph_objects

from triathlon_site.figures._degradation_curve import Series, shorten
from triathlon_site.figures._svg import PALETTE, path, svg, tag

WIDTH, HEIGHT, RADIUS = 560, 340, 120


def radar(title: str, axes: Sequence[str], series: Sequence[Series]) -> Markup:
    """One shape a model, muted ones in grey; nothing for fewer than three axes, which span no area."""
    if len(axes) < 3 or not any(value for line in series for value in line.values):
        return Markup("")
    classes = [f"c{place}" if not line.muted else "other" for place, line in enumerate(series[:PALETTE])]
    lines = list(zip(series, classes, strict=False))
    shapes = [
        tag("path", class_=f"area {colour}", d=radar_path(line.values)) for line, colour in reversed(lines)
    ]
    legend = [_legend(line.name, colour, row) for row, (line, colour) in enumerate(lines)]
    legend = legend if len(series) > 1 else []
    height = HEIGHT + 18 * len(legend)
    return svg(WIDTH, height, title, _web(len(axes)), *shapes, _axis_names(tuple(axes)), *legend)


def radar_frame(title: str, axes: Sequence[str]) -> Markup:
    """The empty web, for scripts to add `radar_path`s to its group."""
    if len(axes) < 3:
        return Markup("")
    place = tag("g", data_series="radar")
    return svg(WIDTH, HEIGHT, title, _web(len(axes)), place, _axis_names(tuple(axes)))


def radar_path(values: Sequence[float | None]) -> str:
    """The shape of one model, in per cent of each axis; open where a value is missing."""
    points = [
        None if value is None else _at(i, max(0.0, value) / 100, len(values))
        for i, value in enumerate(values)
    ]
    if None not in points:
        return path([point for point in points if point], closed=True)
    start = points.index(None)
    runs: list[list[tuple[float, float]]] = [[]]
    for point in points[start:] + points[:start]:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return "".join(path(run) for run in runs if run)


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


def _web(axes: int) -> Markup:
    rings = [
        tag("path", class_="grid", d=path([_at(i, share, axes) for i in range(axes)], closed=True))
        for share in (0.25, 0.5, 0.75, 1.0)
    ]
    spokes = [tag("path", class_="grid", d=path([_at(0, 0, 1), _at(i, 1, axes)])) for i in range(axes)]
    return Markup("").join([*rings, *spokes])


def _axis_names(axes: tuple[str, ...]) -> Markup:
    return Markup("").join(_axis_name(name, position, len(axes)) for position, name in enumerate(axes))


def _at(position: int, share: float, axes: int) -> tuple[float, float]:
    angle = 2 * math.pi * position / axes - math.pi / 2
    return WIDTH / 2 + share * RADIUS * math.cos(angle), HEIGHT / 2 + share * RADIUS * math.sin(angle)


def _axis_name(name: str, position: int, axes: int) -> Markup:
    x, y = _at(position, 1.12, axes)
    anchor = "middle" if abs(x - WIDTH / 2) < 8 else "start" if x > WIDTH / 2 else "end"
    return tag("text", name, class_="tick", x=x, y=y + 4, text_anchor=anchor)


def _legend(name: str, colour: str, row: int) -> Markup:
    y = float(HEIGHT + 18 * row)
    return tag(
        "g",
        tag("path", class_="line", d=path([(WIDTH / 2 - 90, y), (WIDTH / 2 - 66, y)])),
        tag("text", shorten(name, 32), x=WIDTH / 2 - 58, y=y + 4),
        class_=colour,
    )
