"""Is one model really better than another? A paired bootstrap over the tasks that both have.

Both models get the same task weights; two pseudo-tasks of weight Exp(1), one won by either model, keep a
handful of tasks from proving anything: where one side wins all of k disputed pass/fail tasks and none is
agreed on, p = 2^-k.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from triathlon_site.uncertainty._bootstrap import (
    DRAWS,
    Array,
    Sample,
    end_weights,
    generator,
    mean_denominator,
    task_weights,
    weighted_sums,
)
from triathlon_site.uncertainty._interval import Interval, interval


def paired_p_values(
    samples: Sequence[Sample], leader: int, others: Sequence[int], draws: int = DRAWS
) -> Array:
    """Two-sided p-values for "no difference in the mean score over `samples`" between one model and others.

    The tail is that of the Beta distribution with the draws' mean and variance, so that p-values far below
    1 / draws keep their order under a correction for many comparisons. The samples are of one metric.
    """
    mean, variance = np.zeros((2, len(others)))
    for pairs in _pairs(samples, leader, others):
        found = _moments(pairs.parts, draws)
        mean[pairs.members] = found.won[pairs.leader] - found.lost[pairs.others]
        variance[pairs.members] = found.variance(pairs.leader, pairs.others)
    return _two_sided(mean / samples[0].maximum, variance / samples[0].maximum ** 2)


@dataclass(frozen=True, slots=True)
class Difference:
    """One score minus another, on the tasks that both have."""

    value: float
    interval: Interval
    tasks: int

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.interval.low > 0 or self.interval.high < 0


def paired_difference(sample: Sample, first: int, second: int, draws: int = DRAWS) -> Difference | None:
    """First minus second by the paired bootstrap; None where they share no task."""
    return mean_differences([sample], first, [second], draws)[0]


def mean_differences(
    samples: Sequence[Sample], first: int, others: Sequence[int], draws: int = DRAWS
) -> list[Difference | None]:
    """First minus each other in the mean score over `samples`; None where some sample shares no task."""
    drawn = np.zeros((len(others), draws))
    for pairs in _pairs(samples, first, others):
        won, lost = _ends(pairs.parts, draws)
        drawn[pairs.members] = won[pairs.leader] - lost[pairs.others]
    values = np.mean([[_difference(one, first, other) for other in others] for one in samples], axis=0)
    spans = interval(drawn.T, values)
    tasks = [sum(int(_shared(one, first, other).sum()) for one in samples) for other in others]
    return [
        None if np.isnan(value) else Difference(float(value), span, count)
        for value, span, count in zip(values, spans, tasks, strict=True)
    ]


def _shared(sample: Sample, first: int, second: int) -> NDArray[np.bool_]:
    return np.asarray((sample.denominators[first] > 0) & (sample.denominators[second] > 0))


def _difference(sample: Sample, first: int, second: int) -> float:
    """On the tasks that both have; nan where there are none."""
    shared = _shared(sample, first, second)
    if not shared.any():
        return float("nan")
    one, other = (
        sample.numerators[row][shared].sum() / sample.denominators[row][shared].sum()
        for row in (first, second)
    )
    return sample.scale * float(one - other)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A leader with those of the others that share the same tasks with it."""

    parts: tuple[Sample, ...]
    """The samples, of these tasks alone."""
    leader: int
    """A row of each part, as are the others."""
    others: list[int]
    members: list[int]
    """Their places among all the others."""


def _pairs(samples: Sequence[Sample], leader: int, others: Sequence[int]) -> Iterator[_Pairs]:
    """Where every task is shared, the parts are the samples: what is made of them is made once."""
    groups: dict[tuple[bytes, ...], list[int]] = {}
    for member, other in enumerate(others):
        groups.setdefault(tuple(_shared(one, leader, other).tobytes() for one in samples), []).append(member)
    for masks, members in groups.items():
        shared = [np.frombuffer(mask, dtype=bool) for mask in masks]
        rows = [others[member] for member in members]
        if all(mask.all() for mask in shared):
            yield _Pairs(tuple(samples), leader, rows, members)
        else:
            parts = tuple(
                _part(one, mask, [leader, *rows]) for one, mask in zip(samples, shared, strict=True)
            )
            yield _Pairs(parts, 0, list(range(1, len(rows) + 1)), members)


def _part(sample: Sample, shared: NDArray[np.bool_], rows: list[int]) -> Sample:
    part = sample.of_models(rows)
    return replace(part, numerators=part.numerators * shared, denominators=part.denominators * shared)


@lru_cache(maxsize=4)
def _ends(parts: tuple[Sample, ...], draws: int) -> Array:
    """2 × models × draws: the mean score over the parts of a model that wins a pseudo-task against another
    model, and of one that loses it; read only.
    """
    total = np.zeros((2, len(parts[0].models), draws))
    for part in parts:
        ends = generator("pairs", part.suite).standard_exponential((2, draws))
        sums = weighted_sums(part, draws)
        unit = mean_denominator(part)[:, None]
        whole = unit * ends.sum(axis=0)
        whole += sums.denominators
        whole[unit[:, 0] == 0] = 1  # nothing is shared here: no difference
        for place, end in enumerate(ends):
            drawn = (part.maximum * unit) * end
            drawn += sums.numerators
            drawn /= whole
            total[place] += drawn
    total /= len(parts)
    total.flags.writeable = False
    return total


@dataclass(frozen=True, slots=True)
class _Moments:
    """Of the draws of two scores, one that wins a pseudo-task and one that loses it."""

    won: Array
    """The mean of each model's draws, as in `lost`."""
    lost: Array
    of_won: Array
    """Variances."""
    of_lost: Array
    of_both: Array
    """models × models: covariances of a winner and a loser."""

    def variance(self, winner: int, losers: list[int]) -> Array:
        """Of the differences."""
        found = self.of_won[winner] + self.of_lost[losers] - 2 * self.of_both[winner, losers]
        return np.asarray(np.maximum(found, 0))


@lru_cache(maxsize=4)
def _moments(parts: tuple[Sample, ...], draws: int) -> _Moments:
    """One product of matrices has the covariances of all pairs."""
    won, lost = _ends(parts, draws)
    means = won.mean(axis=1), lost.mean(axis=1)
    won, lost = (ends - mean[:, None] for ends, mean in zip((won, lost), means, strict=True))
    of_won, of_lost = (np.einsum("ij,ij->i", one, one) / draws for one in (won, lost))
    return _Moments(*means, of_won, of_lost, won @ lost.T / draws)


def _two_sided(mean: Array, variance: Array) -> Array:
    """p-values from the moments of differences in [-1, 1], by a Beta distribution on that range."""
    mean = np.clip((mean + 1) / 2, 1e-9, 1 - 1e-9)
    variance = np.maximum(variance / 4, 1e-18)
    size = np.maximum(mean * (1 - mean) / variance - 1, 1e-9)
    below = betainc(mean * size, (1 - mean) * size, 0.5)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(below, 1 - below)))


def forget_weights() -> None:
    """Gives back the memory of what is kept: weights, their sums and scores, a hundred megabytes and more."""
    for kept in (task_weights, weighted_sums, end_weights, _ends, _moments):
        kept.cache_clear()
