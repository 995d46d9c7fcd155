"""The interval around a score."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from triathlon_site.uncertainty._bootstrap import STEP, Draws, Sample

Array = NDArray[np.float64]

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The central 95 %, widened to hold the score itself."""

    low: float
    high: float

    @property
    def known(self) -> bool:
        return not math.isnan(self.low)


def interval(draws: tuple[Draws, Draws], scores: Array) -> list[Interval]:
    """One interval a model from draws × models, those for the lower and those for the upper ends."""
    low, high = (central(end_draws)[end] for end, end_draws in enumerate(draws))
    ends = np.minimum(low, scores).tolist(), np.maximum(high, scores).tolist()
    return [Interval(*pair) for pair in zip(*ends, strict=True)]


def share_interval(solved: float, tasks: float) -> Interval:
    """Of a share of pass/fail tasks, 0 to 1: what `interval` gives for pass@1, without drawing.

    Quantiles of Beta(k + 1/4, n - k + 3/4) and Beta(k + 3/4, n - k + 1/4); see `draw_ends`.
    """
    few, many, tail = 0.5 - STEP, 0.5 + STEP, (1 - LEVEL) / 2
    low = float(betaincinv(solved + few, tasks - solved + many, tail))
    high = float(betaincinv(solved + many, tasks - solved + few, 1 - tail))
    return Interval(min(low, solved / tasks), max(high, solved / tasks))


def pass_fail_interval(sample: Sample, row: int) -> Interval | None:
    """What `interval` would give a model after endless draws, where a formula says it.

    So equal counts have equal intervals, whatever the suite, and what few draws leave to chance is gone.

    Args:
        sample: The metric on the tasks of one suite.
        row: The model's.

    Returns:
        None where tasks are not simply passed or failed, weigh differently, or share a seed problem, so that
        their weights depend on each other: only draws tell then.
    """
    ran = sample.denominators[row] > 0
    weights = sample.denominators[row, ran]
    shares = sample.numerators[row, ran] / weights / sample.top
    if not weights.size or np.ptp(weights) > 0 or not np.isin(shares, (0.0, 1.0)).all():
        return None
    origins = (origin for origin, here in zip(sample.origins, ran, strict=True) if here)
    seeds = [name for origin in origins for name in {origin[0], origin[-1]}]
    if len(set(seeds)) < len(seeds):
        return None
    span = share_interval(float(shares.sum()), len(weights))
    return Interval(span.low * sample.maximum, span.high * sample.maximum)


def central(draws: Draws) -> tuple[Array, Array]:
    """The 2.5 % and 97.5 % quantiles of each column; nan for a column that holds one."""
    low, high = np.quantile(draws, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0)
    return low, high
