"""Ranks: higher scores first, ties share the smallest rank, an interval from the paired bootstrap."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.uncertainty import LEVEL, Draws

Array = NDArray[np.float64]
TIE: Final = 1e-9
"""Scores nearer than this are equal: what adding in another order can change."""


@dataclass(frozen=True, slots=True)
class Rank:
    """1 is best. `low` to `high`: where 95 % of the draws place the model."""

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
    """Rank of each score, None for nan; ties share the smallest (EvoEval's rule)."""
    values = np.round(np.asarray(scores, dtype=float) / TIE) * TIE
    known = ~np.isnan(values)
    result: list[int | None] = [None] * len(values)
    for position, rank in zip(np.flatnonzero(known), rank_draws(values[known][None, :])[0], strict=True):
        result[int(position)] = int(rank)
    return result


def midranks(values: Array) -> Array:
    """Ranks along the last of two axes, 1 for the smallest number; equals share the mean of theirs.

    What `scipy.stats.rankdata` gives, which takes longer, and most of a second to be imported.
    """
    below, above = rank_draws(-values), rank_draws(values)
    return np.asarray((below - above + values.shape[1] + 1) / 2)


def rank_draws(draws: Draws) -> Draws:
    """Ranks within each draw; a model without a score comes last and so takes no other's place."""
    rows, models = draws.shape
    descending = -draws  # nan stays nan, which is sorted last
    order = np.argsort(descending, axis=1)  # the order among equals does not matter: they share a rank
    order += models * np.arange(rows)[:, None]
    ordered = descending.ravel()[order]
    smallest = np.broadcast_to(np.arange(1.0, models + 1), draws.shape)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) | np.isnan(ordered[:, :-1])
    if repeated.any():
        opens = np.hstack([np.ones((rows, 1), dtype=bool), ~repeated])
        smallest = np.maximum.accumulate(np.where(opens, smallest, 0.0), axis=1)
    result = np.empty(rows * models)
    result[order] = smallest
    return result.reshape(draws.shape)


def ranks(scores: Array, ranked: Draws) -> list[Rank | None]:
    """The rank of each model, with its interval from the ranks within draws."""
    own = smallest_ranks(scores)
    tail = (1 - LEVEL) / 2
    ordered = np.sort(ranked.T.astype(np.int32), axis=1)
    low, high = (ordered[:, round(share * (len(ranked) - 1))] for share in (tail, 1 - tail))
    shared = Counter(own)
    return [
        None
        if rank is None
        else Rank(rank, shared[rank] > 1, min(rank, int(low[position])), max(rank, int(high[position])))
        for position, rank in enumerate(own)
    ]


def rank_shifts(
    scores: Array, draws: Draws, baseline_scores: Array, baseline_draws: Draws
) -> list[RankShift | None]:
    """Shift of each model from its baseline rank, both among the models that have both scores."""
    both = ~np.isnan(scores) & ~np.isnan(baseline_scores)
    here = smallest_ranks(np.where(both, scores, np.nan))
    before = smallest_ranks(np.where(both, baseline_scores, np.nan))
    drawn = rank_draws(np.where(both, baseline_draws, np.nan)) - rank_draws(np.where(both, draws, np.nan))
    rises, falls = (drawn > 0).mean(axis=0), (drawn < 0).mean(axis=0)
    result: list[RankShift | None] = []
    for position, (new, old) in enumerate(zip(here, before, strict=True)):
        if new is None or old is None:
            result.append(None)
            continue
        agree = rises[position] if old > new else falls[position]
        result.append(RankShift(old - new, old != new and bool(agree >= (1 + LEVEL) / 2)))
    return result
