"""The board of our own problems: all disciplines, who leads, and how sure that is."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final

from triathlon_site.costs import run_cost
from triathlon_site.load import Results
from triathlon_site.models import ModelInfo
from triathlon_site.pages._cells import Cell, cell
from triathlon_site.pages.board import Finding, finding
from triathlon_site.pages.front import is_small_and_open
from triathlon_site.pages.model import SteepestFall, steepest
from triathlon_site.render import Draft, PageContext
from triathlon_site.scores import Overall, OverallRow

PATH: Final = "overall-core.html"
CORE: Final = "core"
ADDED: Final = "added"
"""The family of data sets that a suites.yaml adds."""
OLD_DAYS: Final = 183
"""Days older than the newest result from which a result is marked: servers and prompts changed since."""
TITLES: Final = {CORE: "Our own problems", ADDED: "Added data"}


@dataclass(frozen=True)
class OverallLine:
    """One model on the page."""

    info: ModelInfo
    row: OverallRow
    cells: tuple[Cell, ...]
    open_units: int
    tasks_done: tuple[str, ...]
    cost: float | None
    """USD over the boards' files; None where the cost of one of them is not known."""
    date: str
    """Day of its newest result."""
    old: bool
    """Whether that is long before the newest result of the board."""
    measured: bool
    """Whether some of its results were measured here."""

    @property
    def percentiles(self) -> str:
        """For the visitor's own weights."""
        return " ".join("" if share is None else f"{share:.6g}" for share in self.row.percentiles)


@dataclass(frozen=True)
class NothingMeasuredContext(PageContext):
    """The template's data for the page where nothing was measured on our own problems."""

    template: ClassVar[str] = "overall/empty"


@dataclass(frozen=True)
class OverallContext(PageContext):
    """The template's data for the page."""

    template: ClassVar[str] = "overall/page"
    overall: Overall
    family: str
    lines: list[OverallLine]
    findings: list[Finding]
    steepest_fall: SteepestFall | None
    measured: tuple[str, str] | None
    """Days of the oldest and the newest measured result."""
    small_open: bool
    """Whether there are two small models with open weights."""
    robust: str
    """The order by the first discipline, as the page's address says it."""
    graded: bool
    """Whether some scores are recorded: cells show their grade."""


def paths(overalls: Mapping[str, Overall], front_page: str) -> dict[str, str]:
    """The pages of the order over all disciplines, by family of data: our own problems, added data sets.

    Args:
        overalls: by family, those that there are results of.
        front_page: the address of the front page, which the first family takes; empty where the front page is
            the table of all models. Our own problems have a page then, also without results.
    """
    pages = {CORE: PATH} if CORE in overalls or not front_page else {}
    pages |= {ADDED: "overall-added.html"} if ADDED in overalls else {}
    return {**pages, next(iter(pages)): front_page} if pages and front_page else pages


def drafts(
    pages: Mapping[str, str],
    overalls: Mapping[str, Overall],
    models: Mapping[str, ModelInfo],
    results: Results,
) -> Iterator[Draft]:
    """Each of `paths`; where nothing was measured on our own problems, that page says how to measure."""
    newest = max((file.ended for file in results.files), default="")
    for family, path in pages.items():
        if family in overalls:
            yield Draft(path, _context(family, overalls[family], models, newest))
        else:
            yield Draft(path, NothingMeasuredContext())


def _context(family: str, overall: Overall, models: Mapping[str, ModelInfo], newest: str) -> OverallContext:
    lines = [_line(overall, row, models, newest) for row in overall.rows]
    dates = [line.date for line in lines if line.date and line.measured]
    return OverallContext(
        overall=overall,
        family=family,
        lines=lines,
        findings=[lead for board in overall.boards if (lead := finding(board, models))],
        steepest_fall=steepest(overall.boards),
        measured=(min(dates), max(dates)) if dates else None,
        small_open=sum(is_small_and_open(line.info) for line in lines) > 1,
        robust=_by_first_column(overall),
        graded=any(cell.receipt for line in lines for cell in line.cells),
    )


def _line(overall: Overall, row: OverallRow, models: Mapping[str, ModelInfo], newest: str) -> OverallLine:
    boards = [board for board in overall.boards if row.model in board.models]
    files = [file for board in boards for file in board.files[row.model]]
    ended = max((file.ended for file in files), default="")
    return OverallLine(
        models[row.model],
        row,
        tuple(cell(board.headline, row.model, with_strip=True) for board in overall.boards),
        sum(board.open_units(row.model) for board in boards),
        tuple(filter(None, (board.part_run(row.model) for board in boards))),
        run_cost(files).usd,
        ended,
        is_old(ended, newest),
        any(file.manifest and not file.receipt for file in files),
    )


def _by_first_column(overall: Overall) -> str:
    """How the page's address says "by the first discipline, best first"."""
    plan = overall.boards[0].plan
    return "-" + re.sub(r"[^a-z0-9@+]+", "-", f"{plan.discipline}{plan.headline.title}".lower()).strip("-")


def is_old(ended: str, newest: str) -> bool:
    """Whether a result is old beside the newest one; today's date plays no part."""
    try:
        return (date.fromisoformat(newest) - date.fromisoformat(ended)).days > OLD_DAYS
    except ValueError:
        return False  # a manifest that somebody wrote by hand
