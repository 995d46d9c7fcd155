"""All models of any source in one table, ordered by the overall index."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import pandas as pd

from triathlon_site.ability import CENTRE, COLUMNS, POINTS
from triathlon_site.published import AllModels, ModelLine, Published, PublishedBoard, all_models
from triathlon_site.render import Draft, Page, PageContext

PATH: Final = "all.html"
TABLE: Final = "data/all-models.csv"


@dataclass(frozen=True)
class ShownColumn:
    """One column of the table that is a column of the index, too."""

    id: str
    title: str
    small: str
    discipline: str


SHOWN: Final = (
    ShownColumn("loop", "Loop", "ASL, MBPP+", "loop"),
    ShownColumn("runtime_output", "Runtime", "CRUXEval output", "runtime"),
    ShownColumn("runtime_consistency", "Runtime", "DREval IC", "runtime"),
    ShownColumn("evolved", "Evolved", "EvoEval mean", "evolved"),
)


@dataclass(frozen=True)
class AllModelsContext(PageContext):
    """What the page of all models shows."""

    template: ClassVar[str] = "all_models/page"
    lines: Sequence[ModelLine]
    columns: Sequence[ShownColumn]
    paths: Mapping[str, str]
    """By id of a published table, its page."""
    titles: Mapping[str, str]
    dates: Mapping[str, str]
    """By id of a published table, its day or month."""
    linking: Sequence[str]
    """Titles of the columns that only link the others."""
    centre: float
    points: float
    table: str


def drafts(
    published: Published, boards: Sequence[PublishedBoard], paths: Mapping[str, str]
) -> Iterator[Draft]:
    """The page of all models and its CSV file; nothing where no table has a model."""
    found = all_models(published, boards)
    if found is None:
        return
    shown = {column.id for column in SHOWN}
    context = AllModelsContext(
        lines=found.lines,
        columns=SHOWN,
        paths=paths,
        titles={board.id: board.title for board in boards},
        dates={board.id: board.sources[0].as_of for board in boards},
        linking=[column.title for column in COLUMNS if column.id not in shown],
        centre=CENTRE,
        points=POINTS,
        table=TABLE,
    )
    yield Draft(PATH, context, (Page(TABLE, _table(found)),))


def _table(found: AllModels) -> str:
    """All figures as CSV, scores as shares of their maximum: what benchmarks/index.py reads."""
    rows = [
        {
            "model": line.name,
            "organization": line.facts.organization,
            "released": line.facts.released,
            "index": round(line.index.value, 2),
            "index_low": round(line.index.low, 2),
            "index_high": round(line.index.high, 2),
            "rank": line.index.rank,
            "rank_low": line.index.rank_low,
            "rank_high": line.index.rank_high,
            "columns": line.index.columns,
            **{
                column.id: round(cell.score.value / cell.maximum, 6)
                for column in COLUMNS
                if (cell := line.cells.get(column.id))
            },
        }
        for line in found.lines
    ]
    frame = pd.DataFrame(rows)
    for column in COLUMNS:
        if column.id not in frame:
            frame[column.id] = None
    return frame.to_csv(index=False, lineterminator="\n")
