"""The four questions of the runtime discipline, and how little of them holds together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from triathlon_site.figures import DotRow, bars, dots
from triathlon_site.models import ModelInfo
from triathlon_site.pages._dimensions import share_of_maximum
from triathlon_site.render import Figure
from triathlon_site.scores import Board, ColumnScores

QUESTIONS: Final = ("coverage_accuracy", "state_accuracy", "path_accuracy", "output_accuracy")
"""Metrics that count single answers."""
MOST_BARS: Final = 12
"""Models whose bars fit beside each other."""


def question_columns(board: Board) -> list[ColumnScores]:
    """The column of each question, in the order in which they are asked."""
    by_metric = {column.column.id.partition(":")[2]: column for column in board.shown}
    return [by_metric[metric] for metric in QUESTIONS if metric in by_metric]


def question_figures(board: Board, shown: Sequence[str], models: Mapping[str, ModelInfo]) -> Iterator[Figure]:
    """Bars of the best models, and dots of all where they are many."""
    columns = [*question_columns(board), board.headline]
    titles = [column.column.title for column in columns[:-1]]
    rows = [DotRow(models[m].name, tuple(share_of_maximum(column, m) for column in columns)) for m in shown]
    title = "The four questions and incremental consistency"
    caption = "Bars: accuracy in each question, in per cent. Line: incremental consistency."
    best = ""
    if len(rows) > MOST_BARS:
        best = f"the best {MOST_BARS}"
        title, caption = f"{title}: {best}", f"{caption} {best.capitalize()} models."
    svg = bars(title, titles, "IC", rows[:MOST_BARS])
    if svg:
        yield Figure(svg, caption)
    text = "Accuracy in each question, in per cent; the upright bar: IC, what holds together."
    svg = dots("The four questions and incremental consistency", (*titles, "IC"), rows)
    if best and svg:
        yield Figure(svg, text)
