"""One discipline: its ranking with every column, and its figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from triathlon_site.figures import Series, radar
from triathlon_site.pages._findings import finding
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import BoardRow, Draft, board_page, cell, part_run
from triathlon_site.scores import Board, ColumnScores

SHOWN: Final = 5
"""Models in a figure: more cannot be told apart."""


def draft(board: Board, models: Mapping[str, ModelInfo]) -> Draft:
    rows = [
        BoardRow(
            models[model],
            tuple(
                cell(column, model, with_strip=column is board.headline) for column in _shown_columns(board)
            ),
            board.open_units(model),
            part_run(board, model),
        )
        for model in board.models
    ]
    context = {
        "board": board,
        "discipline": board.plan.discipline.value,
        "columns": [column.column for column in _shown_columns(board)],
        "rows": rows,
        "finding": finding(board, models),
        "figures": board_figures(board, board.models[:SHOWN], models),
        "outcomes": [(models[model], counts) for model, counts in outcome_table(board)],
        "outcome_names": sorted({name for _, counts in outcome_table(board) for name in counts}),
    }
    return Draft(board_page(board), "discipline", context)


@dataclass(frozen=True, slots=True)
class Figure:
    svg: Markup
    caption: str


def board_figures(board: Board, shown: Sequence[str], models: Mapping[str, ModelInfo]) -> list[Figure]:
    """What can be drawn of these models on this board."""
    web = board_radar(board, shown, models)
    caption = "Every column of the board on its own scale from 0 to its maximum."
    return [Figure(web, caption)] if web else []


def _shown_columns(board: Board) -> list[ColumnScores]:
    """The headline first."""
    rest = [column for column in board.columns if column is not board.headline]
    return [board.headline, *rest]


def board_radar(board: Board, shown: Sequence[str], models: Mapping[str, ModelInfo]) -> Markup:
    """The board's columns as axes, each from 0 to its maximum."""
    axes = [column for column in board.columns if not column.column.headline or len(board.columns) < 4]
    complete = [model for model in shown if all(model in column.scores for column in axes)]
    series = [
        Series(
            models[model].name,
            tuple(100 * column.scores[model].value / column.column.maximum for column in axes),
        )
        for model in complete
    ]
    return radar("Columns of this board, one shape a model", [c.column.title for c in axes], series)


def outcome_table(board: Board) -> list[tuple[str, dict[str, int]]]:
    """How the units of each model ended, in the board's order."""
    result = []
    for model in board.models:
        total: Counter[str] = Counter()
        for file in board.files[model]:
            total.update(file.outcomes)
        result.append((model, dict(total)))
    return result
