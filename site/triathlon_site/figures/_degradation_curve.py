"""Degradation curves: lines over loops, named at their ends instead of in a legend.

`templates/assets/curves.js` draws a grey line in colour where a visitor asks for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from plotly import graph_objects

from triathlon_site.figures._svg import PALETTE, path, spread_labels, svg, tag

LEFT, RIGHT, TOP, BOTTOM = 34, 168, 14, 34
WIDTH, HEIGHT = 560, 300
LABEL_GAP = 15.0
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
    steps = max((len(line.values) for line in series), default=0)
    if steps < 2 or not any(value for line in series for value in line.values):
        return Markup("")

    def place(line: Series) -> list[tuple[float, float]]:
        return _points(line.values, steps)

    named = [line for line in series if not line.muted][:PALETTE]
    muted = [
        tag("path", tag("title", line.name), class_="line muted", d=path(place(line)))
        for line in series
        if line.muted
    ]
    ends = spread_labels([place(line)[-1][1] for line in named], LABEL_GAP, TOP, HEIGHT - BOTTOM)
    marks = [_named(line, place(line), end, c) for c, (line, end) in enumerate(zip(named, ends, strict=True))]
    kind = "figure curves" if muted else "figure"
    return svg(WIDTH, HEIGHT, title, _axes(steps), *muted, *marks, class_=kind)


def curves_frame(title: str, steps: int) -> Markup:
    """Empty axes, for scripts to add `curve_path`s to its group."""
    return svg(WIDTH, HEIGHT, title, _axes(steps), tag("g", data_series="curve"))


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
    x_scale, y_scale = (WIDTH - LEFT - RIGHT) / (steps - 1), (HEIGHT - TOP - BOTTOM) / 100
    return [(LEFT + step * x_scale, HEIGHT - BOTTOM - value * y_scale) for step, value in enumerate(values)]


def _named(line: Series, points: Sequence[tuple[float, float]], label: float, colour: int) -> Markup:
    x, y = points[-1]
    return tag(
        "g",
        tag("path", class_="line", d=path(points)),
        tag("path", class_="leader", d=path([(x + 3, y), (x + 12, label)])),
        tag("circle", cx=x, cy=y, r=2.5),
        tag("text", shorten(line.name, ROOM), x=x + 15, y=label + 4),
        class_=f"c{colour}",
    )


def _axes(steps: int) -> Markup:
    right, base = WIDTH - RIGHT, HEIGHT - BOTTOM
    x_scale, y_scale = (right - LEFT) / (steps - 1), (base - TOP) / 100
    parts = []
    for value in (0, 25, 50, 75, 100):
        y = base - value * y_scale
        parts.append(tag("path", class_="grid", d=f"M{LEFT} {y:.1f}H{right}"))
        parts.append(tag("text", str(value), class_="tick", x=LEFT - 6, y=y + 4, text_anchor="end"))
    for step in range(steps):
        x = LEFT + step * x_scale
        parts.append(tag("text", str(step + 1), class_="tick", x=x, y=base + 16, text_anchor="middle"))
    parts.append(tag("text", "loop", class_="tick", x=(LEFT + right) / 2, y=HEIGHT - 2, text_anchor="middle"))
    return Markup("").join(parts)


def shorten(name: str, most: int = 24) -> str:
    """Names are cut in figures only; the table beside has them whole."""
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"
