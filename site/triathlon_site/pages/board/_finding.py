"""The finding of a board in one sentence: who leads, and who cannot be told from the leader."""

from collections.abc import Mapping
from dataclasses import dataclass

from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._views import view_of
from triathlon_site.scores import Board, Score


@dataclass(frozen=True, slots=True)
class Finding:
    """The first place of one discipline."""

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


def finding(board: Board, models: Mapping[str, ModelInfo]) -> Finding | None:
    """The first place of a board; None where no model has a headline score."""
    scores = board.headline.scores
    ranked = [model for model in board.models if model in scores]
    if not ranked:
        return None
    best = scores[ranked[0]]
    leaders = [m for m in ranked if (rank := scores[m].rank) and rank.rank == 1]
    alike = [model for model in ranked if scores[model].tier == 1 and model not in leaders]
    return Finding(
        board,
        tuple(models[model] for model in leaders),
        best,
        tuple(models[model] for model in alike),
        len(ranked),
        view_of(board).unit,
    )
