"""The smallest figure: one score with its interval, on the scale of its column."""

from markupsafe import Markup

from triathlon_site.figures._svg import number

WIDTH = 72


def strip(low: float, value: float, high: float, maximum: float) -> Markup:
    """A line from low to high with a dot at the value; hidden from screen readers, who have the numbers."""
    scale = (WIDTH - 6) / maximum
    start, middle, end = (3 + scale * point for point in (low, value, high))
    return Markup(
        '<svg class="strip" width="{0}" height="10" aria-hidden="true"><path class="rail" d="M3 5H{1}"/>'
        '<path class="span" d="M{2} 5H{3}"/><circle cx="{4}" cy="5" r="3"/></svg>'
    ).format(WIDTH, WIDTH - 3, number(start), number(end), number(middle))
