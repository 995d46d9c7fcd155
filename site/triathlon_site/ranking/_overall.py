"""One order over the disciplines: a mean of percentiles, and how much it depends on the weights."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

STEPS: Final = 40
"""Weights are tried in steps of 1/40: 861 weightings of three disciplines."""

Array = NDArray[np.float64]


def percentiles(scores: Sequence[float] | Array) -> Array:
    """Share of the other models that a model beats, ties half, 0 to 100; nan stays; 50 for a lone model."""
    values = pd.Series(scores, dtype=float)
    if values.count() == 1:
        return np.asarray(values.where(values.isna(), 50.0))
    return np.asarray(100 * (values.rank() - 1) / (values.count() - 1))


def wins_by_weighting(by_discipline: Array) -> Array:
    """Share of all weightings of the disciplines in which each model is first.

    A shared first place is shared out among its models.

    Args:
        by_discipline: models × disciplines, percentiles without gaps.
    """
    totals = by_discipline @ _simplex(by_discipline.shape[1]).T
    first = totals >= totals.max(axis=0) - 1e-9
    return np.asarray((first / first.sum(axis=0)).mean(axis=1))


def _simplex(parts: int) -> Array:
    """All weightings of `parts` disciplines in steps of 1 / STEPS, each summing to 1."""
    if parts == 1:
        return np.ones((1, 1))
    axes = np.meshgrid(*[np.arange(STEPS + 1)] * (parts - 1), indexing="ij")
    heads = np.stack([axis.ravel() for axis in axes], axis=1)
    heads = heads[heads.sum(axis=1) <= STEPS]
    tail = STEPS - heads.sum(axis=1, keepdims=True)
    return np.hstack([heads, tail]) / STEPS
