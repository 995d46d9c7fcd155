"""The front page: all models in one table, ordered by the overall index, and its findings in sentences."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import pandas as pd

from triathlon_site.ability import CENTRE, POINTS, IndexRow
from triathlon_site.load import Results
from triathlon_site.models import ModelInfo
from triathlon_site.pages.front._cells import ScoreCells
from triathlon_site.pages.front._columns import FRONT, SHOWN, FrontColumn
from triathlon_site.pages.front._findings import (
    ColumnLead,
    IndexLead,
    ages,
    discipline_leads,
    index_lead,
)
from triathlon_site.pages.front._models import DISCIPLINES, AllModels, ModelRow
from triathlon_site.pages.model import SteepestFall, steepest
from triathlon_site.published import Published
from triathlon_site.render import Draft, Page, PageContext
from triathlon_site.scores import Board

PATH: Final = "index.html"
TITLE: Final = "All models"
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
    columns: Sequence[FrontColumn]
    disciplines: Sequence[str]
    leads: Mapping[str, Sequence[ColumnLead]]
    """By discipline."""
    first: IndexLead | None
    small_open: IndexLead | None
    ages: Mapping[str, tuple[str, str, bool]]
    """By grade, the dates of its oldest and its newest figure, and whether others have no date."""
    linking: Sequence[str]
    """Titles of the columns that only link the others."""
    steepest_fall: SteepestFall | None
    core: Mapping[str, str]
    """By id of a model that has results on our own problems, the address of its row on their board."""
    neighbours: str
    """Address of the comparison of neighbours; empty where there are no two models to compare."""
    ranges: bool
    """Whether some score is only known as a range."""
    centre: float
    points: float
    table: str


def has_models(published: Published | None, boards: Sequence[Board]) -> bool:
    """Whether there is a model for the table of the front page: one on official data, or a published one."""
    tables = published.tables.values() if published else ()
    return any(board.plan.family == "official" for board in boards) or any(tables)


def drafts(
    table: AllModels,
    boards: Sequence[Board],
    models: Mapping[str, ModelInfo],
    results: Results,
    core_page: str,
    neighbours: str,
) -> Iterator[Draft]:
    """The front page and its CSV file; `core_page` is the board of our own problems.

    `neighbours` is the address of their comparison, empty where there are no two models to compare.
    """
    on_core = {model for board in boards if board.plan.family == "core" for model in board.models}
    official = [board for board in boards if board.plan.family == "official"]
    titled = {column.id for column in SHOWN}
    context = FrontContext(
        rows=table.rows,
        columns=SHOWN,
        disciplines=DISCIPLINES,
        leads=dict(discipline_leads(table, ScoreCells(boards, results), models)),
        first=index_lead(table),
        small_open=index_lead(table, small_open=True),
        ages=ages(table.rows),
        linking=[column.index.title for column in FRONT if column.id not in titled],
        steepest_fall=steepest(official),
        core={model: f"{core_page}#{models[model].slug}" for model in sorted(on_core)},
        neighbours=neighbours,
        ranges=any(cell.upper is not None for row in table.rows for cell in row.cells.values()),
        centre=CENTRE,
        points=POINTS,
        table=TABLE,
    )
    yield Draft(PATH, context, (Page(TABLE, _csv(table)),))


def _csv(table: AllModels) -> str:
    """All figures as CSV, scores as shares of their maximum: what benchmarks/index.py reads."""
    frame = pd.DataFrame([_line(row, row.index) for row in table.rows if row.index])
    for column in FRONT:
        for name in (column.id, f"{column.id}_tasks", f"{column.id}_grade"):
            if name not in frame:
                frame[name] = None
    return frame.to_csv(index=False, lineterminator="\n")


def _line(row: ModelRow, index: IndexRow) -> dict[str, Any]:
    line: dict[str, Any] = {
        "model": row.name,
        "organization": row.info.organization or "",
        "released": row.info.released or "",
        "index": round(index.value, 2),
        "index_low": round(index.low, 2),
        "index_high": round(index.high, 2),
        "rank": index.rank,
        "rank_low": index.rank_low,
        "rank_high": index.rank_high,
        "columns": index.columns,
    }
    for column in FRONT:
        if cell := row.cells.get(column.id):
            line[column.id] = round(cell.share, 6)
            line[f"{column.id}_tasks"] = None if math.isnan(cell.tasks) else cell.tasks
            line[f"{column.id}_grade"] = cell.grade
    return line
