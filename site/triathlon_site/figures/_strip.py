"""The smallest figure: one score with its interval, on the scale of its column."""

from markupsafe import Markup

from triathlon_site.figures._svg import number

WIDTH = 72


def strip(low: float, value: float, high: float, maximum: float) -> Markup:
    """A line from low to high with a dot at the value; hidden from screen readers, who have the numbers."""
    scale = (WIDTH - 6) / maximum
    start, middle, end = (3 + scale * point for point in (low, value, high))
    return Markup(
        f'<svg class="strip" width="{WIDTH}" height="10" aria-hidden="true">'
        f'<path class="rail" d="M3 5H{WIDTH - 3}"/><path class="span" d="M{number(start)} 5H{number(end)}"/>'
        f'<circle cx="{number(middle)}" cy="5" r="3"/></svg>'
    )  # nothing but numbers: there is nothing to escape
