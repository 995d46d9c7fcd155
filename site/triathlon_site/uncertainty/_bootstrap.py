"""The bootstrap over tasks.

It is the Bayesian bootstrap (Rubin, The Annals of Statistics 9, 1981): each draw gives every task a weight
from the standard exponential distribution, the same for all models, which makes every comparison paired. Two
pseudo-tasks of weight Gamma(1/2), one at either end of the scale, keep the interval honest where few tasks
were run or all of them agree; for pass@1 the result is exactly the Jeffreys interval. The plain percentile
bootstrap would give a model that solves 0 of 10 tasks the interval 0 to 0.
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
Array = NDArray[np.float64]
Draws = NDArray[np.float64]
"""draws × models: one column of scores a model; nan where a model has no task."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One metric of several models over the clusters (tasks; for runtime programs) of one suite.

    Two are the same where they are one object.
    """

    suite: str
    """Seeds the weights: two metrics of one suite share them, so that their ranks can be compared too."""
    models: tuple[str, ...]
    clusters: tuple[str, ...]
    numerators: Array
    """models × clusters; 0 where a model has no result."""
    denominators: Array
    """models × clusters; 0 where a model has no result."""
    scale: float
    maximum: float

    @property
    def top(self) -> float:
        """The ratio, before scaling, of a model that gets everything right."""
        return self.maximum / self.scale

    def scores(self) -> Array:
        """One score a model; nan where its denominators sum to 0."""
        return _ratio(self.numerators.sum(axis=1), self.denominators.sum(axis=1), self.scale)

    def shares(self) -> Array:
        """Models × clusters: each cluster's own score, 0 to 1; nan where a model has no result."""
        return _ratio(self.numerators, self.denominators, 1.0) / self.top

    def of_models(self, rows: Sequence[int]) -> "Sample":
        """With these rows alone."""
        return replace(
            self,
            models=tuple(self.models[row] for row in rows),
            numerators=self.numerators[rows],
            denominators=self.denominators[rows],
        )

    def tasks(self) -> NDArray[np.int64]:
        """How many clusters count, a model."""
        return np.asarray(np.count_nonzero(self.denominators, axis=1))


def generator(*names: str) -> np.random.Generator:
    """Random numbers that depend on nothing but these names, so that the same results give the same bytes."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32).tolist())


@lru_cache(maxsize=2)
def task_weights(suite: str, clusters: int, draws: int = DRAWS) -> Array:
    """Draws × clusters exponential weights, the same for every model and metric of the suite; read only."""
    weights = generator("tasks", suite).standard_exponential((draws, clusters))
    weights.flags.writeable = False
    return weights


@dataclass(frozen=True, slots=True)
class Sums:
    """What the tasks of a sample add up to in each draw, before the pseudo-tasks; read only."""

    numerators: Array
    """models × draws; scaled as the scores are."""
    denominators: Array
    """models × draws; of one row where all models ran the same tasks."""


@lru_cache(maxsize=8)
def weighted_sums(sample: Sample, draws: int = DRAWS) -> Sums:
    """Kept for the next look: scores, and every comparison of two models, are made of them."""
    weights = task_weights(sample.suite, len(sample.clusters), draws).T
    rows = sample.denominators
    alike = len(rows) > 1 and bool((rows == rows[0]).all())
    return Sums((sample.scale * sample.numerators) @ weights, (rows[:1] if alike else rows) @ weights)


def draw(sample: Sample, draws: int = DRAWS) -> Draws:
    """Scores of every model under `draws` random weightings of the tasks."""
    sums = weighted_sums(sample, draws)
    top, both = end_weights(sample.suite, len(sample.models), draws)
    unit = mean_denominator(sample)[:, None]
    scores = top * (sample.maximum * unit)
    scores += sums.numerators
    whole = both * unit
    whole += sums.denominators
    with np.errstate(invalid="ignore"):
        scores /= whole  # a model without tasks: 0 / 0 is nan
    return scores.T


@lru_cache(maxsize=2)
def end_weights(suite: str, models: int, draws: int) -> tuple[Array, Array]:
    """Models × draws weights of the pseudo-task at the top and of both, the same for every metric of a suite.

    Half the square of a standard normal number is Gamma(1/2), the weight of Jeffreys' prior.
    """
    normal = generator("ends", suite).standard_normal((2, draws, models))
    bottom, top = (np.square(one.T, order="C") / 2 for one in normal)
    both = bottom + top
    for kept in (top, both):
        kept.flags.writeable = False
    return top, both


def mean_denominator(sample: Sample) -> Array:
    """What one task weighs, a model: the size of a pseudo-task."""
    return np.asarray(sample.denominators.sum(axis=1) / np.maximum(sample.tasks(), 1))


def _ratio(numerator: Array, denominator: Array, scale: float) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominator > 0, scale * numerator / denominator, np.nan)
