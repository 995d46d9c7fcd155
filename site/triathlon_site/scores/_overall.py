"""The board over all disciplines, and rank shifts between boards."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from triathlon_site.ranking import (
    DrawnRanks,
    Rank,
    RankShift,
    better_in_draws,
    drawn_ranks,
    percentiles,
    rank_shifts,
    ranks,
    ranks_among,
    wins_by_weighting,
)
from triathlon_site.scores._ranked_board import Board, ColumnScores, Score, known_share
from triathlon_site.uncertainty import rounded

Array = NDArray[np.float64]


def with_baselines(boards: Sequence[Board]) -> tuple[Board, ...]:
    """Each board as it is, or with shifts against the first pass@1 of its family of data."""
    return tuple(board if _baseline(board) else _shifted(board, boards) for board in boards)


def _baseline(board: Board) -> ColumnScores | None:
    return next((column for column in board.columns if column.column.role == "baseline"), None)


def _shifted(board: Board, boards: Sequence[Board]) -> Board:
    family = [source for source in boards if source.plan.family == board.plan.family]
    source = next(filter(_baseline, family), None)
    baseline = source and _baseline(source)
    if not source or not baseline:
        return board
    models, headline = sorted(board.models), board.headline
    ranked = _ranks_of(source, baseline, models)
    shifts = rank_shifts(headline.values(models), headline.ranked, baseline.values(models), ranked)
    scores = {
        model: replace(headline.scores[model], shift=shift)
        for model, shift in zip(models, shifts, strict=True)
        if model in headline.scores
    }
    columns = tuple(replace(c, scores=scores) if c is headline else c for c in board.columns)
    return replace(board, columns=columns, baseline=f"{source.plan.discipline} {baseline.column.title}")


def _ranks_of(board: Board, column: ColumnScores, models: list[str]) -> DrawnRanks:
    """The ranks among `models`, in their order; models that are not on the board come last."""
    if sorted(board.models) == models:
        return column.ranked
    ends = [pd.DataFrame(-end, columns=sorted(board.models)).reindex(columns=models) for end in column.ranked]
    return drawn_ranks(ends[1].to_numpy(float), ends[0].to_numpy(float))


@dataclass(frozen=True, slots=True)
class OverallRow:
    """One model over the disciplines."""

    model: str
    rank: Rank | None
    """None where a discipline is missing."""
    percentile: float | None
    """Mean of the percentiles in the disciplines, 0 to 100."""
    percentiles: tuple[float | None, ...]
    first: float | None
    """Share of all weightings of the disciplines in which the model is first."""
    scores: tuple[Score | None, ...]
    """The headline score in each discipline."""
    contrasts: tuple[RankShift | None, ...] = ()
    """From the overall rank to the rank in each discipline, among the models that are ranked."""


@dataclass(frozen=True, slots=True)
class Overall:
    boards: tuple[Board, ...]
    rows: tuple[OverallRow, ...]


def overall(boards: Sequence[Board]) -> Overall:
    """Models with a result in every discipline are ranked by the mean of their percentiles."""
    models = sorted({model for board in boards for model in board.models})
    complete = [m for m in models if all(m in board.headline.scores for board in boards)]
    shares = np.array([percentiles(board.headline.values(complete)) for board in boards])
    shares = shares.T.reshape(len(complete), len(boards))
    means = rounded(shares.mean(axis=1)) if complete else np.empty(0)
    drawn = [_among(board, complete) for board in boards]
    best, worst = (-np.mean([ends[end] for ends in drawn], axis=0) for end in (0, 1))
    overall_ranks = ranks(means, better_in_draws(worst, best)) if complete else []
    overall_drawn = drawn_ranks(worst, None if np.array_equal(worst, best) else best)
    contrasts = [
        rank_shifts(board.headline.values(complete), ends, means, overall_drawn)
        for board, ends in zip(boards, drawn, strict=True)
    ]
    wins = wins_by_weighting(shares) if complete else np.empty(0)
    rows = [
        OverallRow(
            model,
            overall_ranks[position],
            float(means[position]),
            tuple(shares[position].tolist()),
            float(wins[position]),
            tuple(board.headline.scores[model] for board in boards),
            tuple(shifts[position] for shifts in contrasts),
        )
        for position, model in enumerate(complete)
    ]
    rows.sort(key=lambda row: (row.rank.rank if row.rank else len(rows), row.model))

    def known_first(model: str) -> tuple[int, float, str]:
        """Most disciplines first, then the better known scores."""
        known = [board.headline for board in boards if model in board.headline.scores]
        return -len(known), -known_share(model, known), model

    unranked = [
        OverallRow(
            model,
            None,
            None,
            (None,) * len(boards),
            None,
            tuple(board.headline.scores.get(model) for board in boards),
        )
        for model in sorted(set(models) - set(complete), key=known_first)
    ]
    return Overall(tuple(boards), (*rows, *unranked))


def _among(board: Board, models: Sequence[str]) -> DrawnRanks:
    """The headline's ranks among some of the board's models, in the order of their names."""
    chosen = np.isin(sorted(board.models), models)
    best, worst = ranks_among(board.headline.ranked, chosen)
    return DrawnRanks(best[:, chosen], worst[:, chosen])
