"""The front page: all disciplines, who leads, and how sure that is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from triathlon_site.load import Results
from triathlon_site.pages._findings import Finding, finding
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import Cell, Draft, cell, part_run
from triathlon_site.scores import Overall, OverallRow

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

    @property
    def percentiles(self) -> str:
        """For the visitor's own weights."""
        return " ".join("" if share is None else f"{share:.6g}" for share in self.row.percentiles)


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
    for family, board in overalls.items():
        lines = [_line(board, row, models) for row in board.rows]
        context = {
            "overall": board,
            "family": family,
            "lines": lines,
            "findings": _findings(board, models),
            "skipped": _skipped(results, models),
            "partial": any(any(line.tasks_done) for line in lines),
            "costs": any(line.cost is not None for line in lines),
            "open_units": sum(line.open_units for line in lines),
        }
        yield Draft(path(family, overalls), "overall", context)


def _line(overall: Overall, row: OverallRow, models: Mapping[str, ModelInfo]) -> OverallLine:
    boards = [board for board in overall.boards if row.model in board.models]
    manifests = [file.manifest for board in boards for file in board.files[row.model] if file.manifest]
    return OverallLine(
        models[row.model],
        row,
        tuple(cell(board.headline, row.model, with_strip=True) for board in overall.boards),
        sum(board.open_units(row.model) for board in boards),
        tuple(done for board in boards if (done := part_run(board, row.model))),
        sum(costs) if (costs := [m.cost_usd for m in manifests if m.cost_usd is not None]) else None,
        max((manifest.ended[:10] for manifest in manifests), default=""),
    )


def _findings(overall: Overall, models: Mapping[str, ModelInfo]) -> list[Finding]:
    return [found for board in overall.boards if (found := finding(board, models))]


def _skipped(results: Results, models: Mapping[str, ModelInfo]) -> list[tuple[ModelInfo, str]]:
    return [
        (models.get(skipped.model, ModelInfo(skipped.model, skipped.model)), skipped.reason)
        for skipped in results.skipped
    ]
