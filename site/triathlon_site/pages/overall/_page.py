"""The board of our own problems: all disciplines, who leads, and how sure that is."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final

from triathlon_runner.records import Manifest, RecordedManifest
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
"""A result so much older than the newest is marked: servers, engines and prompts have changed since."""
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
    """USD over the boards' files; None where no price is known."""
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
    """What the page shows where nothing was measured on our own problems."""

    template: ClassVar[str] = "overall/empty"


@dataclass(frozen=True)
class OverallContext(PageContext):
    """What the page shows."""

    template: ClassVar[str] = "overall/page"
    overall: Overall
    family: str
    lines: list[OverallLine]
    findings: list[Finding]
    steepest_fall: SteepestFall | None
    measured: tuple[str, str] | None
    """Days of the oldest and of the newest result."""
    small_open: bool
    """Whether there are two small models with open weights."""
    robust: str
    """The order by the first discipline, as the page's address says it."""
    graded: bool
    """Whether some scores are recorded: cells show their grade."""


def paths(overalls: Mapping[str, Overall], front_page: str) -> dict[str, str]:
    """Where the order over all disciplines stands, by family of data: our own problems, and added data sets.

    Args:
        overalls: by family, those that there are results of.
        front_page: the page that the first family takes; empty where all models have it. Our own problems
            have a page then, also without results.
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
    newest = max((file.manifest.ended[:10] for file in results.files if file.manifest), default="")
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
        findings=[found for board in overall.boards if (found := finding(board, models))],
        steepest_fall=steepest(overall.boards),
        measured=(min(dates), max(dates)) if dates else None,
        small_open=sum(is_small_and_open(line.info) for line in lines) > 1,
        robust=_by_first_column(overall),
        graded=any(cell.receipt for line in lines for cell in line.cells),
    )


def _line(overall: Overall, row: OverallRow, models: Mapping[str, ModelInfo], newest: str) -> OverallLine:
    boards = [board for board in overall.boards if row.model in board.models]
    manifests = [file.manifest for board in boards for file in board.files[row.model] if file.manifest]
    return OverallLine(
        models[row.model],
        row,
        tuple(cell(board.headline, row.model, with_strip=True) for board in overall.boards),
        sum(board.open_units(row.model) for board in boards),
        tuple(done for board in boards if (done := board.part_run(row.model))),
        _cost(manifests),
        (ended := max((manifest.ended[:10] for manifest in manifests), default="")),
        is_old(ended, newest),
        not all(isinstance(manifest, RecordedManifest) for manifest in manifests),
    )


def _cost(manifests: Sequence[Manifest]) -> float | None:
    """USD of all suites together; None where the cost of one of them is not known."""
    costs = [manifest.cost_usd for manifest in manifests if manifest.cost_usd is not None]
    return sum(costs) if costs and not any(manifest.usage.uncounted for manifest in manifests) else None


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
