"""Is one model really better than another? A paired bootstrap over the tasks that both have.

Both models get the same task weights; two pseudo-tasks of weight Exp(1), one won by either model, keep a
handful of tasks from proving anything: where one side wins all of k disputed pass/fail tasks and none is
agreed on, p = 2^-k. (Bonett and Price, Journal of Educational and Behavioral Statistics 37, 2012, add the
same two pairs in their interval for a difference of paired proportions.)

Intervals and p-values come from one distribution: the Beta distribution, on the range that a difference can
have, with the mean and the variance of the draws, and with what draws cannot show: half of what tasks made
from two seeds share, and how little few seeds say. So an interval leaves out zero where p is below 1 - LEVEL,
and one product of matrices serves all pairs of models.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations_with_replacement, compress
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from triathlon_site.uncertainty._bootstrap import (
    DRAWS,
    LEVEL,
    Array,
    Interval,
    Sample,
    by_seed,
    generator,
    mean_denominator,
    mean_scores,
    pseudo_tasks,
    rounded,
    seeds_of,
    task_weights,
    weighted_sums,
)

MANY: Final = 12
"""Different selections of tasks among the models of a suite beyond which each pair of them gets fewer draws:
a variance is then 6 % off in the mean instead of 3 %."""
FEWER: Final = 500


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


def independent_difference(
    score: float, span: Interval, other: float, other_span: Interval, tasks: int
) -> Difference:
    """Returns one score minus another one of a run whose single outcomes are not known.

    The arms of its interval are the roots of the sums of both scores' squared arms (MOVER: Zou and Donner,
    Statistics in Medicine 27, 2008, equation 2); where the other's is not known, the arms of the first alone.
    Where both ran the same tasks, it is wider than it need be.
    """
    other_span = other_span if other_span.known else Interval(other, other)
    down = math.hypot(score - span.low, other_span.high - other)
    up = math.hypot(span.high - score, other - other_span.low)
    return Difference(score - other, Interval(score - other - down, score - other + up), tasks)


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Every model minus every other, models × models each; nan where two share no task.

    Half the usual digits: a site keeps these of every column.
    """

    values: NDArray[np.float32]
    low: NDArray[np.float32]
    """Lower ends of the intervals; the upper ones are those of the second minus the first, negated."""
    tasks: NDArray[np.int32]

    @property
    def high(self) -> NDArray[np.float32]:
        """Upper ends of the intervals."""
        return -self.low.T

    @property
    def better(self) -> NDArray[np.bool_]:
        """Whether the first is better for sure: its interval leaves out zero."""
        return self.low > 0

    def of(self, first: int, second: int) -> Difference | None:
        """One of them; None where the two share no task."""
        value = float(self.values[first, second])
        if np.isnan(value):
            return None
        span = Interval(float(self.low[first, second]), -float(self.low[second, first]))
        return Difference(value, span, int(self.tasks[first, second]))


def differences(
    samples: tuple[Sample, ...], upper: tuple[Sample, ...] = (), draws: int = DRAWS
) -> Differences:
    """Every model minus every other in the mean score over `samples`.

    `upper`: where scores are only known as ranges, the samples of their upper ends; an interval then holds
    every difference that is possible. The values are those of the middles.
    """
    shared = _compared(samples, upper, draws)
    shapes = _shapes(shared.mean, shared.variance)
    low = (2 * betaincinv(*shapes, (1 - LEVEL) / 2) - 1) * samples[0].maximum
    low = np.minimum(low, shared.values)
    return Differences(
        shared.values.astype(np.float32), low.astype(np.float32), shared.tasks.astype(np.int32)
    )


def paired_p_values(samples: tuple[Sample, ...], upper: tuple[Sample, ...] = (), draws: int = DRAWS) -> Array:
    """Models × models: two-sided p-values for "the first is no better than the second".

    1 where the first does not have the higher mean score over `samples` on the tasks that both have. The tail
    is that of a distribution, so that p-values far below 1 / draws keep their order under a correction for
    many comparisons. With `upper`, the samples of upper ends, the first has to be better with its lower end
    against the upper end of the second.
    """
    shared = _compared(samples, upper, draws)
    below = betainc(*_shapes(shared.mean, shared.variance), 0.5)
    return np.asarray(np.where(shared.mean > 0, np.minimum(1.0, 2 * below), 1.0))


