"""What all figures share: how their templates are filled, the palette, the numbers of an axis.

Modules of this folder compute places, in pixels; `templates/figures/` has the markup.
"""

from typing import Any, Final

from markupsafe import Markup

from triathlon_site.render import installed_environment

PALETTE: Final = 8  # classes c0…c7 of the style sheet; each also has a dash pattern of its own
QUARTERS: Final = (0, 0.25, 0.5, 0.75, 1)  # of each axis, where it has a number
NOTHING: Final = Markup("")  # in place of a figure that would say nothing


def draw(template: str, title: str, width: float, height: float, **parts: Any) -> Markup:
    """A figure: its template, filled with these parts; the title is its accessible name."""
    parts |= {"title": title, "width": width, "height": height}
    return filled("figure", template=f"figures/{template}", **parts)


def filled(name: str, **parts: Any) -> Markup:
    """A template of figures, filled with these parts."""
    return Markup(installed_environment().render(f"figures/{name}", **parts).strip())


def quarter_ticks(start: float, end: float, maximum: float = 100) -> list[tuple[str, float]]:
    """The numbers of an axis from 0 to the maximum, and where each stands between its ends."""
    return [(f"{share * maximum:g}", start + share * (end - start)) for share in QUARTERS]
