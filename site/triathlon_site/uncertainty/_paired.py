"""Is one model really better than another? A paired bootstrap over the tasks that both have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from triathlon_site.uncertainty._bootstrap import (
    DRAWS,
    Array,
    Sample,
    generator,
    mean_denominator,
    task_weights,
    weighted,
)
from triathlon_site.uncertainty._interval import Interval, interval


def paired_p_values(
    samples: Sequence[Sample], leader: int, others: Sequence[int], draws: int = DRAWS
) -> Array:
    """Two-sided p-values for "no difference in the mean score over `samples`" between one model and others.

    Both models get the same task weights; two pseudo-tasks of weight Exp(1), one won by either model, keep a
    handful of tasks from proving anything: where one side wins all of k disputed pass/fail tasks and none is
    agreed on, p = 2^-k. The tail is that of the Beta distribution with the draws' mean and variance, so that
    p-values far below 1 / draws keep their order under a correction for many comparisons.
    """
    difference = np.zeros((draws, len(others)))
    for sample in samples:
        difference += _differences(sample, leader, others, draws) / sample.maximum
    return _two_sided(difference / len(samples))


@dataclass(frozen=True, slots=True)
class Difference:
    """One score minus another, on the tasks that both have."""

    value: float
    interval: Interval
    tasks: int

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.interval.low > 0 or self.interval.high < 0


def paired_difference(sample: Sample, first: int, second: int, draws: int = DRAWS) -> Difference | None:
    """First minus second by the paired bootstrap; None where they share no task."""
    return mean_differences([sample], first, [second], draws)[0]


def mean_differences(
    samples: Sequence[Sample], first: int, others: Sequence[int], draws: int = DRAWS
) -> list[Difference | None]:
    """First minus each other in the mean score over `samples`; None where some sample shares no task."""
    drawn = sum((_differences(one, first, others, draws) for one in samples), np.zeros((draws, len(others))))
    values = np.mean([[_difference(one, first, other) for other in others] for one in samples], axis=0)
    spans = interval(drawn / len(samples), values)
    tasks = [sum(int(_shared(one, first, other).sum()) for one in samples) for other in others]
    return [
        None if np.isnan(value) else Difference(float(value), span, count)
        for value, span, count in zip(values, spans, tasks, strict=True)
    ]


def _shared(sample: Sample, first: int, second: int) -> NDArray[np.bool_]:
    return np.asarray((sample.denominators[first] > 0) & (sample.denominators[second] > 0))


def _difference(sample: Sample, first: int, second: int) -> float:
    """On the tasks that both have; nan where there are none."""
    shared = _shared(sample, first, second)
    if not shared.any():
        return float("nan")
    one, other = (
        sample.numerators[row][shared].sum() / sample.denominators[row][shared].sum()
        for row in (first, second)
    )
    return sample.scale * float(one - other)


def _differences(sample: Sample, leader: int, others: Sequence[int], draws: int) -> Array:
    """Draws × others: score of the leader minus that of the other, on the tasks that both have."""
    weights = task_weights(sample.suite, len(sample.clusters), draws)
    ends = generator("pairs", sample.suite).standard_exponential((2, draws, 1))
    result = np.empty((draws, len(others)))
    for mask, members in _by_shared_tasks(sample, leader, others).items():
        shared = np.frombuffer(mask, dtype=bool)
        rows = [leader, *(others[member] for member in members)]
        part = Sample(
            sample.suite,
            tuple(sample.models[row] for row in rows),
            tuple(np.array(sample.clusters, dtype=object)[shared]),
            sample.numerators[rows][:, shared],
            sample.denominators[rows][:, shared],
            sample.scale,
            sample.maximum,
        )
        scores = _pseudo_scores(part, weights if shared.all() else weights[:, shared], ends)
        result[:, members] = scores[:, :1] - scores[:, 1:]
    return result


def _pseudo_scores(part: Sample, weights: Array, ends: Array) -> Array:
    """Scores with one pseudo-task that the first model wins and one that all others win."""
    if not part.clusters:
        return np.zeros((len(weights), len(part.models)))
    unit = mean_denominator(part)
    won, lost = ends * unit
    top = lost.copy()
    top[:, 0] = won[:, 0]
    numerators = weights @ part.numerators.T + top * part.top
    denominators = weighted(weights, part.denominators) + won + lost
    return np.asarray(part.scale * numerators / denominators)


def _by_shared_tasks(sample: Sample, leader: int, others: Sequence[int]) -> dict[bytes, list[int]]:
    """Positions in `others`, grouped by which tasks they share with the leader."""
    own = sample.denominators[leader] > 0
    groups: dict[bytes, list[int]] = {}
    for position, row in enumerate(others):
        groups.setdefault((own & (sample.denominators[row] > 0)).tobytes(), []).append(position)
    return groups


def _two_sided(difference: Array) -> Array:
    """p-values from differences in [-1, 1] by a Beta distribution on that range with the same moments."""
    mean = np.clip((difference.mean(axis=0) + 1) / 2, 1e-9, 1 - 1e-9)
    variance = np.maximum(difference.var(axis=0) / 4, 1e-18)
    size = np.maximum(mean * (1 - mean) / variance - 1, 1e-9)
    below = betainc(mean * size, (1 - mean) * size, 0.5)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(below, 1 - below)))
