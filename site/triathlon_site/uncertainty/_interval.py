"""The interval around a score."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_site.uncertainty._bootstrap import Draws

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The central 95 % of the draws, widened to hold the score itself."""

    low: float
    high: float

    @property
    def known(self) -> bool:
        return not math.isnan(self.low)


def interval(draws: Draws, scores: np.typing.NDArray[np.float64]) -> list[Interval]:
    """One interval a model from draws × models."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return [
        Interval(float(min(lo, score)), float(max(hi, score)))
        for lo, hi, score in zip(low, high, scores, strict=True)
    ]
