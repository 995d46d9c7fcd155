"""The interval around a score."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.uncertainty._bootstrap import Draws

Array = NDArray[np.float64]

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The central 95 % of the draws, widened to hold the score itself."""

    low: float
    high: float

    @property
    def known(self) -> bool:
        return not math.isnan(self.low)


def interval(draws: Draws, scores: Array) -> list[Interval]:
    """One interval a model from draws × models."""
    low, high = central(draws)
    return [
        Interval(float(min(lo, score)), float(max(hi, score)))
        for lo, hi, score in zip(low, high, scores, strict=True)
    ]


def central(draws: Draws) -> tuple[Array, Array]:
    """The 2.5 % and 97.5 % quantiles of each column; nan for a column that holds one.

    As `numpy.quantile` has them (linear), in a quarter of its time: a site asks for ten thousand.
    """
    ordered = np.sort(draws.T, axis=1)
    tail = (1 - LEVEL) / 2
    low, high = (_quantile(ordered, share) for share in (tail, 1 - tail))
    holes = np.isnan(ordered[:, -1])  # sorted last
    return np.where(holes, np.nan, low), np.where(holes, np.nan, high)


def _quantile(ordered: Array, share: float) -> Array:
    """Between two neighbours, from the nearer one, as `numpy.quantile` rounds."""
    place = share * (ordered.shape[1] - 1)
    below, part = int(place), place - int(place)
    left, right = ordered[:, below], ordered[:, min(below + 1, ordered.shape[1] - 1)]
    return np.asarray(left + (right - left) * part if part < 0.5 else right - (right - left) * (1 - part))
