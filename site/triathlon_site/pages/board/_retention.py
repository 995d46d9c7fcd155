"""Retention: of the tasks that a model solves once, how much it still solves in a discipline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.uncertainty import Sample

FEWEST: Final = 2
"""Other models below which a task says nothing."""
LEAST: Final = 1e-9
"""Gap below which there is none: rounding errors of sums are that large."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Retention:
    """One suite of a board."""

    suite: str
    tasks: tuple[str, ...]
    """In the order of their names."""
    values: Array
    """models × tasks, 0 to `most`; nan where the task does not count for the model."""
    most: float
    counts: Array
    """By task, the number of models that it counts for."""
    totals: Array
    """By task, the sum of their values."""
    gaps: Array
    """models × tasks: mean of the other models minus the value, as a share of `most`; 0 where negative."""
    means: Array
    """By model, the mean of its values."""


@dataclass(frozen=True, eq=False)
class BoardRetention:
    """The suites that a board's headline is made of."""

    models: tuple[str, ...]
    suites: tuple[Retention, ...]
    means: Array
    """By model, the mean of its values over all suites."""

    def beside(self, model: str, means: Array) -> tuple[float, float]:
        """A model's mean, and the mean of those of the other models."""
        row = self.models.index(model)
        return float(means[row]), float(known_mean(np.delete(means, row)))


def board_retention(models: tuple[str, ...], suites: Sequence[Retention]) -> BoardRetention:
    """The retention of a board from that of its suites."""
    rows = np.hstack([suite.values for suite in suites]) if suites else np.empty((len(models), 0))
    return BoardRetention(models, tuple(suites), known_mean(rows, axis=1))


def retention(sample: Sample, values: Array, most: float) -> Retention:
    """The retention of one suite.

    Args:
        sample: the results of the suite.
        values: models × tasks, 0 to `most`; nan where a task does not count for a model.
        most: the largest value.
    """
    known = ~np.isnan(values)
    counts, totals = known.sum(axis=0), np.where(known, values, 0.0).sum(axis=0)
    gaps = _gaps(values, counts - known, totals)
    return Retention(
        sample.suite, sample.clusters, values, most, counts, totals, gaps / most, known_mean(values, axis=1)
    )


def _gaps(values: Array, rivals: Array, totals: Array) -> Array:
    """Mean of the other models minus the model's value; `rivals`: by model and task, how many these are."""
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = (totals - values) / rivals - values
        return np.where((rivals >= FEWEST) & (gaps > LEAST), gaps, 0.0)


def changed_values(sample: Sample, seeds: Sample, parents: Mapping[str, Sequence[str]]) -> Array:
    """Models × tasks: whether a changed problem is solved; nan where its seeds are not."""
    solved_seeds = seeds.shares() > 0
    place = {task: number for number, task in enumerate(seeds.clusters)}
    values = sample.shares()
    for number, task in enumerate(sample.clusters):
        columns = [place[parent] for parent in parents.get(task, ()) if parent in place]
        solved = solved_seeds[:, columns].all(axis=1) if columns else np.zeros(len(values), dtype=bool)
        values[~solved, number] = np.nan
    return values


def known_mean(values: Array, axis: int | None = None) -> Array:
    """The mean of what is not nan; nan where nothing is known."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis))
