"""What all figures share: their templates, the palette, where axes have numbers.

Modules of this folder compute places, in pixels; `templates/figures/` has the markup.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup

from triathlon_site.render import installed_environment

Points = Sequence[tuple[float, float]]
PALETTE: Final = 8
"""Classes c0…c7 of the style sheet; each also has a dash pattern or marker of its own."""
QUARTERS: Final = (0, 0.25, 0.5, 0.75, 1)
"""Of each axis, where it has a number."""


def draw(template: str, title: str, width: float, height: float, **parts: Any) -> Markup:
    """A figure: its template, filled with these parts; the title is its accessible name."""
    parts |= {"title": title, "width": width, "height": height}
    return Markup(installed_environment().render(f"figures/{template}", **parts).strip())


def quarter_ticks(start: float, end: float, maximum: float = 100) -> list[tuple[str, float]]:
    """The numbers of an axis from 0 to the maximum, and where each stands between its ends."""
    return [(f"{share * maximum:g}", start + share * (end - start)) for share in QUARTERS]


def round_ticks(low: float, high: float, intervals: int, least: float = 0.01) -> list[float]:
    """Round numbers from below `low` to above `high`, `least` or more apart, at most so many intervals."""
    steps = (step * 10.0**power for power in range(-2, 3) for step in (1, 2, 5))
    step = next(s for s in steps if s >= least and math.ceil(high / s) - math.floor(low / s) <= intervals)
    first, last = math.floor(low / step), max(math.ceil(high / step), math.floor(low / step) + 1)
    return [round(number * step, 6) for number in range(first, last + 1)]
