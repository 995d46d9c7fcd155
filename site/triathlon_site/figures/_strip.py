"""The smallest figure: one score with its interval, on the scale of its column."""

from markupsafe import Markup

from triathlon_site.figures._svg import number, tag

WIDTH = 72


def strip(low: float, value: float, high: float, maximum: float) -> Markup:
    """A line from low to high with a dot at the value; hidden from screen readers, who have the numbers."""
    scale = (WIDTH - 6) / maximum
    start, middle, end = (3 + scale * point for point in (low, value, high))
    return tag(
        "svg",
        tag("path", class_="rail", d=f"M3 5H{WIDTH - 3}"),
        tag("path", class_="span", d=f"M{number(start)} 5H{number(end)}"),
        tag("circle", cx=middle, cy=5, r=3),
        class_="strip",
        width=WIDTH,
        height=10,
        aria_hidden="true",
    )
