"""Spearman's rho and Kendall's tau-b between two columns, with a bootstrap over models."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, rankdata, spearmanr

from triathlon_site.uncertainty import LEVEL, generator

Array = NDArray[np.float64]
DRAWS: Final = 1000
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
    return Correlator([left, right], name).pair(0, 1)


class Correlator:
    """Correlations between any two of several columns over the same models.

    Pairs with the same models share their resamples, so that each column is ranked once, not once a pair.
    """

    def __init__(self, columns: Sequence[Array], name: str = "") -> None:
        self._columns = columns
        self._name = name
        self._resamples: dict[bytes, _Resample] = {}

    def pair(self, left: int, right: int) -> Correlation:
        """Between two columns, over the models that have both."""
        both = ~np.isnan(self._columns[left]) & ~np.isnan(self._columns[right])
        x, y, n = self._columns[left][both], self._columns[right][both], int(both.sum())
        if n < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
            return Correlation(n)
        spearman, kendall = float(spearmanr(x, y).statistic), float(kendalltau(x, y).statistic)
        if n < FEWEST_FOR_INTERVAL:
            return Correlation(n, spearman=spearman, kendall=kendall)
        resample = self._resamples.setdefault(both.tobytes(), _Resample(n, self._name))
        return Correlation(
            n,
            spearman,
            *_central(resample.spearman((left, x), (right, y))),
            kendall,
            *_central(resample.kendall((left, x), (right, y))),
        )


class _Resample:
    """Models drawn with replacement, and what each column looks like among them."""

    def __init__(self, n: int, name: str) -> None:
        self._draws = (generator("models", name), n)
        self._ranks: dict[int, Array] = {}
        self._norms: dict[int, Array] = {}

    @cached_property
    def chosen(self) -> NDArray[np.int64]:
        random, n = self._draws
        return random.integers(n, size=(_draws(n), n))

    @cached_property
    def counts(self) -> Array:
        return _counts(self.chosen)

    def spearman(self, left: tuple[int, Array], right: tuple[int, Array]) -> Array:
        """Pearson's r of the midranks of each resample."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.einsum("ij,ij->i", self._ranked(left), self._ranked(right)))

    def kendall(self, left: tuple[int, Array], right: tuple[int, Array]) -> Array:
        """tau-b of each resample."""
        concordance = _form(self.counts, _signs(left[1]) * _signs(right[1]))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(concordance / np.sqrt(self._norm(left) * self._norm(right)))

    def _ranked(self, column: tuple[int, Array]) -> Array:
        if column[0] not in self._ranks:
            self._ranks[column[0]] = _unit_ranks(column[1], self.chosen)
        return self._ranks[column[0]]

    def _norm(self, column: tuple[int, Array]) -> Array:
        if column[0] not in self._norms:
            self._norms[column[0]] = _form(self.counts, _signs(column[1]) ** 2)
        return self._norms[column[0]]


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
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.einsum("ij,ij->i", _unit_ranks(left, chosen), _unit_ranks(right, chosen)))


def _unit_ranks(values: Array, chosen: NDArray[np.int64]) -> Array:
    """Midranks of each resample, centred, of length 1; nan where all are equal."""
    ranked = rankdata(values[chosen], axis=1)
    ranked -= ranked.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(ranked / np.sqrt((ranked * ranked).sum(axis=1, keepdims=True)))


def _counts(chosen: NDArray[np.int64]) -> Array:
    """How often each model was drawn: one drawn k times stands k times, its copies tied with each other."""
    counts = np.zeros((len(chosen), chosen.shape[1]))
    np.add.at(counts, (np.arange(len(chosen))[:, None], chosen), 1)
    return counts


def _signs(values: Array) -> Array:
    return np.asarray(np.sign(values[:, None] - values[None, :]))


def _form(counts: Array, matrix: Array) -> Array:
    """The quadratic form of each resample's counts."""
    return np.asarray(((counts @ matrix) * counts).sum(axis=1))


def _central(values: Array) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(values, [tail, 1 - tail])
    return float(low), float(high)
