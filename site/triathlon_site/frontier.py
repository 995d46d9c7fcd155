"""The frontier of models: those to which no other is superior in score and cost together.

A model is dominated where another one costs no more, scores no less, and is better in one of the two
(Pareto's order). Scores are uncertain, so the frontier is computed in each of many joint draws of all scores;
a model's share is the part of the draws in which it is not dominated. Costs are taken as known.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from triathlon_site.uncertainty import LEVEL, Interval, generator

Array = NDArray[np.float64]

DRAWS: Final = 200
"""Joint draws of all scores. The standard error of a share is at most 3.5 points."""
DOUBT: Final = round((1 - LEVEL) / 2, 6)
"""Share of the draws from which on a model counts as possibly the better one."""
_QUANTILE: Final = 1.959964
"""Of the standard normal distribution, at the ends of the central 95 %."""
_SMALLEST: Final = 1e-3
"""Share of the maximum that 0 and 1 are moved inwards by, so that they have a logit."""


def undominated(scores: Array, costs: Array) -> NDArray[np.bool_]:
    """Whether each model is on the frontier, in each draw: `scores` are draws × models, or a row of them."""
    order = np.argsort(costs, kind="stable")
    sorted_costs, sorted_scores = costs[order], scores[..., order]
    best = np.maximum.accumulate(sorted_scores, axis=-1)
    nothing = np.full((*scores.shape[:-1], 1), -np.inf)
    best_before = np.concatenate([nothing, best], axis=-1)
    cheaper = best_before[..., np.searchsorted(sorted_costs, sorted_costs, "left")]
    as_cheap = best_before[..., np.searchsorted(sorted_costs, sorted_costs, "right")]
    found = np.empty(scores.shape, dtype=bool)
    found[..., order] = (sorted_scores > cheaper) & (sorted_scores >= as_cheap)
    return found


def frontier_shares(draws: Array, costs: Array) -> Array:
    """Part of the draws (draws × models) in which each model is on the frontier, 0 to 1."""
    return np.asarray(undominated(draws, costs).mean(axis=0))


def interval_draws(
    values: Sequence[float], intervals: Sequence[Interval], maximum: float, name: str
) -> Array:
    """Draws of scores of which only the value and its 95 % interval are known, shape (DRAWS, models).

    Normal on the logit scale, on either side of the value as wide as that side of the interval; independent
    from model to model, since who solved which task is not known. `name` seeds the random numbers.
    """
    ends = np.array([[one.low, value, one.high] for value, one in zip(values, intervals, strict=True)])
    low, centre, high = logit(np.clip(ends / maximum, _SMALLEST, 1 - _SMALLEST)).T
    normal = generator("frontier", name).standard_normal((DRAWS, len(values)))
    width = np.where(normal < 0, centre - low, high - centre) / _QUANTILE
    return np.asarray(maximum * expit(centre + normal * width))
