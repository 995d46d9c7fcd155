"""Ranks: higher scores first, ties share the smallest rank, an interval from the paired bootstrap."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.uncertainty import LEVEL, Draws

Array = NDArray[np.float64]
Places = NDArray[np.int32]
"""draws × models: the rank of each model within each draw."""
BLOCK: Final = 500
"""Draws that are ranked at a time: those of a hundred models fit into a processor's cache."""
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


def rank_draws(draws: Draws) -> Places:
    """Ranks within each draw; a model without a score comes last and so takes no other's place."""
    result = np.empty(draws.shape, dtype=np.int32)
    for start in range(0, len(draws), BLOCK):
        result[start : start + BLOCK] = _rank_rows(draws[start : start + BLOCK])
    return result


def _rank_rows(draws: Draws) -> Places:
    rows, models = draws.shape
    descending = np.negative(draws, order="C")  # nan stays nan, which is sorted last
    order = np.argsort(descending, axis=1)  # the order among equals does not matter: they share a rank
    order += models * np.arange(rows)[:, None]
    ordered = descending.ravel()[order]
    smallest = np.tile(np.arange(1, models + 1, dtype=np.int32), (rows, 1))
    repeated = ordered[:, 1:] == ordered[:, :-1]
    if np.isnan(ordered[:, -1:]).any():
        repeated |= np.isnan(ordered[:, :-1])
    if repeated.any():
        smallest[:, 1:][repeated] = 1
        np.maximum.accumulate(smallest, axis=1, out=smallest)
    result = np.empty(rows * models, dtype=np.int32)
    result[order.ravel()] = smallest.ravel()
    return result.reshape(draws.shape)


def ranks_among(ranked: Places, chosen: NDArray[np.bool_]) -> Places:
    """What the ranks are where only the chosen models count; the others come last."""
    return ranked if chosen.all() else rank_draws(np.where(chosen, -ranked, np.nan))


def ranks(scores: Array, ranked: Places) -> list[Rank | None]:
    """The rank of each model, with its interval from the ranks within draws."""
    own = smallest_ranks(scores)
    by_model = ranked.T.copy()
    tail = (1 - LEVEL) / 2
    ends = [_nearest(by_model, share) for share in (tail, 1 - tail)]
    shared = Counter(own)
    return [
        None if rank is None else Rank(rank, shared[rank] > 1, min(rank, low), max(rank, high))
        for rank, low, high in zip(own, *ends, strict=True)
    ]


def _nearest(rows: Places, share: float) -> list[int]:
    """The quantile of each row, without reading between two numbers; reorders the rows."""
    place = round(share * (rows.shape[1] - 1))
    rows.partition(place, axis=1)
    return [int(rank) for rank in rows[:, place]]


def rank_shifts(
    scores: Array, ranked: Places, baseline_scores: Array, baseline_ranked: Places
) -> list[RankShift | None]:
    """Shift of each model from its baseline rank, both among the models that have both scores."""
    both = ~np.isnan(scores) & ~np.isnan(baseline_scores)
    here = smallest_ranks(np.where(both, scores, np.nan))
    before = smallest_ranks(np.where(both, baseline_scores, np.nan))
    drawn = ranks_among(baseline_ranked, both) - ranks_among(ranked, both)
    rises, falls = (drawn > 0).mean(axis=0), (drawn < 0).mean(axis=0)
    result: list[RankShift | None] = []
    for position, (new, old) in enumerate(zip(here, before, strict=True)):
        if new is None or old is None:
            result.append(None)
            continue
        agree = rises[position] if old > new else falls[position]
        result.append(RankShift(old - new, old != new and bool(agree >= (1 + LEVEL) / 2)))
    return result
