"""Smaller tables with their figures, below a ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.pages import _format
from triathlon_site.pages._models import ModelInfo
from triathlon_site.uncertainty import Difference


@dataclass(frozen=True, slots=True)
class Figure:
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


def named(info: ModelInfo) -> Value:
    """A model in the first column of a table."""
    return Value(info.name, link=info.page)


def plain_rows(rows: Sequence[Sequence[str]]) -> tuple[tuple[Value, ...], ...]:
    return tuple(tuple(Value(text) for text in row) for row in rows)


def difference(found: Difference | None, maximum: float) -> Value:
    """`−4.2`, its interval below it; pale where the interval holds zero."""
    if found is None:
        return Value(_format.NONE)
    span = " to ".join(_format.signed(end, maximum) for end in (found.interval.low, found.interval.high))
    return Value(_format.signed(found.value, maximum), span, sure=found.sure)


def names(models: Mapping[str, ModelInfo], chosen: Sequence[str]) -> str:
    """`A, B and C`."""
    listed = [models[model].name for model in chosen]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
