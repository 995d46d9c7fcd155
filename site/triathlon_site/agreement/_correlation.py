"""Spearman's rho and Kendall's tau-b between two columns, with a bootstrap over models.

Resamples of few models repeat themselves: five models in one order give 1 in every resample, as if nothing
were uncertain. Each interval is therefore widened to the one that Fisher's z gives.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from triathlon_site.ranking import midranks
from triathlon_site.uncertainty import LEVEL, central, generator

Array = NDArray[np.float64]
Span = tuple[float, float]
DRAWS: Final = 1000
FEWEST: Final = 3
"""Fewer models say nothing: two always agree or disagree completely."""
FEWEST_FOR_INTERVAL: Final = 5
TWO_SIDED: Final = float(ndtri((1 + LEVEL) / 2))


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

    Pairs with the same models share their resamples, and each column is ranked once, not once a pair.
    """

    def __init__(self, columns: Sequence[Array], name: str = "") -> None:
        self._columns = columns
        self._name = name
        self._groups: dict[bytes, _Group] = {}

    def pair(self, left: int, right: int) -> Correlation:
        """Between two columns, over the models that have both."""
        group, x, y = self._both(left, right)
        n = len(x)
        if n < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
            return Correlation(n)
        spearman, kendall = group.coefficients((left, x), (right, y))
        if n < FEWEST_FOR_INTERVAL:
            return Correlation(n, spearman=spearman, kendall=kendall)
        return Correlation(
            n,
            spearman,
            *_hull(_central(group.spearman_draws((left, x), (right, y))), _spearman_by_fisher(spearman, n)),
            kendall,
            *_hull(_central(group.kendall_draws((left, x), (right, y))), _kendall_by_fisher(kendall, n)),
        )

    def leave_one_out(self, left: int, right: int) -> tuple[float, float]:
        """Smallest and largest Spearman when any one model is left out; nan for fewer than four."""
        group, x, y = self._both(left, right)
        if len(x) <= FEWEST:
            return math.nan, math.nan
        values = np.einsum("ij,ij->i", group.without_each((left, x)), group.without_each((right, y)))
        known = values[~np.isnan(values)]
        return (float(known.min()), float(known.max())) if len(known) else (math.nan, math.nan)

    def _both(self, left: int, right: int) -> tuple["_Group", Array, Array]:
        x, y = self._columns[left], self._columns[right]
        both = ~np.isnan(x) & ~np.isnan(y)
        group = self._groups.setdefault(both.tobytes(), _Group(int(both.sum()), self._name))
        return group, x[both], y[both]


Numbered = tuple[int, Array]
"""A column by its number, under which what is computed of it is kept."""


class _Group:
    """Some models: their resamples, and what each column looks like among them."""

    def __init__(self, n: int, name: str) -> None:
        self._n, self._name = n, name
        self._kept: dict[tuple[str, int], Array] = {}

    @cached_property
    def chosen(self) -> NDArray[np.int64]:
        """Models drawn with replacement."""
        return generator("models", self._name).integers(self._n, size=(_draws(self._n), self._n))

    @cached_property
    def counts(self) -> Array:
        return _counts(self.chosen)

    def coefficients(self, left: Numbered, right: Numbered) -> tuple[float, float]:
        """Spearman's rho, Kendall's tau-b."""
        rho = float((self._ranks(left) * self._ranks(right)).sum())
        one, other = self._signs(left), self._signs(right)
        norms = math.sqrt(float((one * one).sum()) * float((other * other).sum()))
        return min(1.0, max(-1.0, rho)), float((one * other).sum()) / norms

    def spearman_draws(self, left: Numbered, right: Numbered) -> Array:
        """Pearson's r of the midranks of each resample."""
        return np.asarray(np.einsum("ij,ij->i", self._resampled(left), self._resampled(right)))

    def kendall_draws(self, left: Numbered, right: Numbered) -> Array:
        """tau-b of each resample."""
        concordance = _form(self.counts, self._signs(left) * self._signs(right))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(concordance / np.sqrt(self._norm(left) * self._norm(right)))

    def without_each(self, column: Numbered) -> Array:
        """Row i: the unit midranks of the models without model i, 0 for model i itself."""
        return self._keep("without", column, lambda: _ranks_without_each(column[1]))

    def _ranks(self, column: Numbered) -> Array:
        return self._keep("ranks", column, lambda: _unit(midranks(column[1][None, :])))

    def _resampled(self, column: Numbered) -> Array:
        return self._keep("resampled", column, lambda: _unit_ranks(column[1], self.chosen))

    def _signs(self, column: Numbered) -> Array:
        return self._keep("signs", column, lambda: _signs(column[1]))

    def _norm(self, column: Numbered) -> Array:
        return self._keep("norm", column, lambda: _form(self.counts, self._signs(column) ** 2))

    def _keep(self, what: str, column: Numbered, make: Callable[[], Array]) -> Array:
        key = what, column[0]
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def leave_one_out(left: Array, right: Array) -> tuple[float, float]:
    """Smallest and largest Spearman when any one model is left out; nan where fewer than four have both."""
    return Correlator([left, right]).leave_one_out(0, 1)


