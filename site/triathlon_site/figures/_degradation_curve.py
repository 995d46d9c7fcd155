"""Degradation curves: lines over loops, named at their ends instead of in a legend.

`templates/assets/curves.js` draws a grey line in colour where a visitor asks for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from plotly import graph_objects

from triathlon_site.figures._svg import (
    PALETTE,
    QUARTERS,
    Points,
    horizontal,
    line,
    path,
    shorten,
    svg,
    tag,
    tick,
)

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BASE = 34, WIDTH - 168, 14, HEIGHT - 34
LABEL_GAP: Final = 15.0
ROOM: Final = 20
"""Characters of a name beside a line: more would be cut at the edge."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line. Muted ones are drawn thin and grey, and named when pointed at."""

    name: str
    values: tuple[float, ...]
    muted: bool = False


def curves(title: str, series: Sequence[Series]) -> Markup:
    """Per cent over loops 1…n; nothing where all are 0."""
    steps = max((len(one.values) for one in series), default=0)
    if steps < 2 or not any(value for one in series for value in one.values):
        return Markup("")
    named = [(one.name, _points(one.values, steps)) for one in series if not one.muted][:PALETTE]
    muted = [
        tag("path", tag("title", one.name), class_="line muted", d=curve_path(one.values, steps))
        for one in series
        if one.muted
    ]
    ends = spread_labels([points[-1][1] for _, points in named], LABEL_GAP, TOP, BASE)
    marks = [_named(*one, end, c) for c, (one, end) in enumerate(zip(named, ends, strict=True))]
    kind = "figure curves" if muted else "figure"
    return svg(WIDTH, HEIGHT, title, *_axes(steps), *muted, *marks, class_=kind)


def curves_frame(title: str, steps: int) -> Markup:
    """Empty axes, for scripts to add `curve_path`s to its group; nothing for a single step."""
    if steps < 2:
        return Markup("")
    return svg(WIDTH, HEIGHT, title, *_axes(steps), tag("g", data_series="curve"))


def curve_path(values: Sequence[float], steps: int) -> str:
    """The line of one model on these axes."""
    return path(_points(values, steps))


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


def _points(values: Sequence[float], steps: int) -> list[tuple[float, float]]:
    x_scale, y_scale = (RIGHT - LEFT) / (steps - 1), (BASE - TOP) / 100
    return [(LEFT + step * x_scale, BASE - value * y_scale) for step, value in enumerate(values)]


def _named(name: str, points: Points, label: float, colour: int) -> Markup:
    x, y = points[-1]
    leader = line([(x + 3, y), (x + 12, label)], "leader")
    text = tag("text", shorten(name, ROOM), x=x + 15, y=label + 4)
    return tag("g", line(points), leader, tag("circle", cx=x, cy=y, r=2.5), text, class_=f"c{colour}")


def _axes(steps: int) -> list[Markup]:
    parts = []
    for share in QUARTERS:
        y = BASE - share * (BASE - TOP)
        parts += [horizontal(y, LEFT, RIGHT), tick(f"{100 * share:g}", LEFT - 6, y + 4, "end")]
    for step, (x, _) in enumerate(_points([0.0] * steps, steps), 1):
        parts.append(tick(str(step), x, BASE + 16))
    return [*parts, tick("loop", (LEFT + RIGHT) / 2, HEIGHT - 2)]


def spread_labels(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones, at least `gap` apart and inside the range, order kept."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed = [0.0] * len(wanted)
    lowest = low
    for index in order:
        placed[index] = max(wanted[index], lowest)
        lowest = placed[index] + gap
    for index in reversed(order):
        placed[index] = min(placed[index], high)
        high = placed[index] - gap
    return placed
