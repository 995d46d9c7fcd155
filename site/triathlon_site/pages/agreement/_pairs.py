"""Every two columns of the boards, with their rank correlations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from triathlon_site.agreement import Correlation, correlations
from triathlon_site.figures import Axis, pair_scatter
from triathlon_site.models import ModelInfo
from triathlon_site.pages._dimensions import short_title
from triathlon_site.scores import Board, ColumnScores, first_boards

MOST_LABELS: Final = 12
"""Models that a figure names; of more it names those that the two columns rank most differently."""


@dataclass(frozen=True)
class AgreementColumn:
    """A column of any board, under a name that is clear among all of them."""

    board: Board
    scores: ColumnScores
    axis: Axis

    @property
    def title(self) -> str:
        """`Loop ASL (MBPP+)`."""
        return self.axis.title


@dataclass(frozen=True)
class Pair:
    """Two columns, and how much alike they order the models."""

    left: AgreementColumn
    right: AgreementColumn
    correlation: Correlation
    path: str

    @property
    def figure(self) -> Markup:
        """The scatter of the models that have both columns."""
        return pair_scatter(self.left.axis, self.right.axis, most_labels=MOST_LABELS)


def agreement_columns(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> list[AgreementColumn]:
    """Every ranked column of every board."""
    return [
        _column(board, column, models) for board in boards for column in board.shown if column.column.ranked
    ]


def all_pairs(columns: Sequence[AgreementColumn], models: Sequence[str]) -> dict[tuple[int, int], Pair]:
    """Every two columns, by their places."""
    found = correlations([column.scores.values(models) for column in columns], "agreement")
    return {
        (i, j): Pair(columns[i], columns[j], correlation, f"agreement/{i + 1}-{j + 1}.html")
        for (i, j), correlation in found.items()
    }


def is_main(pair: Pair, boards: Sequence[Board]) -> bool:
    """Whether both columns are of the boards that stand for their disciplines: the first of each."""
    firsts = first_boards(boards)
    return all(any(column.board is first for first in firsts) for column in (pair.left, pair.right))


def is_of_one_family(pair: Pair) -> bool:
    """Whether the columns are of two disciplines on the same family of data."""
    left, right = pair.left.board.plan, pair.right.board.plan
    return left.family == right.family and left.discipline != right.discipline


def _column(board: Board, column: ColumnScores, models: Mapping[str, ModelInfo]) -> AgreementColumn:
    plan = board.plan
    data = "" if plan.family == "core" else f" ({plan.title})"
    title = f"{plan.discipline.capitalize()} {short_title(column)}{data}"
    maximum = column.column.maximum
    times = 100 if maximum == 1 else 1  # shares are shown in per cent, as in the tables
    points = {
        model: (models[model].name, times * score.value) for model, score in sorted(column.scores.items())
    }
    return AgreementColumn(board, column, Axis(title, times * maximum, points))
