"""What a page is before and after its template is filled, and the tables and figures that it is made of."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup

from triathlon_site.render._environment import show_control_characters

MISSING: Final = "404.html"
"""What hosts of static pages show for an address that leads nowhere."""


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the site."""

    path: str
    content: str
    raw: bytes | None = None
    """In place of the content where the file is not a text."""

    @property
    def bytes(self) -> bytes:
        """The file's content as it is written."""
        return self.content.encode() if self.raw is None else self.raw


@dataclass(frozen=True, slots=True)
class Draft:
    """A page whose template is still to be filled."""

    path: str
    template: str
    """Its path below `templates/`, without its suffix."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What the template uses beside the site and what frames every page."""
    files: tuple[Page, ...] = ()
    """Data files that belong to it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a navigation."""

    title: str
    path: str
    also: tuple[str, ...] = ()
    """Other pages that stand under this link."""

    def leads_to(self, page: str) -> bool:
        """Whether `page`, or the folder that it lies in, is what this link opens."""
        folder = f"{page.partition('/')[0]}.html"
        return not {page, folder}.isdisjoint((self.path, *self.also))


def as_script(content: Any) -> str:
    """JSON for a `<script>` element: no text in it, such as `</script>` in a name, can end the element.

    Control characters are made visible, as in pages.
    """
    text = json.dumps(_visible(content), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _visible(content: Any) -> Any:
    if isinstance(content, str):
        return show_control_characters(content)
    if isinstance(content, Mapping):
        return {_visible(name): _visible(value) for name, value in content.items()}
    return [_visible(value) for value in content] if isinstance(content, list | tuple) else content


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with the sentence under it."""

    svg: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class Value:
    """One cell: its text for pages and LaTeX, its numbers for CSV."""

    text: str
    small: str = ""
    """Below it, in small print, a line or several: an interval, a count."""
    number: float | None = None
    """In the unit of the text; None where the text is the value, or the cell is empty."""
    details: Mapping[str, float | None] = field(default_factory=dict)
    """The numbers of the small print by name: `low`, `high`, `models`."""
    link: str = ""
    """A page of the site, from its root."""
    sure: bool = True
    """False where the difference in the cell is not significant."""
    of_all: bool = False
    """In the first cell of a row: the row is over all models, and stands above them in every order."""


@dataclass(frozen=True, slots=True)
class Section:
    """A title, a sentence or two, a table, figures."""

    title: str
    text: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def anchor(self) -> str:
        return "-".join(self.title.lower().replace(",", "").split())
