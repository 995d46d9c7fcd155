"""The bootstrap over tasks.

It is the Bayesian bootstrap (Rubin, The Annals of Statistics 9, 1981): each draw gives every task a weight
from the standard exponential distribution, the same for all models, which makes every comparison paired.
Tasks that were made from one seed problem hang together, in whatever suite they are; so a weight belongs to
the seed and not to the task, which is a bootstrap over clusters (Davison and Hinkley, Bootstrap Methods and
their Application, 1997, section 3.8).

Two pseudo-tasks, one at either end of the scale, keep few tasks from looking certain where all of them agree.
They weigh Gamma(1/2) each, which for pass@1 makes the posterior of Jeffreys. Ranks and shifts are made of
these draws; the intervals of scores are not (`_interval.py`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

DRAWS: Final = 2000
"""An end of an interval then lies 1.1 % of its width from where endless draws would put it, in the mean; with
twice as many it would be 0.8 %."""
DIGITS: Final = 9
"""Behind the point, of every score."""
Array = NDArray[np.float64]
Draws = NDArray[np.float64]
"""draws × models: one column of scores a model; nan where a model has no task."""
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One metric of several models over the clusters (tasks; for runtime programs) of one suite.

    Two are the same where they are one object.
    """

    suite: str
    """Names the random weights of the pseudo-tasks: two metrics of one suite share them."""
    models: tuple[str, ...]
    clusters: tuple[str, ...]
    numerators: Array
    """models × clusters; 0 where a model has no result."""
    denominators: Array
    """models × clusters; 0 where a model has no result."""
    scale: float
    maximum: float
    seeds: tuple[tuple[str, ...], ...] = ()
    """By cluster, the problems that it was made from; left out, each cluster is its own."""

    @property
    def origins(self) -> tuple[tuple[str, ...], ...]:
        """By cluster, the problems whose weights it has."""
        return self.seeds or tuple((cluster,) for cluster in self.clusters)

    @property
    def top(self) -> float:
        """The ratio, before scaling, of a model that gets everything right."""
        return self.maximum / self.scale

    def scores(self) -> Array:
        """One score a model, rounded as all scores are; nan where its denominators sum to 0."""
        return rounded(_ratio(self.numerators.sum(axis=1), self.denominators.sum(axis=1), self.scale))

    def shares(self) -> Array:
        """Models × clusters: each cluster's own score, 0 to 1; nan where a model has no result."""
        return _ratio(self.numerators, self.denominators, 1.0) / self.top

    def of_models(self, rows: Sequence[int]) -> "Sample":
        """With these rows alone."""
        models = tuple(self.models[row] for row in rows)
        return replace(
            self, models=models, numerators=self.numerators[rows], denominators=self.denominators[rows]
        )

    def tasks(self) -> NDArray[np.int64]:
        """How many clusters count, a model."""
        return np.asarray(np.count_nonzero(self.denominators, axis=1))


def generator(*names: str) -> np.random.Generator:
    """Random numbers that depend on nothing but these names, so that the same results give the same bytes."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32).tolist())


def rounded(scores: Array) -> Array:
    """Scores without the digits that the order of a sum can change, so that equal scores are equal.

    Done once, where scores are made: whatever compares them (ranks, percentiles, tiers, correlations) then
    sees the same ties.
    """
    return np.asarray(np.round(scores, DIGITS))


@lru_cache(maxsize=4)
def task_weights(origins: tuple[tuple[str, ...], ...], draws: int = DRAWS) -> Array:
    """Draws × clusters weights from the standard exponential distribution; read only.

    The weight of a seed is the sum of two halves, each Gamma(1/2). A task made from one seed has both halves
    and so the seed's weight, in whatever suite it stands. A task made from several has the first half of its
    first seed and the second half of its last: again standard exponential, correlated 1/2 with either seed.
    """
    names = dict.fromkeys(name for origin in origins for name in (origin[0], origin[-1]))
    halves = {name: _halves(name, draws) for name in names}
    weights = np.empty((len(origins), draws))
    for row, origin in zip(weights, origins, strict=True):
        np.add(halves[origin[0]][0], halves[origin[-1]][1], out=row)
    weights.flags.writeable = False
    return weights.T


def _halves(seed: str, draws: int) -> Array:
    """2 × draws; half the square of a standard normal number is Gamma(1/2)."""
    return np.asarray(np.square(generator("seed", seed).standard_normal((2, draws))) / 2)


@lru_cache(maxsize=8)
def weighted_sums(sample: Sample, draws: int = DRAWS) -> tuple[Array, Array]:
    """Numerators (scaled as the scores are) and denominators of all tasks in each draw, models × draws.

    Where all models ran the same tasks, the denominators have one row. Kept for the next look: scores, and
    every comparison of two models, are made of them.
    """
    weights = task_weights(sample.origins, draws).T
    rows = sample.denominators
    alike = len(rows) > 1 and bool((rows == rows[0]).all())
    return (sample.scale * sample.numerators) @ weights, (rows[:1] if alike else rows) @ weights


def draw(sample: Sample, draws: int = DRAWS) -> Draws:
    """Scores of every model under `draws` random weightings of the tasks: what ranks are made of.

    The pseudo-tasks are the same for every metric of a suite. Half the square of a standard normal number is
    Gamma(1/2), the weight of Jeffreys' prior. Each model has its own: models with equal results are then in
    either order equally often.
    """
    normal = generator("ends", sample.suite).standard_normal((2, draws, len(sample.models)))
    bottom, top = (np.square(numbers.T, order="C") / 2 for numbers in normal)
    numerators, denominators = weighted_sums(sample, draws)
    unit = mean_denominator(sample)[:, None]
    scores = top * (sample.maximum * unit)
    scores += numerators
    whole = (bottom + top) * unit
    whole += denominators
    with np.errstate(invalid="ignore"):
        scores /= whole  # a model without tasks: 0 / 0 is nan
    return np.asarray(scores.T)


def mean_denominator(sample: Sample) -> Array:
    """What one task weighs, a model: the size of a pseudo-task."""
    return np.asarray(sample.denominators.sum(axis=1) / np.maximum(sample.tasks(), 1))


def _ratio(numerator: Array, denominator: Array, scale: float) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominator > 0, scale * numerator / denominator, np.nan)


def central(draws: Draws) -> tuple[Array, Array]:
    """The 2.5 % and 97.5 % quantiles of each column; nan for a column that holds one."""
    low, high = np.quantile(draws, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0)
    return low, high
