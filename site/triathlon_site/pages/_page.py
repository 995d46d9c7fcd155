"""What a page is before and after it is filled, and the parts that several pages share."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup

from triathlon_runner import catalogue
from triathlon_site.figures import strip
from triathlon_site.pages._models import ModelInfo
from triathlon_site.ranking import RankShift
from triathlon_site.scores import Board, ColumnScores, Score

SLOT: Final = re.compile(rb"<!-- slot (\w+) -->")
"""In a page, the place of markup that lies ready. No text from outside says so: its `<` is escaped."""


def slot(name: str) -> Markup:
    return Markup(f"<!-- slot {name} -->")


@dataclass(frozen=True, slots=True)
class Draft:
    """A page that is still to be rendered."""

    path: str
    template: str
    context: dict[str, Any] = field(default_factory=dict)
    files: tuple["Page", ...] = ()
    """Data files that belong to it."""
    slots: Mapping[str, bytes] = field(default_factory=dict)
    """What stands in place of the slots: markup, its control characters spelt out."""
    frame: str | None = None
    """The same for drafts of one template and folder that differ in their slots alone: the rest is rendered
    once."""


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the site."""

    path: str
    content: str
    raw: bytes | None = None
    """In place of the content where the file is no text."""

    @property
    def bytes(self) -> bytes:
        return self.content.encode() if self.raw is None else self.raw


@dataclass(frozen=True, slots=True)
class Link:
    title: str
    path: str
    also: tuple[str, ...] = ()
    """Other pages that stand under this link."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One score in a table."""

    score: Score | None
    maximum: float
    strip: Markup

    @property
    def sort(self) -> str:
        """What scripts sort by; empty for none."""
        return "" if self.score is None else f"{self.score.value:.6g}"

    @property
    def shift(self) -> RankShift | None:
        return self.score.shift if self.score else None


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One model in a table."""

    info: ModelInfo
    cells: tuple[Cell, ...]
    open_units: int
    tasks_done: str
    """`20 of 142` where only part of a suite was planned, else empty."""


def cell(column: ColumnScores, model: str, *, with_strip: bool) -> Cell:
    score = column.scores.get(model)
    maximum = column.column.maximum
    drawn = Markup("")
    if score and with_strip:
        drawn = strip(score.interval.low, score.value, score.interval.high, maximum)
    return Cell(score, maximum, drawn)


def board_page(board: Board) -> str:
    """`loop.html` on our own problems; `loop-mbpp-plus.html` on official data."""
    plan = board.plan
    return f"{plan.discipline if plan.family == 'core' else plan.id}.html"


def heading_of(board: Board) -> str:
    """Returns the discipline under whose heading a board stands: the translation loop is a kind of loop."""
    discipline = board.plan.discipline
    return catalogue.discipline(discipline).kind_of or discipline


def part_run(board: Board, model: str) -> str:
    """How many tasks were planned of how many, over the board's suites, where that is not all."""
    if not board.partial(model):
        return ""
    manifests = [file.manifest for file in board.files[model] if file.manifest]
    planned = sum(manifest.tasks_planned for manifest in manifests)
    return f"{planned} of {sum(manifest.tasks_in_suite for manifest in manifests)}"
