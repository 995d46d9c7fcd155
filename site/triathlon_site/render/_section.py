"""Smaller tables with their figures, as they stand below a ranking."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with the sentence under it."""

    svg: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class Value:
    """One cell."""

    text: str
    small: str = ""
    """Below it, in small print: an interval, a count."""
    link: str = ""
    """A page of the site, from its root."""
    sure: bool = True
    """False where what it says is not significant."""


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


def plain_rows(rows: Sequence[Sequence[str]]) -> tuple[tuple[Value, ...], ...]:
    return tuple(tuple(Value(text) for text in row) for row in rows)
