"""The front page: all models in one table, ordered by the overall index, and its findings in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import pandas as pd

from triathlon_site.exports import csv_file
from triathlon_site.overall_index import CENTRE, POINTS
from triathlon_site.pages._site import FRONT as PATH
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import FrontColumn
from triathlon_site.pages.compare import compared_families
from triathlon_site.pages.front._columns import BESIDE, DISCIPLINES, FRONT, SHOWN
from triathlon_site.pages.front._findings import (
    ColumnLead,
    IndexLead,
    ages,
    discipline_leads,
    index_lead,
)
from triathlon_site.pages.front._table import AllModels, ModelRow
from triathlon_site.pages.model import SteepestFall, steepest
from triathlon_site.render import Draft, Page, PageContext

TABLE: Final = "data/all-models.csv"


@dataclass(frozen=True)
class EmptyContext(PageContext):
    """Without any model, the front page says how to get results."""

    template: ClassVar[str] = "front/empty"


@dataclass(frozen=True)
class FrontContext(PageContext):
    """The template's data for the front page."""

    template: ClassVar[str] = "front/page"
    rows: Sequence[ModelRow]
    leads: Mapping[str, Sequence[ColumnLead]]
    """By discipline."""
    first: IndexLead | None
    small_open: IndexLead | None
    ages: Mapping[str, tuple[str, str, bool]]
    linking: Sequence[str]
    """Titles of the columns that only link the others."""
    steepest_fall: SteepestFall | None
    core: Sequence[str]
    """The models that have results on our own problems."""
    neighbours: str
    """Address of the comparison of neighbours; empty where there are no two models to compare."""
    ranges: bool
    """Whether some score is only known as a range."""
    columns: Sequence[FrontColumn]
    """Those that some model has a cell in."""
    disciplines: Sequence[str] = DISCIPLINES
    centre: float = CENTRE
    points: float = POINTS
    table: str = TABLE


def drafts(site: Gathered, table: AllModels) -> Iterator[Draft]:
    """The front page and its CSV file."""
    compared = compared_families(site.overalls)
    family = next((family for family in ("official", "core") if family in compared), "")
    context = FrontContext(
        rows=table.rows,
        columns=[c for c in (*SHOWN, *BESIDE) if any(c.id in row.cells for row in table.rows)],
        leads=discipline_leads(site, table),
        first=index_lead(table),
        small_open=index_lead(table, small_open=True),
        ages=ages(table.rows),
        linking=[column.name for column in FRONT if column not in SHOWN],
        steepest_fall=steepest([board for board in site.boards if board.plan.family == "official"]),
        core=[m for board in site.boards if board.plan.family == "core" for m in board.models],
        neighbours=f"compare.html#neighbours-{family}" if family else "",
        ranges=any(cell.upper is not None for row in table.rows for cell in row.cells.values()),
    )
    yield Draft(PATH, context, (_csv(table),))


def _csv(table: AllModels) -> Page:
    """All figures as CSV, scores as shares of their maximum: what benchmarks/index.py reads."""
    lines: list[dict[str, Any]] = []
    for row in table.rows:
        if place := row.index:
            line = {
                "model": row.name,
                "organization": row.info.organization or "",
                "released": row.info.released or "",
                "index": round(place.value, 2),
                "index_low": round(place.low, 2),
                "index_high": round(place.high, 2),
                "rank": place.rank.rank,
                "rank_low": place.rank.low,
                "rank_high": place.rank.high,
                "columns": place.columns,
            }
            for name, cell in row.cells.items():
                line |= {name: round(cell.share, 6), f"{name}_tasks": cell.tasks, f"{name}_grade": cell.grade}
            lines.append(line)
    frame = pd.DataFrame(lines)
    names = [f"{column.id}{field}" for column in FRONT for field in ("", "_tasks", "_grade")]
    columns = [*frame.columns, *(name for name in names if name not in frame)]
    return csv_file(TABLE, frame.reindex(columns=columns))
