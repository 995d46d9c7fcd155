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
    observed = (scores * rest).sum(axis=0)
    low = np.flatnonzero(observed < -EXACT)
    p_values = np.array([_p_value(scores[known[:, t], t], rest[known[:, t], t], f"{name} {t}") for t in low])
    suspect = np.zeros(scores.shape[1], dtype=bool)
    considered = p_values <= CONSIDERED
    suspect[low[considered]] = chosen(p_values[considered] / CONSIDERED)
    return suspect


def chosen(p_values: Array) -> NDArray[np.bool_]:
    """Benjamini and Hochberg's rule: all up to the largest p-value that is at most its rank's share."""
    order = np.argsort(p_values)
    bounds = FALSE_SHARE * np.arange(1, len(order) + 1) / max(1, len(order))
    below = np.flatnonzero(p_values[order] <= bounds)
    is_chosen = np.zeros(len(order), dtype=bool)
    is_chosen[order[: below[-1] + 1 if len(below) else 0]] = True
    return is_chosen


def _p_value(scores: Array, rest: Array, name: str) -> float:
    random = generator("suspect", name)
    rough = _permuted(scores, rest, random, FEW_DRAWS)
    return rough if rough > CLOSE else _permuted(scores, rest, random, MANY_DRAWS)


def _permuted(scores: Array, rest: Array, random: np.random.Generator, draws: int) -> float:
    """Share of the permutations whose correlation is as low; the observed one counts as one of them."""
    observed, low = scores @ rest, 0
    for start in range(0, draws, CHUNK):
        shuffled = np.tile(scores, (min(CHUNK, draws - start), 1))
        low += int((random.permuted(shuffled, axis=1) @ rest <= observed + EXACT).sum())
    return (1 + low) / (1 + draws)
