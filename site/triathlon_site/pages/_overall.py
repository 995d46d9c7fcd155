"""The front page: all disciplines, who leads, and how sure that is."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from triathlon_site.load import Results
from triathlon_site.pages._falls import fall_anchor, steepest
from triathlon_site.pages._findings import Finding, finding
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import Cell, Draft, cell, part_run
from triathlon_site.scores import Overall, OverallRow

SMALL_BILLIONS: Final = 10
"""Up to which size a model is one that people run themselves; the filter of sizes has the same bound."""
OLD_DAYS: Final = 183
"""A result so much older than the newest is marked: servers, engines and prompts have changed since."""
_TITLES: Final = {"core": "Overall", "official": "Overall, official data"}


@dataclass(frozen=True, slots=True)
class OverallLine:
    """One model on the front page."""

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

    @property
    def percentiles(self) -> str:
        """For the visitor's own weights."""
        return " ".join("" if share is None else f"{share:.6g}" for share in self.row.percentiles)


@dataclass(frozen=True, slots=True)
class Fallen:
    """The model that falls the most against plain pass@1, and where that is told."""

    info: ModelInfo
    anchor: str
    places: int


def title(family: str) -> str:
    return _TITLES[family]


def path(family: str, overalls: Mapping[str, Overall]) -> str:
    """The first family with results is the front page."""
    return "index.html" if family == next(iter(overalls)) else f"overall-{family}.html"


def drafts(
    overalls: Mapping[str, Overall], models: Mapping[str, ModelInfo], results: Results
) -> Iterator[Draft]:
    if not overalls:
        yield Draft("index.html", "empty", {"skipped": _skipped(results, models)})
    newest = max((file.manifest.ended[:10] for file in results.files if file.manifest), default="")
    for family, board in overalls.items():
        lines = [_line(board, row, models, newest) for row in board.rows]
        dates = [line.date for line in lines if line.date]
        context = {
            "overall": board,
            "family": family,
            "lines": lines,
            "findings": _findings(board, models),
            "skipped": _skipped(results, models),
            "partial": any(any(line.tasks_done) for line in lines),
            "costs": any(line.cost is not None for line in lines),
            "prices": any(line.info.price for line in lines),
            "fallen": _fallen(board, models),
            "measured": (min(dates), max(dates)) if dates else None,
            "neighbours": sum(row.rank is not None for row in board.rows) > 1,
            "small_open": sum(_small_and_open(line.info) for line in lines) > 1,
            "robust": _by_first_column(board),
            "old": sum(line.old for line in lines),
            "open_units": sum(line.open_units for line in lines),
        }
        yield Draft(path(family, overalls), "overall", context)


def _line(overall: Overall, row: OverallRow, models: Mapping[str, ModelInfo], newest: str) -> OverallLine:
    boards = [board for board in overall.boards if row.model in board.models]
    manifests = [file.manifest for board in boards for file in board.files[row.model] if file.manifest]
    return OverallLine(
        models[row.model],
        row,
        tuple(cell(board.headline, row.model, with_strip=True) for board in overall.boards),
        sum(board.open_units(row.model) for board in boards),
        tuple(done for board in boards if (done := part_run(board, row.model))),
        sum(costs) if (costs := [m.cost_usd for m in manifests if m.cost_usd is not None]) else None,
        (ended := max((manifest.ended[:10] for manifest in manifests), default="")),
        is_old(ended, newest),
    )


def _small_and_open(info: ModelInfo) -> bool:
    return bool(info.open_weights) and info.billions is not None and info.billions < SMALL_BILLIONS


def _by_first_column(overall: Overall) -> str:
    """What the address says for "by the first discipline, best first"."""
    plan = overall.boards[0].plan
    return "-" + re.sub(r"[^a-z0-9@+]+", "-", f"{plan.discipline}{plan.headline.title}".lower()).strip("-")


def _fallen(overall: Overall, models: Mapping[str, ModelInfo]) -> Fallen | None:
    found = steepest(overall.boards)
    return Fallen(models[found[0]], fall_anchor(found[1]), found[2]) if found else None


def is_old(ended: str, newest: str) -> bool:
    """Compared with the newest result, not with the clock: the same results give the same page."""
    try:
        return (date.fromisoformat(newest) - date.fromisoformat(ended)).days > OLD_DAYS
    except ValueError:
        return False  # a manifest that somebody wrote by hand


def _findings(overall: Overall, models: Mapping[str, ModelInfo]) -> list[Finding]:
    return [found for board in overall.boards if (found := finding(board, models))]


def _skipped(results: Results, models: Mapping[str, ModelInfo]) -> list[tuple[ModelInfo, str]]:
    return [
        (models.get(skipped.model, ModelInfo(skipped.model, skipped.model)), skipped.reason)
        for skipped in results.skipped
    ]
