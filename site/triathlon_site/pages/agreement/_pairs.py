"""Every two columns, with their rank correlations: of the boards, and of the table of all models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup

from triathlon_site.agreement import Correlation, correlations
from triathlon_site.figures import Axis, pair_scatter
from triathlon_site.models import ModelInfo
from triathlon_site.pages import front
from triathlon_site.pages._dimensions import short_title
from triathlon_site.scores import Board, ColumnScores

MOST_LABELS: Final = 12
"""Models that a figure names; of more it names those that the two columns rank most differently."""
FEWEST: Final = 3
"""Models below which two orders always agree or disagree completely."""


@dataclass(frozen=True)
class AgreementColumn:
    """A column of any board or of the table of all models, under a name that is clear among all of them."""

    axis: Axis
    discipline: str
    headline: bool = True
    reported: frozenset[str] = frozenset()
    """Models whose score here is a reported figure."""

    def value(self, model: str) -> float | None:
        """A model's score as it is shown; None where it has none."""
        point = self.axis.points.get(model)
        return None if point is None else point[1]

    @property
    def title(self) -> str:
        """`Loop ASL (MBPP+)`."""
        return self.axis.title


@dataclass(frozen=True)
class Pair:
    """Two columns, and the correlation of their orders of the models."""

    left: AgreementColumn
    right: AgreementColumn
    correlation: Correlation
    path: str

    @property
    def figure(self) -> Markup:
        """The scatter of the models that have both columns."""
        return pair_scatter(self.left.axis, self.right.axis, most_labels=MOST_LABELS)

    @property
    def reported(self) -> int:
        """How many of the models have a reported figure in either column."""
        models = self.left.axis.points.keys() & self.right.axis.points.keys()
        return len(models & (self.left.reported | self.right.reported))

    @property
    def too_few(self) -> bool:
        """Whether too few models have both columns to say anything."""
        return self.correlation.n < FEWEST


def board_columns(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> list[AgreementColumn]:
    """Every ranked column of every board."""
    return [
        _of_board(board, column, models) for board in boards for column in board.shown if column.column.ranked
    ]


def all_models_columns(rows: Sequence[front.ModelRow]) -> list[AgreementColumn]:
    """The columns of the table of all models in which some model has a score or a reported figure.

    Models are named by their place in `rows`.
    """
    columns = []
    for column in front.CORRELATED:
        cells = {str(place): row.cells[column.id] for place, row in enumerate(rows) if column.id in row.cells}
        maximum = max((cell.maximum for cell in cells.values()), default=1)
        maximum = 100 if maximum == 1 else maximum  # shares are shown in per cent, as in the tables
        points = {
            # Rounded as in the table's file: equal scores from two sources stay equal.
            key: (rows[int(key)].name, maximum * round(cell.share, 6))
            for key, cell in cells.items()
        }
        title = f"{column.title} {column.small}" if column.title else column.index.title
        reported = frozenset(key for key, cell in cells.items() if cell.grade == front.REPORTED)
        if cells:
            axis = Axis(title, maximum, points)
            columns.append(AgreementColumn(axis, column.discipline, reported=reported))
    return columns


def all_pairs(
    columns: Sequence[AgreementColumn], models: Sequence[str], folder: str
) -> dict[tuple[int, int], Pair]:
    """Every two columns, by their places; their pages are in this folder."""
    values = [np.array([column.value(model) for model in models], dtype=float) for column in columns]
    return {
        (i, j): Pair(columns[i], columns[j], correlation, f"{folder}/{i + 1}-{j + 1}.html")
        for (i, j), correlation in correlations(values, "agreement").items()
    }


def _of_board(board: Board, column: ColumnScores, models: Mapping[str, ModelInfo]) -> AgreementColumn:
    plan = board.plan
    data = "" if plan.family == "core" else f" ({plan.title})"
    title = f"{plan.discipline.capitalize()} {short_title(column)}{data}"
    maximum = column.column.maximum
    times = 100 if maximum == 1 else 1  # shares are shown in per cent, as in the tables
    points = {
        model: (models[model].name, times * score.value) for model, score in sorted(column.scores.items())
    }
    return AgreementColumn(Axis(title, times * maximum, points), plan.discipline, column.column.headline)