def _draws(n: int) -> int:
    """Fewer resamples for many models: the work grows with n², the width of the interval falls with √n."""
    return DRAWS if n <= 200 else 400


def _unit_ranks(values: Array, chosen: NDArray[np.int64]) -> Array:
    """Midranks of each resample, centred, of length 1; nan where all are equal."""
    return _unit(midranks(values[chosen]))


def _ranks_without_each(values: Array) -> Array:
    """Models × models: a model that is gone takes one from the ranks above it, a half from its equals."""
    above, equal = values[:, None] < values[None, :], values[:, None] == values[None, :]
    ranked = midranks(values[None, :]) - above - 0.5 * equal
    centred = ranked - len(values) / 2
    np.fill_diagonal(centred, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(centred / np.sqrt((centred * centred).sum(axis=1, keepdims=True)))


def _unit(ranked: Array) -> Array:
    """Each row centred and of length 1; nan where all its numbers are equal."""
    ranked = ranked - ranked.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(ranked / np.sqrt((ranked * ranked).sum(axis=1, keepdims=True)))


def _counts(chosen: NDArray[np.int64]) -> Array:
    """How often each model was drawn: one drawn k times stands k times, its copies tied with each other."""
    counts = np.zeros((len(chosen), chosen.shape[1]))
    np.add.at(counts, (np.arange(len(chosen))[:, None], chosen), 1)
    return counts


def _signs(values: Array) -> Array:
    """In single precision: sums of whole numbers below 2^24, of fewer than 4,000 models, are exact in it."""
    exact = np.float32 if len(values) < 4000 else np.float64
    return np.sign(values[:, None] - values[None, :]).astype(exact)


def _form(counts: Array, matrix: Array) -> Array:
    """The quadratic form of each resample's counts."""
    own = counts.astype(matrix.dtype, copy=False)
    return np.asarray(((own @ matrix) * own).sum(axis=1), dtype=np.float64)


def _spearman_by_fisher(rho: float, n: int) -> Span:
    """Variance of z by Bonett and Wright (Psychometrika 65, 2000)."""
    return _by_fisher(rho, math.sqrt((1 + rho * rho / 2) / (n - 3)), most=1 - 12 / (n**3 - n))


def _kendall_by_fisher(tau: float, n: int) -> Span:
    """Variance of z by Fieller, Hartley and Pearson (Biometrika 44, 1957)."""
    return _by_fisher(tau, math.sqrt(0.437 / (n - 4)), most=1 - 4 / (n * (n - 1)))


def _by_fisher(coefficient: float, error: float, most: float) -> Span:
    """`most`: the largest value below 1 that n models can give; z of 1 itself would be endless."""
    z = math.atanh(min(most, max(-most, coefficient)))
    return math.tanh(z - TWO_SIDED * error), math.tanh(z + TWO_SIDED * error)


def _hull(one: Span, other: Span) -> Span:
    """From the lowest to the highest; of an unknown one nothing."""
    return float(np.nanmin([one[0], other[0]])), min(1.0, float(np.nanmax([one[1], other[1]])))


def _central(values: Array) -> Span:
    """Their 95 % interval; nothing where no resample has a coefficient."""
    known = values[~np.isnan(values)]
    if not len(known):
        return math.nan, math.nan
    low, high = central(known[:, None])
    return float(low[0]), float(high[0])
