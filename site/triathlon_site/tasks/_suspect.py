"""Tasks on which weaker models do better than stronger ones, more often than chance explains."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.uncertainty import generator

FALSE_SHARE: Final = 0.05
"""Expected share of the tasks called suspect that are not: the false-discovery rate."""
CONSIDERED: Final = 0.5
"""p-values above it are left out, and the others divided by it (Zhao, Small and Su, JASA 114, 2019): nearly
all tasks tell models apart in the right direction, and their p-values near 1 would only cost power."""
FEW_DRAWS: Final = 1_000
MANY_DRAWS: Final = 100_000
CHUNK: Final = 10_000
CLOSE: Final = 0.02
"""p-values that are estimated again with many draws."""
EXACT: Final = 1e-9

Array = NDArray[np.float64]


def suspects(scores: Array, rest: Array, known: NDArray[np.bool_], name: str) -> NDArray[np.bool_]:
    """Returns which tasks correlate negatively with the rest of their suite, more than chance explains.

    The p-value of a task is the share of permutations of its scores over the models with a correlation as low
    as the observed one. The tasks are chosen by Benjamini and Hochberg's rule (1995).

    Args:
        scores: models × tasks, each less its task's mean; 0 where `known` is false.
        rest: the same for each model's mean score on all other tasks.
        known: where a model has a score on the task and on others.
        name: of the suite, for the random numbers.
    """
    random = generator("suspect", name)
    p_values = np.ones(scores.shape[1])
    tested = (scores * rest).sum(axis=0) < -EXACT
    for draws in (FEW_DRAWS, MANY_DRAWS):
        p_values[tested] = _p_values(scores[:, tested], rest[:, tested], known[:, tested], random, draws)
        tested = p_values <= CLOSE
    suspect = np.zeros(scores.shape[1], dtype=bool)
    considered = p_values <= CONSIDERED
    suspect[considered] = chosen(p_values[considered] / CONSIDERED)
    return suspect


def chosen(p_values: Array) -> NDArray[np.bool_]:
    """Benjamini and Hochberg's rule: all up to the largest p-value that is at most its rank's share."""
    order = np.argsort(p_values)
    bounds = FALSE_SHARE * np.arange(1, len(order) + 1) / max(1, len(order))
    below = np.flatnonzero(p_values[order] <= bounds)
    is_chosen = np.zeros(len(order), dtype=bool)
    is_chosen[order[: below[-1] + 1 if len(below) else 0]] = True
    return is_chosen


def _p_values(
    scores: Array, rest: Array, known: NDArray[np.bool_], random: np.random.Generator, draws: int
) -> Array:
    """Of each task, the share of the permutations of its scores whose correlation is as low.

    The observed order counts as a permutation. Tasks that the same models have share their permutations.
    """
    low = np.ones(scores.shape[1])
    groups, group_of = np.unique(known, axis=1, return_inverse=True)
    for group, has in enumerate(groups.T):
        for start in range(0, draws, CHUNK):
            orders = np.tile(np.flatnonzero(has), (min(CHUNK, draws - start), 1))
            random.permuted(orders, axis=1, out=orders)
            for task in np.flatnonzero(group_of.ravel() == group):
                observed = scores[has, task] @ rest[has, task]
                low[task] += (scores[:, task][orders] @ rest[has, task] <= observed + EXACT).sum()
    return low / (1 + draws)
