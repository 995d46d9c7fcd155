"""Rank shifts of boards without a pass@1 of their own: against that of another board of the same family."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from triathlon_site.ranking import DrawnRanks, drawn_ranks, rank_shifts
from triathlon_site.scores._table import Board, ColumnScores


def with_baselines(boards: Sequence[Board]) -> tuple[Board, ...]:
    """Each board as it is, or with shifts against the first pass@1 of its family of data."""
    return tuple(_shifted(board, boards) if not _baseline(board) else board for board in boards)


def _baseline(board: Board) -> ColumnScores | None:
    return next((column for column in board.columns if column.column.role == "baseline"), None)


def _shifted(board: Board, boards: Sequence[Board]) -> Board:
    for candidate in boards:
        column = _baseline(candidate)
        if column and candidate.plan.family == board.plan.family:
            return _with_shifts(board, candidate, column)
    return board


def _with_shifts(board: Board, source: Board, baseline: ColumnScores) -> Board:
    models = sorted(board.models)
    headline = board.headline
    shifts = rank_shifts(
        headline.values(models), headline.ranked, baseline.values(models), _ranks_of(source, baseline, models)
    )
    scores = {
        model: replace(headline.scores[model], shift=shift)
        for model, shift in zip(models, shifts, strict=True)
        if model in headline.scores
    }
    columns = tuple(replace(c, scores=scores) if c is headline else c for c in board.columns)
    return replace(board, columns=columns, baseline=f"{source.plan.discipline} {baseline.column.title}")


def _ranks_of(board: Board, column: ColumnScores, models: Sequence[str]) -> DrawnRanks:
    """The ranks among `models`, in their order; models that are not on the board come last."""
    places = {model: place for place, model in enumerate(sorted(board.models))}
    if list(places) == models:
        return column.ranked
    high, low = np.full((2, len(column.ranked.best), len(models)), np.nan)
    for row, model in enumerate(models):
        if model in places:
            high[:, row] = -column.ranked.best[:, places[model]]
            low[:, row] = -column.ranked.worst[:, places[model]]
    return drawn_ranks(low, high)
