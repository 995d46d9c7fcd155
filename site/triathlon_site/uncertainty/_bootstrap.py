"""The bootstrap over tasks, and intervals of scores.

It is the Bayesian bootstrap (Rubin, The Annals of Statistics 9, 1981): each draw gives every task a weight
from the standard exponential distribution, the same for all models, which makes every comparison paired.
Tasks that were made from one seed problem hang together, in whatever suite they are; so a weight belongs to
the seed and not to the task, which is a bootstrap over clusters (Davison and Hinkley, Bootstrap Methods and
their Application, 1997, section 3.8).

Two pseudo-tasks, one at either end of the scale, keep few tasks from looking certain where all of them agree.
They weigh Gamma(1/2) each, which for pass@1 makes the posterior of Jeffreys. Ranks and shifts are made of
these draws; the intervals of scores are not, but of the spread of the tasks' own scores.

A score is a share of its maximum, p. Korn and Graubard (Survey Methodology 24, 1998) take for a share that is
estimated from clusters the exact interval of a binomial share with as many tasks as would give the variance
that was seen, N = p (1 - p) / variance. So here: the ends are quantiles of Beta(k + 1/4, N - k + 3/4) and
Beta(k + 3/4, N - k + 1/4) with k = p N, half way from Jeffreys' interval to the one of Clopper and Pearson,
since a count of solved tasks can only be whole. Of tasks that pass or fail, N is their number.

The variance counts whatever tasks with a seed in common have in common, also where each is made from two
seeds (Aronow, Samii and Assenova, Political Analysis 23, 2015); weights can show but half of that. It is
estimated, from few seeds maybe, and scores of tasks may be skewed. So there

- the share of a seed in the mean that it is compared with is undone, and the variance has the factor of
  Student's t (`BySeed.factors`);
- one more seed as far from the mean as the farthest is added to the variance with half a weight;
- where a few seeds make the whole distance from an end of the scale, the variance goes to that of as many
  tasks that pass or fail as have no seed in common, and no skewness is believed: a handful shows neither;
- the tails are moved by what the skewness exceeds that of a share of pass and fail (the first term of the
  expansion of Cornish and Fisher).

`python benchmarks/coverage.py` simulates how often such intervals hold the truth.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

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
        return mean_scores([self])

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


def mean_scores(samples: Sequence[Sample]) -> Array:
    """One score a model, its mean over the samples, rounded at the end alone: parts that were rounded before
    would make equal means differ. Nan where a model lacks a part.
    """
    sums = ((one.numerators.sum(axis=1), one.denominators.sum(axis=1), one.scale) for one in samples)
    return rounded(np.mean([_ratio(*of_sample) for of_sample in sums], axis=0))


def seeds_of(origins: Sequence[tuple[str, ...]]) -> list[str]:
    """The seeds of these clusters, each once; of a cluster made from several its first and its last."""
    return list(dict.fromkeys(name for origin in origins for name in (origin[0], origin[-1])))


@lru_cache(maxsize=4)
def task_weights(origins: tuple[tuple[str, ...], ...], draws: int = DRAWS) -> Array:
    """Draws × clusters weights from the standard exponential distribution; read only.

    The weight of a seed is the sum of two halves, each Gamma(1/2). A task made from one seed has both halves
    and so the seed's weight, in whatever suite it stands. A task made from several has the first half of its
    first and of its last seed: again standard exponential, correlated 1/2 with either seed and with each task
    that shares one of them.
    """
    # Two by draws for each; half the square of a standard normal number is Gamma(1/2).
    normal = {name: generator("seed", name).standard_normal((2, draws)) for name in seeds_of(origins)}
    halves = {name: np.square(numbers) / 2 for name, numbers in normal.items()}
    weights = np.empty((len(origins), draws))
    for row, origin in zip(weights, origins, strict=True):
        np.add(halves[origin[0]][0], halves[origin[-1]][int(origin[0] == origin[-1])], out=row)
    weights.flags.writeable = False
    return weights.T


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


@lru_cache(maxsize=2)
def pseudo_tasks(suite: str, models: int, draws: int) -> tuple[Array, Array]:
    """Weights of the pseudo-task that is solved, and of it and the other together, models × draws each.

    Half the square of a standard normal number is Gamma(1/2), the weight of Jeffreys' prior. Each model has
    its own: models with equal results are then in either order equally often.
    """
    normal = generator("ends", suite).standard_normal((2, draws, models))
    bottom, top = (np.square(numbers.T, order="C") / 2 for numbers in normal)
    return top, bottom + top


def draw(sample: Sample, draws: int = DRAWS) -> Draws:
    """Scores of every model under `draws` random weightings of the tasks: what ranks are made of.

    The pseudo-tasks are the same for every metric of a suite.
    """
    top, both = pseudo_tasks(sample.suite, len(sample.models), draws)
    numerators, denominators = weighted_sums(sample, draws)
    unit = mean_denominator(sample)[:, None]
    scores = top * (sample.maximum * unit)
    scores += numerators
    whole = both * unit
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


STEP: Final = 0.25
"""Of a task: how much further out either end of an interval lies than that of Jeffreys. The latter holds
some chances of pass@1 in 88 % of the cases only (40 and 100 tasks), this one all from 2 to 98 % in 94 %."""
ENDS: Final = ((0.5 - STEP, 0.5 + STEP), (0.5 + STEP, 0.5 - STEP))
"""Pseudo-tasks added to the solved and to the unsolved tasks for the lower and for the upper end."""
FEW: Final = 3
"""Seeds that make the distance from the end of the scale: with so many, e⁻¹ of the variance is that of pass
or fail."""
FEWEST_SEEDS: Final = 5
"""Of either score, for an interval of their ratio: with fewer its ends say nothing, since the logarithm of a
share near 0 has no lower end."""
FARTHEST: Final = 0.5
"""Weight of the seed that is added as far from the mean as the farthest."""
MOST_SKEW: Final = 1.0
"""More of it is not corrected: the correction is a series that ends early."""
_TAIL: Final = (1 - LEVEL) / 2
Z: Final = float(ndtri(1 - _TAIL))
"""Of the standard normal distribution, the ends of the central 95 %."""
_SHIFT: Final = (2 * Z * Z + 1) / 6


@dataclass(frozen=True, slots=True)
class Interval:
    """The central 95 %, widened to hold the score itself; without ends where it is not known."""

    low: float = math.nan
    high: float = math.nan

    @property
    def known(self) -> bool:
        return not math.isnan(self.low)


def score_intervals(samples: Sequence[Sample]) -> list[Interval]:
    """Returns the interval of each model's mean score over some samples of the same models and maximum.

    Models with equal outcomes have equal intervals. `Interval.known` is false of a model without tasks.
    """
    (share, trials, skew), maximum = _shape(samples), samples[0].maximum
    solved, failed = share * trials, trials - share * trials
    low, high = (
        np.round(maximum * betaincinv(solved + more, failed + less, ndtr(skew * _SHIFT + z)), DIGITS)
        for (more, less), z in zip(ENDS, (-Z, Z), strict=True)
    )
    score = rounded(maximum * share)
    ends = np.minimum(low, score).tolist(), np.maximum(high, score).tolist()
    return [Interval(*pair) for pair in zip(*ends, strict=True)]


def share_interval(solved: float, tasks: float, seeds: Sequence[tuple[str, ...]] = ()) -> Interval:
    """Of a share of pass/fail tasks, 0 to 1: what `score_intervals` gives for pass@1.

    `seeds`: what each task was made from, of the solved ones first; left out, each is its own.
    """
    if seeds:
        passes = np.array([np.arange(len(seeds)) < solved], float)
        sample = Sample("", ("",), (), passes, np.ones_like(passes), 1.0, 1.0, tuple(seeds))
        return score_intervals([sample])[0]
    low, high = (
        float(betaincinv(solved + more, tasks - solved + less, tail))
        for (more, less), tail in zip(ENDS, (_TAIL, 1 - _TAIL), strict=True)
    )
    return Interval(min(low, solved / tasks), max(high, solved / tasks))


def ratio_interval(before: Sample, after: Sample) -> Interval:
    """Of one model's score in `after`, as a share of that in `before`; without ends where either has fewer
    tasks or seeds than `FEWEST_SEEDS`.

    The ends are quantiles of draws; on the scale of logarithms, they lie further from the median by what few
    seeds and tasks made from two seeds need.
    """
    for sample in (before, after):
        origins = list(compress(sample.origins, sample.denominators[0] > 0))
        if min(len(origins), len(seeds_of(origins))) < FEWEST_SEEDS:
            return Interval()
    logs = np.log(draw(after) / draw(before))[:, 0]
    jackknife, students = (float(factor[0]) for factor in by_seed([before, after]).factors())
    added = sum(
        max(by_seed([sample]).unseen(jackknife)[0, 0], 0) / _share(sample)[0] ** 2
        for sample in (before, after)
        if sample.numerators.any()
    )
    wider = math.sqrt((1 + added / logs.var()) * jackknife * students)
    middle = np.median(logs)
    return Interval(*(float(np.exp(middle + wider * (end - middle))) for end in central(logs)))


def _shape(samples: Sequence[Sample]) -> tuple[Array, Array, Array]:
    """By model: a score as a share of its maximum, how many tasks that pass or fail have the same spread, and
    by how much the skewness exceeds that of these.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share, seeds = np.mean([_share(sample) for sample in samples], axis=0), by_seed(samples)
        off, apart = seeds.alone + seeds.related, seeds.apart()
        squares, twice, far = (off**2).sum(1), (seeds.twice**2).sum(1), (off**2).max(1, initial=0)
        variance, of_pass_or_fail = np.maximum(squares - twice, squares / 2), share * (1 - share) / apart
        plain = np.isclose(variance, of_pass_or_fail, rtol=1e-9, atol=0)
        jackknife, students = seeds.factors()
        spread = np.maximum(jackknife * squares - twice, squares / 2) * students + FARTHEST * far
        makers = np.minimum(_even(seeds.solved), _even(seeds.weights - seeds.solved))
        unsure = np.exp(-makers / FEW)
        spread = np.where(plain, variance, spread + unsure * np.maximum(of_pass_or_fail - spread, 0))
        trials = np.where(spread > 0, share * (1 - share) / spread, apart)
        third = (off**3).sum(1) - (seeds.twice**3).sum(1)
        skew = third / variance**1.5 - (1 - 2 * share) / np.sqrt(trials * share * (1 - share))
    seen = np.where(plain | ~np.isfinite(skew), 0.0, 1 - unsure)
    skew = seen * np.clip(np.nan_to_num(skew), -MOST_SKEW, MOST_SKEW)
    return share, np.where(trials > 0, trials, np.nan), skew


