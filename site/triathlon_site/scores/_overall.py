"""The board over all disciplines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triathlon_site.ranking import Rank, percentiles, rank_draws, ranks, ranks_among, wins_by_weighting
from triathlon_site.scores._table import Board, Score, known_share


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


@dataclass(frozen=True, slots=True)
class Overall:
    boards: tuple[Board, ...]
    rows: tuple[OverallRow, ...]


def overall(boards: Sequence[Board]) -> Overall:
    """Models with a result in every discipline are ranked by the mean of their percentiles."""
    models = sorted({model for board in boards for model in board.models})
    complete = [m for m in models if all(m in board.headline.scores for board in boards)]
    shares = np.array(
        [percentiles([board.headline.scores[m].value for m in complete]) for board in boards]
    ).T.reshape(len(complete), len(boards))
    means = shares.mean(axis=1) if complete else np.empty(0)
    placed = ranks(means, rank_draws(_drawn_means(boards, complete))) if complete else []
    wins = wins_by_weighting(shares) if complete else []
    rows = [
        OverallRow(
            model,
            placed[position],
            float(means[position]),
            tuple(float(share) for share in shares[position]),
            wins[position].first,
            tuple(board.headline.scores[model] for board in boards),
        )
        for position, model in enumerate(complete)
    ]
    rows.sort(key=lambda row: (row.rank.rank if row.rank else len(rows), row.model))
    rest = sorted(set(models) - set(complete), key=lambda model: _known_first(model, boards))
    return Overall(tuple(boards), (*rows, *(_unranked(model, boards) for model in rest)))


def _drawn_means(boards: Sequence[Board], models: Sequence[str]) -> np.typing.NDArray[np.float64]:
    """Draws × models: the mean place within each draw, negated; the disciplines' draws are independent."""
    total: np.typing.NDArray[np.float64] = np.zeros(1)
    for board in boards:
        chosen = np.isin(sorted(board.models), models)
        total = total - ranks_among(board.headline.ranked, chosen)[:, chosen]
    return total / len(boards)


def _known_first(model: str, boards: Sequence[Board]) -> tuple[int, float, str]:
    """Those with most disciplines first, the better of them by what is known."""
    known = [board.headline for board in boards if model in board.headline.scores]
    return -len(known), -known_share(model, known), model


def _unranked(model: str, boards: Sequence[Board]) -> OverallRow:
    scores = tuple(board.headline.scores.get(model) for board in boards)
    return OverallRow(model, None, None, (None,) * len(boards), None, scores)
