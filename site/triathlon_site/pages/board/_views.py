"""The view of each discipline, and what it says of a board's first place."""

from dataclasses import dataclass
from typing import Final

from triathlon_runner import catalogue
from triathlon_runner.records import PredictionRecord
from triathlon_site.models import ModelInfo, Models
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board.evolved import EVOLVED
from triathlon_site.pages.board.loop import LOOP, TRANSLATION
from triathlon_site.pages.board.runtime import PREDICTION, RUNTIME
from triathlon_site.scores import Board, Score

VIEWS: Final = {"loop": LOOP, "runtime": RUNTIME, "evolved": EVOLVED, "translation": TRANSLATION}
ARTICLES: Final = {
    record: article for view in (*VIEWS.values(), PREDICTION) for record, article in view.articles.items()
}
"""How the evidence shows a unit, by the type of its record."""
FRONT: Final = tuple(column for view in VIEWS.values() for column in view.front)
"""Columns of the table of all models."""


def view_named(discipline: str) -> DisciplineView:
    """The view of a discipline; a plain one for a discipline that has none of its own."""
    return VIEWS.get(discipline, DisciplineView())


def view_of(board: Board) -> DisciplineView:
    """The view of the board's discipline; of a suite that asks in another way, the view of its records."""
    if all(suite.record is PredictionRecord for suite in board.plan.suites):
        return PREDICTION
    return view_named(board.plan.discipline)


def heading_of(board: Board) -> str:
    """The discipline under whose heading the board is linked: the translation loop is a kind of loop."""
    discipline = board.plan.discipline
    return catalogue.discipline(discipline).kind_of or discipline


@dataclass(frozen=True, slots=True)
class Finding:
    """Who leads a board, and who cannot be told from the leader."""

    board: Board
    leaders: tuple[ModelInfo, ...]
    """More than one where the first place is shared."""
    score: Score
    alike: tuple[ModelInfo, ...]
    """The other models of the first tier."""
    models: int
    """The number of models with a headline score."""
    unit: str
    """The word for a task: `task` or `program`."""


def finding(board: Board, models: Models) -> Finding | None:
    """The first place of a board; None where no model has a headline score."""
    scores = board.headline.scores
    ranked = [model for model in board.models if model in scores]
    if not ranked:
        return None
    leaders = [m for m in ranked if (rank := scores[m].rank) and rank.rank == 1]
    alike = [model for model in ranked if scores[model].tier == 1 and model not in leaders]
    return Finding(
        board,
        tuple(models[model] for model in leaders),
        scores[ranked[0]],
        tuple(models[model] for model in alike),
        len(ranked),
        view_of(board).unit,
    )