def _share(sample: Sample) -> Array:
    """By model, the score as a share of its maximum."""
    shares = sample.numerators.sum(axis=1) / sample.denominators.sum(axis=1) / sample.top
    return np.asarray(np.clip(shares, 0.0, 1.0))


def _even(parts: Array) -> Array:
    """By row, how many equal parts would be as uneven: Kish's effective number."""
    return np.asarray(rounded(parts.sum(axis=1)) ** 2 / np.maximum((parts**2).sum(axis=1), 1e-12))


@dataclass(frozen=True, slots=True, eq=False)
class BySeed:
    """What the tasks of each seed do to mean scores, as shares of their maximum; models × seeds each."""

    alone: Array
    """What the tasks made from it alone move a score by."""
    related: Array
    """What those made from it and another do."""
    weights: Array
    """The part of a score that its tasks make: a sum of 1, or of 2 where all tasks have two seeds."""
    solved: Array
    """The part of that which a model got."""
    twice: Array
    """Models × tasks with two seeds: what each moves a score by, which `related` has twice."""

    def apart(self) -> Array:
        """By model, how many tasks without a common seed weigh as much as these."""
        return np.asarray(_even(self.weights) / self.weights.sum(axis=1))

    def factors(self) -> tuple[Array, Array]:
        """By model, what few seeds need: a factor of the squares of what each moves, and one of the variance.

        A seed also moves the mean that its tasks are compared with, twice as much where all have two seeds.
        The first undoes that, as the jackknife does: n (n - 1) / (n - 1)² of n equal seeds, and
        n (n - 1) / (n - 2)² of tasks with two. The second is Student's t in place of the normal distribution
        (as Hesterberg, The American Statistician 69, 2015, widens bootstrap intervals).
        """
        made = self.weights.sum(axis=1)
        seeds = np.maximum(_even(self.weights), made + 1)
        students = stdtrit(np.maximum(seeds / made - 1, 1), 1 - _TAIL) / Z
        return seeds * (seeds - 1) / (seeds - made) ** 2, students**2

    def unseen(self, jackknife: float) -> Array:
        """Models × models: the covariance that draws cannot show, half of what tasks made from two seeds
        share; to be multiplied by `jackknife`, as what was drawn is.
        """
        half = (self.alone + self.related / 2) @ self.related.T / 2
        return np.asarray(half + half.T - self.twice @ self.twice.T / jackknife)


def by_seed(samples: Sequence[Sample]) -> BySeed:
    """For the mean score over the samples."""
    names = seeds_of([origin for sample in samples for origin in sample.origins])
    place = {name: row for row, name in enumerate(names)}
    models = len(samples[0].models)
    alone, related = np.zeros((2, len(place), 3 * models))
    twice = []
    for sample in samples:
        whole = sample.denominators.sum(axis=1, keepdims=True) * len(samples)
        weights, solved = sample.denominators / whole, sample.numerators / sample.top / whole
        parts = np.concatenate([solved - _share(sample)[:, None] * weights, weights, solved]).T
        ends = [[place[origin[0]], place[origin[-1]]] for origin in sample.origins]
        first, last = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        two = first != last
        tasks = np.arange(len(two))
        for sums, seeds, made in ((alone, first, ~two), (related, first, two), (related, last, two)):
            sums[:] += coo_array((made, (seeds, tasks)), (len(place), len(tasks))) @ parts
        twice.append(parts[two, :models].T)
    _, weights, solved = np.split((alone + related).T, 3)
    return BySeed(alone.T[:models], related.T[:models], weights, solved, np.concatenate(twice, axis=1))
