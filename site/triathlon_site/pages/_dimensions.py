"""The columns that are dimensions of their own, and their titles outside their board."""

from collections.abc import Sequence
from typing import Final

from triathlon_site.render import formats
from triathlon_site.scores import Board, ColumnScores

SUMS: Final = ("average_accuracy", "coverage_f1")
"""Metrics computed from others: not dimensions of their own."""


def dimensions(boards: Sequence[Board]) -> list[tuple[Board, ColumnScores]]:
    """The dimensions of the first family of data that has boards.

    They are the ranked columns that are neither a mean over several sets nor the sum of other columns.
    """
    return [
        (board, column)
        for board in boards
        if board.plan.family == boards[0].plan.family
        for column in board.shown
        if column.column.ranked
        and len(column.column.parts) == 1
        and column.column.id.partition(":")[2] not in SUMS
    ]


def dimension_title(board: Board, column: ColumnScores) -> str:
    """`loop pass@1`; with its data where that is not our own problems."""
    data = "" if board.plan.family == "core" else f" ({board.plan.title})"
    return f"{board.plan.discipline} {formats.inside(column.column.title)}{data}"


def axis_title(board: Board, column: ColumnScores) -> str:
    """`runtime IC`: short enough for the axis of a figure."""
    return f"{board.plan.discipline} {short_title(column)}"


def short_title(column: ColumnScores) -> str:
    """The title of a column behind the name of its discipline: `IC` for incremental consistency."""
    return "IC" if column.column.id.endswith(":ic") else formats.inside(column.column.title)


def share_of_maximum(column: ColumnScores, model: str) -> float | None:
    """A score in per cent of the column's maximum; None for a model without one."""
    score = column.scores.get(model)
    return 100 * score.value / column.column.maximum if score else None
