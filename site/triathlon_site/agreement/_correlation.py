"""Spearman's rho and Kendall's tau-b between columns, with a bootstrap over models.

Resamples of few models repeat themselves: five models in one order give 1 in every resample, as if nothing
were uncertain. Each interval is therefore widened to the one that Fisher's z gives.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Final

import numpy as np

from triathlon_site.agreement._coefficients import Array, Pairs, drawn, kendall, spearman
from triathlon_site.uncertainty import LEVEL, central

Span = tuple[float, float]
Spans = tuple[Array, Array]
"""Lower and upper ends."""
FEWEST: Final = 3
"""Fewer models say nothing: two always agree or disagree completely."""
FEWEST_FOR_INTERVAL: Final = 5
TWO_SIDED: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)


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
    without_one_low: float = math.nan
    """The smallest Spearman when any one model is left out; nan for fewer than four."""
    without_one_high: float = math.nan


def correlate(left: Array, right: Array, name: str = "") -> Correlation:
    """Both coefficients with percentile intervals over resampled models; `name` seeds the resampling."""
    return correlations([left, right], name)[0, 1]


def correlations(columns: Sequence[Array], name: str = "") -> dict[tuple[int, int], Correlation]:
    """Between every two of several columns over the same models, each over the models that have both.

    Pairs with the same models share their resamples and are computed at once.
    """
    known = ~np.isnan(columns)
    every = list(combinations(range(len(columns)), 2))
    groups: dict[bytes, list[tuple[int, int]]] = {}
    for pair in every:
        groups.setdefault((known[pair[0]] & known[pair[1]]).tobytes(), []).append(pair)
    found: dict[tuple[int, int], Correlation] = {}
    for both, pairs in groups.items():
        used, places = np.unique(pairs, return_inverse=True)
        values = np.array([columns[column][np.frombuffer(both, dtype=bool)] for column in used])
        left, right = places.reshape(-1, 2).T
        found.update(zip(pairs, _of_group(values, (left, right), name), strict=True))
    return {pair: found[pair] for pair in every}


def _of_group(values: Array, pairs: Pairs, name: str) -> Iterator[Correlation]:
    """Of pairs of columns that all models have."""
    n, unknown = values.shape[1], np.full(len(pairs[0]), math.nan)
    rho = tau = unknown
    rho_span = tau_span = without_one = unknown, unknown
    once = np.ones((1, n))
    if n >= FEWEST:
        rho, tau = spearman(values, pairs, once)[0], kendall(values, pairs, once)[0]
    if n > FEWEST:
        without = spearman(values, pairs, once - np.eye(n))
        without_one = np.fmin.reduce(without), np.fmax.reduce(without)
    if n >= FEWEST_FOR_INTERVAL:
        counts = drawn(n, name)
        rho_span = _hull(_central(spearman(values, pairs, counts)), _spearman_by_fisher(rho, n))
        tau_span = _hull(_central(kendall(values, pairs, counts)), _kendall_by_fisher(tau, n))
    for numbers in np.stack([rho, *rho_span, tau, *tau_span, *without_one], axis=1).tolist():
        yield Correlation(n, *numbers)


def _spearman_by_fisher(rho: Array, n: int) -> Spans:
    """Variance of z by Bonett and Wright (Psychometrika 65, 2000)."""
    return _by_fisher(rho, np.sqrt((1 + rho * rho / 2) / (n - 3)), most=1 - 12 / (n**3 - n))


def _kendall_by_fisher(tau: Array, n: int) -> Spans:
    """Variance of z by Fieller, Hartley and Pearson (Biometrika 44, 1957)."""
    return _by_fisher(tau, math.sqrt(0.437 / (n - 4)), most=1 - 4 / (n * (n - 1)))


def _by_fisher(coefficients: Array, error: Array | float, most: float) -> Spans:
    """`most`: the largest value below 1 that n models can give; z of 1 itself would be endless."""
    z = np.arctanh(np.clip(coefficients, -most, most))
    return np.tanh(z - TWO_SIDED * error), np.tanh(z + TWO_SIDED * error)


def _hull(one: Spans, other: Spans) -> Spans:
    """From the lowest to the highest; of an unknown one nothing."""
    return np.fmin(one[0], other[0]), np.minimum(1.0, np.fmax(one[1], other[1]))


def _central(draws: Array) -> Spans:
    """The 95 % interval of each column of draws that have a coefficient; nothing where none has."""
    low, high = central(draws)
    for column in np.flatnonzero(np.isnan(low)):
        known = draws[~np.isnan(draws[:, column]), column]
        if len(known):
            (low[column],), (high[column],) = central(known[:, None])
    return low, high