def paired_difference(sample: Sample, first: int, second: int, draws: int = DRAWS) -> Difference | None:
    """First minus second; None where they share no task."""
    return differences((sample.of_models([first, second]),), draws=draws).of(0, 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """Every row of some samples against every other, on the tasks that both have; models × models each."""

    values: Array
    tasks: NDArray[np.int64]
    mean: Array
    """Of the draws of a difference, as a share of the maximum; as the next, 0 where nothing is shared."""
    variance: Array


def _compared(samples: tuple[Sample, ...], upper: tuple[Sample, ...], draws: int) -> _Shared:
    """Each row of some samples against each other; with `upper`, the values of the middles, and the moments
    of a row's lower end less another's upper end.
    """
    if not upper:
        return _shared(samples, draws)
    stacked = tuple(
        replace(
            low,
            models=(*low.models, *high.models),
            numerators=np.vstack([low.numerators, high.numerators]),
            denominators=np.vstack([low.denominators, high.denominators]),
        )
        for low, high in zip(samples, upper, strict=True)
    )
    models, both = len(samples[0].models), _shared(stacked, draws)
    lower, higher = slice(models), slice(models, None)
    return _Shared(
        (both.values[lower, lower] + both.values[higher, higher]) / 2,
        both.tasks[lower, lower],
        both.mean[lower, higher],
        both.variance[lower, higher],
    )


@lru_cache(maxsize=4)
def _shared(samples: tuple[Sample, ...], draws: int) -> _Shared:
    """Computed for two groups of rows at a time; within a group all rows have the same tasks."""
    size = (len(samples[0].models),) * 2
    shared = _Shared(np.full(size, np.nan), np.zeros(size, dtype=np.int64), np.zeros(size), np.zeros(size))
    has = [sample.denominators > 0 for sample in samples]
    groups: dict[tuple[bytes, ...], list[int]] = {}
    for row in range(size[0]):
        groups.setdefault(tuple(mask[row].tobytes() for mask in has), []).append(row)
    few = draws if len(groups) <= MANY else min(draws, FEWER)
    for first, second in combinations_with_replacement(groups.values(), 2):
        both = [mask[first[0]] & mask[second[0]] for mask in has]
        if not all(mask.any() for mask in both):
            continue
        if len(groups) == 1:
            values, mean, variance = _block(samples, first, second, draws)
        else:
            rows = first if first is second else [*first, *second]
            parts = tuple(_part(sample, mask, rows) for sample, mask in zip(samples, both, strict=True))
            places = list(range(len(first))), list(range(len(rows) - len(second), len(rows)))
            values, mean, variance = _block(parts, *places, few)
        place, mirrored = np.ix_(first, second), np.ix_(second, first)
        shared.values[place], shared.mean[place], shared.variance[place] = values, mean, variance
        if first is not second:
            shared.values[mirrored], shared.mean[mirrored] = -values.T, -mean.T
            shared.variance[mirrored] = variance.T
        shared.tasks[place] = shared.tasks[mirrored] = sum(int(mask.sum()) for mask in both)
    return shared


def _part(sample: Sample, mask: NDArray[np.bool_], rows: list[int]) -> Sample:
    """These tasks and models alone."""
    return replace(
        sample,
        models=tuple(sample.models[row] for row in rows),
        clusters=tuple(compress(sample.clusters, mask)),
        numerators=sample.numerators[rows][:, mask],
        denominators=sample.denominators[rows][:, mask],
        seeds=tuple(compress(sample.origins, mask)),
    )


def _block(
    parts: tuple[Sample, ...], first: list[int], second: list[int], draws: int
) -> tuple[Array, Array, Array]:
    """Values, means and variances of the first rows less the second ones.

    Which of two models wins which pseudo-task is arbitrary: the moments are the means of both choices.
    """
    scores = mean_scores(parts)
    won, lost = _ends(parts, draws) / parts[0].maximum
    means = won.mean(axis=1), lost.mean(axis=1)
    won, lost = (ends - mean[:, None] for ends, mean in zip((won, lost), means, strict=True))
    squares = sum(np.einsum("ij,ij->i", ends, ends) for ends in (won, lost)) / draws
    products = won[first] @ lost[second].T + lost[first] @ won[second].T
    middle = (means[0] + means[1]) / 2
    variance = np.maximum((squares[first][:, None] + squares[second]) / 2 - products / draws, 0)
    if len(parts) > 1 or _share_seeds(parts[0]):
        variance = _by_seeds(parts, first, second, variance)
    return (
        rounded(scores[first][:, None] - scores[second]),
        middle[first][:, None] - middle[second],
        variance,
    )


def _share_seeds(sample: Sample) -> bool:
    """Whether any of its tasks has a seed in common with another; pseudo-tasks suffice where none has."""
    return len(seeds_of(sample.origins)) < sum(len({origin[0], origin[-1]}) for origin in sample.origins)


def _by_seeds(parts: tuple[Sample, ...], first: list[int], second: list[int], drawn: Array) -> Array:
    """The variance that was drawn, with what draws cannot show: half of what tasks made from two seeds share,
    and how little few seeds say.
    """
    seeds = by_seed(parts)
    jackknife, students = (float(factors.max()) for factors in seeds.factors())
    unseen = seeds.unseen(jackknife)
    own = np.diag(unseen)
    added = own[first][:, None] + own[second] - 2 * unseen[np.ix_(first, second)]
    return np.asarray((drawn + np.maximum(added, 0)) * jackknife * students)


def _ends(parts: tuple[Sample, ...], draws: int) -> Array:
    """2 × models × draws: the mean score over the parts of a model that wins a pseudo-task against another
    model, and of one that loses it.
    """
    total = np.zeros((2, len(parts[0].models), draws))
    for part in parts:
        ends = generator("pairs", part.suite).standard_exponential((2, draws))
        numerators, denominators = weighted_sums(part, draws)
        unit = mean_denominator(part)[:, None]
        whole = unit * ends.sum(axis=0)
        whole += denominators
        whole[unit[:, 0] == 0] = 1  # nothing is shared here: no difference
        for place, end in enumerate(ends):
            drawn = (part.maximum * unit) * end
            drawn += numerators
            drawn /= whole
            total[place] += drawn
    total /= len(parts)
    return total


def _shapes(mean: Array, variance: Array) -> tuple[Array, Array]:
    """Of the Beta distribution that has these moments on [-1, 1]."""
    mean = np.clip((mean + 1) / 2, 1e-9, 1 - 1e-9)
    size = np.maximum(mean * (1 - mean) / np.maximum(variance / 4, 1e-18) - 1, 1e-9)
    return mean * size, (1 - mean) * size


def forget_weights() -> None:
    """Empties the caches of weights, sums and scores: a hundred megabytes and more."""
    for cached in (task_weights, weighted_sums, pseudo_tasks, _shared):
        cached.cache_clear()
