"""Tiers: models that the tasks cannot tell from the best of their tier."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.uncertainty import Sample, paired_p_values

SIGNIFICANCE: Final = 0.05


def tiers(
    samples: Sequence[Sample], scores: Sequence[float] | NDArray[np.float64], upper: Sequence[Sample] = ()
) -> list[int | None]:
    """The tier of each model, from 1; None without a score.

    The best model leads tier 1. It is compared with every model below by the paired bootstrap; the first
    model that is significantly worse leads the next tier, and so on. A leader is the luckiest of its equals,
    so Bonferroni's correction counts every pair among the models from the leader down to the one compared:
    the leader's own pairs alone would split 24 equal models (80 tasks) in one table of five. Models further
    down do not count, so that a long list of weak models widens no tier above them.

    Args:
        samples: of one metric, rows in the order of the scores.
        scores: the mean over the samples.
        upper: where scores are only known as ranges, the samples of their upper ends: a model is then worse
            than a leader where even its upper end is, against the leader's lower one.
    """
    p_values = paired_p_values(tuple(samples), tuple(upper))
    result: list[int | None] = [None] * len(scores)
    order = sorted(
        (position for position, score in enumerate(scores) if not np.isnan(score)),
        key=lambda position: (-scores[position], position),
    )
    tier = 0
    while order:
        tier += 1
        leader, candidates = order[0], order[1:]
        places = np.arange(2, len(order) + 1)
        adjusted = places * (places - 1) / 2 * p_values[leader, candidates]
        worse = np.flatnonzero(adjusted < SIGNIFICANCE)
        end = 1 + int(worse[0]) if len(worse) else len(order)
        for position in order[:end]:
            result[position] = tier
        order = order[end:]
    return result
