"""The card of our own problems: how they were made, and how many of each level the models solve."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import ClassVar, Final

from markdown_it import MarkdownIt
from markupsafe import Markup

from triathlon_runner.datasets import core
from triathlon_runner.records import Outcome
from triathlon_site.load import Results
from triathlon_site.render import Draft, PageContext

SEEDS: Final = "evolved/core-seeds"
LEVELS: Final = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class LevelRow:
    """The seeds that one model solves."""

    model: str
    solved: tuple[tuple[int, int], ...]
    """For each level (seeds solved, seeds run)."""


@dataclass(frozen=True)
class CoreContext(PageContext):
    """The card of our own problems, and what the models solve of them."""

    template: ClassVar[str] = "method/core"
    card: Markup
    levels: Sequence[int]
    rows: list[LevelRow]


def core_draft(results: Results) -> Draft:
    """The page of our own problems: their card, and the table of levels under it."""
    text = files(core).joinpath("README.md").read_text("utf-8")
    card = Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
    rows = sorted(_rows(results), key=lambda row: row.solved, reverse=True)
    return Draft("core.html", CoreContext(card, LEVELS, rows))


def _rows(results: Results) -> Iterator[LevelRow]:
    level_of = {problem.task_id: problem.level for problem in core.problems("seeds")}
    for model, file in results.of_suite(SEEDS).items():
        first = [task for task in file.tasks if task.sample == 0]
        run = Counter(level_of.get(task.task_id) for task in first)
        solved = Counter(level_of.get(task.task_id) for task in first if task.outcome == Outcome.PASSED)
        if first:
            yield LevelRow(model, tuple((solved[level], run[level]) for level in LEVELS))
