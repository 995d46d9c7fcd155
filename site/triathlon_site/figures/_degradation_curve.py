"""Degradation curves: lines over loops, named at their ends instead of in a legend.

`templates/assets/curves.js` draws a grey line in colour where a visitor asks for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from plotly import graph_objects

from triathlon_site.figures._plotly import plain_text
from triathlon_site.figures._template import PALETTE, draw, quarter_ticks
from triathlon_site.render.formats import path_data

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BASE = 34, WIDTH - 168, 14, HEIGHT - 34
EDGES: Final = {"left": LEFT, "right": RIGHT, "base": BASE}
LABEL_GAP: Final = 15.0


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
    coloured = [(one.name, _points(one.values, steps)) for one in series if not one.muted][:PALETTE]
    ends = spread_labels([points[-1][1] for _, points in coloured], LABEL_GAP, TOP, BASE)
    named = [
        (name, path_data(points), *points[-1], end)
        for (name, points), end in zip(coloured, ends, strict=True)
    ]
    muted = [(one.name, curve_path(one.values, steps)) for one in series if one.muted]
    return _draw(title, steps, named, muted)


def curves_frame(title: str, steps: int) -> Markup:
    """Empty axes, for scripts to add `curve_path`s to its group; nothing for a single step."""
    if steps < 2:
        return Markup("")
    return _draw(title, steps)


def curve_path(values: Sequence[float], steps: int) -> str:
    """The line of one model on these axes."""
    return path_data(_points(values, steps))


def interactive_curve(name: str, values: Sequence[float]) -> dict[str, Any]:
    """The degradation curve of one model as a plotly trace: share of tasks, in per cent, by loop."""
    loops = list(range(1, len(values) + 1))
    texts = [f"loop {loop}: {value:.1f}" for loop, value in zip(loops, values, strict=True)]
    trace = graph_objects.Scatter(
        x=loops,
        y=list(values),
        name=plain_text(name),
        mode="lines+markers",
        hovertext=texts,
        hoverinfo="text+name",
    )
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


def _draw(title: str, steps: int, named: Sequence[Any] = (), muted: Sequence[Any] = ()) -> Markup:
    loops = [x for x, _ in _points([0.0] * steps, steps)]
    axes = {"edges": EDGES, "ticks": quarter_ticks(BASE, TOP), "loops": loops}
    return draw("curves", title, WIDTH, HEIGHT, **axes, named=named, muted=muted)


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
