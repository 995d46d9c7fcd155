"""SVG elements as markup: escaped, without inline style, numbers rounded to what an eye sees.

The figures are drawn in Python, where their geometry is; `tag` is the one place there that writes markup.
"""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

from triathlon_site.render.formats import px

Value = str | float | int | None
Points = Sequence[tuple[float, float]]
PALETTE: Final = 8
"""Classes c0…c7 of the style sheet; each also has a dash pattern or marker of its own."""
QUARTERS: Final = (0, 0.25, 0.5, 0.75, 1)
"""Of each axis, where it has a number."""


def tag(name: str, *children: Markup | str, **attributes: Value) -> Markup:
    """One element. `class_` gives class, `text_anchor` text-anchor; None leaves an attribute out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    inside = "".join(child if isinstance(child, Markup) else escape(child) for child in children)
    return Markup(f"<{name}{written}>{inside}</{name}>")


def _attribute(key: str, value: str | float | int) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f' {name}="{px(value) if isinstance(value, float) else escape(value)}"'


def svg(width: float, height: float, title: str, *children: Markup, class_: str = "figure") -> Markup:
    """A figure with an accessible name."""
    box = f"0 0 {px(width)} {px(height)}"
    inside = tag("title", title), *children
    return tag("svg", *inside, class_=class_, viewBox=box, width=width, height=height, role="img")


def tick(
    text: str, x: float, y: float, anchor: str | None = "middle", transform: str | None = None
) -> Markup:
    """A number or a title of an axis."""
    return tag("text", text, class_="tick", x=x, y=y, text_anchor=anchor, transform=transform)


def name_at(name: str, most: int, x: float, y: float, transform: str | None = None) -> Markup:
    """A name that ends here, cut to so many letters; whole when pointed at."""
    title = tag("title", name)
    return tag("text", title, shorten(name, most), x=x, y=y, text_anchor="end", transform=transform)


def line(points: Points, class_: str = "line", *, closed: bool = False) -> Markup:
    """A line through points."""
    return tag("path", class_=class_, d=path(points, closed=closed))


def horizontal(y: float, left: float, right: float) -> Markup:
    """A line of the grid."""
    return tag("path", class_="grid", d=f"M{px(left)} {px(y)}H{px(right)}")


def path(points: Points, *, closed: bool = False) -> str:
    """Path data through points."""
    return f"M{' '.join(f'{px(x)},{px(y)}' for x, y in points)}{'Z' if closed else ''}"


def shorten(name: str, most: int = 24) -> str:
    """Names are cut in figures only; the table beside has them whole."""
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"
