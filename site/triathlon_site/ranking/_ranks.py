"""Ranks: higher scores first, ties share the smallest rank, an interval from comparisons with all others."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from triathlon_site.uncertainty import LEVEL, Draws

Array = NDArray[np.float64]
Places = NDArray[np.int32]
"""draws × models: the rank of each model within each draw."""


class DrawnRanks(NamedTuple):
    """The ranks within each draw, draws × models; two numbers where scores are only known as ranges."""

    best: Places
    """The model's upper end against the lower ends of the others."""
    worst: Places
    """The model's lower end against the upper ends of the others; the same object as `best` where no score is
    a range."""


@dataclass(frozen=True, slots=True)
class Rank:
    """1 is best.

    `low`: one more than the number of models that are better for sure; `high`: all but those that are worse
    for sure.
    """

    rank: int
    tied: bool
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class RankShift:
    """Rank by a baseline minus rank by this column; positive: rises."""

    shift: int
    significant: bool
    """True where the central 95 % of the drawn shifts leave out zero, on the side of the shift."""


def smallest_ranks(scores: Sequence[float] | Array) -> list[int | None]:
    """Rank of each score, None for nan; ties share the smallest (EvoEval's rule). Scores come rounded."""
    values = np.asarray(scores, dtype=float)
    places = rank_draws(values[None, :])[0].tolist()
    return [None if unknown else place for place, unknown in zip(places, np.isnan(values), strict=True)]


def rank_draws(draws: Draws) -> Places:
    """Ranks within each draw; models without a score share the last place and so take no other's."""
    ranked = pd.DataFrame(draws).rank(axis=1, method="min", ascending=False, na_option="bottom")
    return ranked.to_numpy().astype(np.int32)


def drawn_ranks(draws: Draws, upper: Draws | None = None) -> DrawnRanks:
    """Ranks within each draw.

    Args:
        draws: draws × models; of the lower ends, where scores are only known as ranges.
        upper: of the upper ends.
    """
    if upper is None:
        places = rank_draws(draws)
        return DrawnRanks(places, places)
    best, worst = (np.empty(draws.shape, dtype=np.int32) for _ in range(2))
    for row, (low, high) in enumerate(zip(draws, upper, strict=True)):
        best[row] = _ranks_against(low, high)
        worst[row] = _ranks_against(high, low)
    return DrawnRanks(best, worst)


def _ranks_against(opponents: Array, scores: Array) -> NDArray[np.int64]:
    """1 + how many of the opponents are higher, for each score; a model without a score comes last."""
    known = np.sort(opponents[~np.isnan(opponents)])
    places = 1 + len(known) - np.searchsorted(known, scores, side="right")
    return np.where(np.isnan(scores), len(known) + 1, np.minimum(places, max(len(known), 1)))


def ranks_among(ranked: DrawnRanks, chosen: NDArray[np.bool_]) -> DrawnRanks:
    """The ranks where only the chosen models count; the others come last."""
    if chosen.all():
        return ranked
    high, low = (np.where(chosen, -places, np.nan) for places in ranked)
    return drawn_ranks(low, None if ranked.best is ranked.worst else high)


def ranks(scores: Array, better: NDArray[np.bool_]) -> list[Rank | None]:
    """The rank of each model, with its interval: the places that the comparisons with the others leave.

    It is the confidence set of Mogstad, Romano, Shaikh and Wilhelm (Review of Economic Studies 91, 2024,
    section 3) with each comparison at 5 %: over all models of a table together 95 % of the intervals hold the
    true rank, also where all are equal. (The quantiles of the ranks within draws hold 76 % there, with 40
    models, since the observed scores are further apart than the true ones.)

    Args:
        scores: nan where a model has none.
        better: models × models, whether the first is better than the second for sure.
    """
    observed = smallest_ranks(scores)
    count = len(observed) - observed.count(None)
    ends = (1 + better.sum(axis=0)).tolist(), (count - better.sum(axis=1)).tolist()
    shared = Counter(observed)
    return [
        None if rank is None else Rank(rank, shared[rank] > 1, min(rank, low), max(rank, high))
        for rank, low, high in zip(observed, *ends, strict=True)
    ]


def better_in_draws(low: Array, high: Array) -> NDArray[np.bool_]:
    """Models × models: whether 97.5 % of the draws have the first above the second, its `low` over `high`."""
    share = (1 + LEVEL) / 2
    return np.array([(low[:, [model]] > high).mean(axis=0) >= share for model in range(low.shape[1])])


def rank_shifts(
    scores: Array, ranked: DrawnRanks, baseline_scores: Array, baseline_ranked: DrawnRanks
) -> list[RankShift | None]:
    """Shift of each model from its baseline rank, both among the models that have both scores.

    The draws of both are made with the same weights: what moves both ranks does not count. Where a score is
    only known as a range, a rise needs the worst rank that it allows, a fall the best.
    """
    has_both = ~np.isnan(scores) & ~np.isnan(baseline_scores)
    new_ranks = smallest_ranks(np.where(has_both, scores, np.nan))
    old_ranks = smallest_ranks(np.where(has_both, baseline_scores, np.nan))
    drawn, baseline = ranks_among(ranked, has_both), ranks_among(baseline_ranked, has_both)
    rises = (baseline.best > drawn.worst).mean(axis=0)
    falls = (baseline.worst < drawn.best).mean(axis=0)
    result: list[RankShift | None] = []
    for position, (new, old) in enumerate(zip(new_ranks, old_ranks, strict=True)):
        if new is None or old is None:
            result.append(None)
            continue
        agree = rises[position] if old > new else falls[position]
        result.append(RankShift(old - new, old != new and bool(agree >= (1 + LEVEL) / 2)))
    return result
