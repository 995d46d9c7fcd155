"""Every model of every source in one table, with the overall index."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_site.ability import COLUMNS, Array, Index, IndexRow, compute_index, years
from triathlon_site.published._facts import ModelFacts
from triathlon_site.published._joined import JoinedModel, join_models
from triathlon_site.published._read import Published
from triathlon_site.published._tables import PublishedBoard, PublishedScore

SOURCES: Final[Mapping[str, tuple[tuple[str, str, float], ...]]] = {
    "loop": (("evaloop", "asl", 10.0),),
    "runtime_output": (("cruxeval", "output", 100.0),),
    "runtime_consistency": (("reval", "ic", 100.0),),
    "evolved": (("evoeval", "evoeval", 100.0),),
    "humaneval_plus": (("evalplus", "humaneval_plus", 100.0), ("evoeval", "humaneval_plus", 100.0)),
    "mbpp_plus": (("evalplus", "mbpp_plus", 100.0),),
}
"""By column of the index, where its figures stand: table, column and maximum; the first that has one
counts."""


@dataclass(frozen=True, slots=True)
class ReportedCell:
    """One figure that somebody published."""

    score: PublishedScore
    maximum: float
    board: str
    """Id of the table that it was copied from."""


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One model with its cells by column of the index."""

    name: str
    """With its source where two tables use the name and it is not certain that they mean one model."""
    facts: ModelFacts
    cells: Mapping[str, ReportedCell]
    index: IndexRow


@dataclass(frozen=True, slots=True)
class AllModels:
    """All models that have a figure in a column of the index, best index first."""

    lines: tuple[ModelLine, ...]
    index: Index


def all_models(published: Published, boards: Sequence[PublishedBoard]) -> AllModels | None:
    """The table of all models; None where no model has a figure.

    Raises:
        UserError: a figure that is no number.
    """
    rows = [(model, cells) for model in join_models(published, boards) if (cells := _cells(model))]
    if not rows:
        return None
    facts = [_facts(published, model) for model, _ in rows]
    index = compute_index(
        _scores([cells for _, cells in rows]), COLUMNS, np.array([years(one.released) for one in facts])
    )
    names = Counter(model.name for model, _ in rows)
    titles = {board.id: board.title for board in boards}
    lines = [
        ModelLine(
            model.name if names[model.name] == 1 else f"{model.name} ({titles[next(iter(model.rows))]})",
            known,
            cells,
            place,
        )
        for (model, cells), known, place in zip(rows, facts, index.rows, strict=True)
    ]
    return AllModels(tuple(sorted(lines, key=lambda line: (line.index.rank, line.name.lower()))), index)


def _cells(model: JoinedModel) -> dict[str, ReportedCell]:
    cells = {}
    for column, places in SOURCES.items():
        for board, field, maximum in places:
            row = model.rows.get(board)
            score = row.scores.get(field) if row else None
            if score is not None and column not in cells:
                cells[column] = ReportedCell(score, maximum, board)
    return cells


def _scores(rows: Sequence[Mapping[str, ReportedCell]]) -> Array:
    """Shares of the maximum, shape (models, columns), nan where there is none."""
    return np.array(
        [
            [cells[c.id].score.value / cells[c.id].maximum if c.id in cells else np.nan for c in COLUMNS]
            for cells in rows
        ]
    )


def _facts(published: Published, model: JoinedModel) -> ModelFacts:
    """What `models-info.csv` says; where it has no row, the organisation that a table names."""
    named = next((row.organization for row in model.rows.values() if row.organization), "")
    return published.facts.get(model.name) or ModelFacts(model.name, organization=named)
