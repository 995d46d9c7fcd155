"""SVG elements as markup: escaped, without inline style, numbers rounded to what an eye sees.

The figures are drawn in Python, where their geometry is; `tag` is the one place there that writes markup.
"""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

Value = str | float | int | None
PALETTE: Final = 8
"""Classes c0…c7 of the style sheet; each also has a dash pattern or marker of its own."""


def number(value: float) -> str:
    """A length with at most one decimal: a tenth of a pixel is more than an eye sees."""
    text = f"{value + 0.0:.1f}"  # plus 0.0, so that there is no -0.0
    return text[:-2] if text.endswith(".0") else text


def tag(name: str, *children: Markup | str, **attributes: Value) -> Markup:
    """One element. `class_` gives class, `text_anchor` text-anchor; None leaves an attribute out."""
    written = "".join([_attribute(key, value) for key, value in attributes.items() if value is not None])
    inside = "".join([child if isinstance(child, Markup) else escape(child) for child in children])
    return Markup(f"<{name}{written}>{inside}</{name}>")


def _attribute(key: str, value: str | float | int) -> str:
    name = key.rstrip("_").replace("_", "-")
    text = number(value) if isinstance(value, float) else escape(value)
    return f' {name}="{text}"'


def svg(width: float, height: float, title: str, *children: Markup, class_: str = "figure") -> Markup:
    """A figure with an accessible name."""
    return tag(
        "svg",
        tag("title", title),
        *children,
        class_=class_,
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
    )


def path(points: Sequence[tuple[float, float]], *, closed: bool = False) -> str:
    """Path data through points."""
    steps = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f"M{steps}{'Z' if closed else ''}"


def spread_labels(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones, at least `gap` apart and inside the range, order kept."""
    order = sorted(range(len(wanted)), key=lambda index: (wanted[index], index))
    placed: list[float] = []
    for index in order:
        placed.append(max(wanted[index], placed[-1] + gap if placed else low))
    limit = high
    for position in range(len(placed) - 1, -1, -1):
        placed[position] = min(placed[position], limit)
        limit = placed[position] - gap
    result = [0.0] * len(wanted)
    for position, index in enumerate(order):
        result[index] = placed[position]
    return result
