"""Spearman's rho and Kendall's tau-b between two columns, with a bootstrap over models."""

import math
import warnings
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, rankdata, spearmanr

from triathlon_site.uncertainty import LEVEL, generator

Array = NDArray[np.float64]
DRAWS: Final = 2000
FEWEST: Final = 3
"""Fewer models say nothing: two always agree or disagree completely."""
FEWEST_FOR_INTERVAL: Final = 5


@dataclass(frozen=True, slots=True)
class Correlation:
    """Between two columns over the n models that have both; nan where it cannot be said."""

    n: int
    spearman: float = math.nan
    spearman_low: float = math.nan
    spearman_high: float = math.nan
    kendall: float = math.nan
    kendall_low: float = math.nan
    kendall_high: float = math.nan


def correlate(left: Array, right: Array, name: str = "") -> Correlation:
    """Both coefficients with percentile intervals over resampled models; `name` seeds the resampling."""
    both = ~np.isnan(left) & ~np.isnan(right)
    left, right, n = left[both], right[both], int(both.sum())
    if n < FEWEST or np.ptp(left) == 0 or np.ptp(right) == 0:
        return Correlation(n)
    spearman, kendall = float(spearmanr(left, right).statistic), float(kendalltau(left, right).statistic)
    if n < FEWEST_FOR_INTERVAL:
        return Correlation(n, spearman=spearman, kendall=kendall)
    chosen = generator("models", name).integers(n, size=(_draws(n), n))
    return Correlation(
        n,
        spearman,
        *_central(_spearman_draws(left, right, chosen)),
        kendall,
        *_central(_kendall_draws(left, right, chosen)),
    )


def leave_one_out(left: Array, right: Array) -> tuple[float, float]:
    """Smallest and largest Spearman when any one model is left out; nan where fewer than four have both."""
    both = ~np.isnan(left) & ~np.isnan(right)
    left, right = left[both], right[both]
    if len(left) <= FEWEST:
        return math.nan, math.nan
    kept = np.array([np.delete(np.arange(len(left)), index) for index in range(len(left))])
    values = _spearman_draws(left, right, kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(np.nanmin(values)), float(np.nanmax(values))


def _draws(n: int) -> int:
    """Fewer resamples for many models: the work grows with n², the width of the interval falls with √n."""
    return DRAWS if n <= 200 else 400


def _spearman_draws(left: Array, right: Array, chosen: NDArray[np.int64]) -> Array:
    """Pearson's r of the midranks of each resample."""
    x = rankdata(left[chosen], axis=1)
    y = rankdata(right[chosen], axis=1)
    x -= x.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1)))


def _kendall_draws(left: Array, right: Array, chosen: NDArray[np.int64]) -> Array:
    """tau-b of each resample: a model drawn k times stands k times, its copies tied with each other."""
    n = len(left)
    counts = np.zeros((len(chosen), n))
    np.add.at(counts, (np.arange(len(chosen))[:, None], chosen), 1)
    x = np.sign(left[:, None] - left[None, :])
    y = np.sign(right[:, None] - right[None, :])

    def form(matrix: Array) -> Array:
        return np.asarray(((counts @ matrix) * counts).sum(axis=1))

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(form(x * y) / np.sqrt(form(x * x) * form(y * y)))


def _central(values: Array) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(values, [tail, 1 - tail])
    return float(low), float(high)
