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

    @property
    def counts(self) -> Array:
        """By task, the number of models that it counts for."""
        return np.asarray((~np.isnan(self.values)).sum(axis=0))

    @property
    def totals(self) -> Array:
        """By task, the sum of their values."""
        return np.asarray(np.nansum(self.values, axis=0))

    @property
    def means(self) -> Array:
        """By model, the mean of its values."""
        return known_mean(self.values, axis=1)

    @property
    def gaps(self) -> Array:
        """Models × tasks: mean of the other models minus the value, as a share of `most`; not negative."""
        rivals = self.counts - ~np.isnan(self.values)
        with np.errstate(invalid="ignore", divide="ignore"):
            gaps = (self.totals - self.values) / rivals - self.values
            return np.where((rivals >= FEWEST) & (gaps > LEAST), gaps, 0.0) / self.most


@dataclass(frozen=True, eq=False)
class BoardRetention:
    """The suites that a board's headline is made of."""

    models: tuple[str, ...]
    suites: tuple[Retention, ...]

    @property
    def means(self) -> Array:
        """By model, the mean of its values over all suites."""
        return known_mean(np.hstack([np.empty((len(self.models), 0)), *(s.values for s in self.suites)]), 1)

    def beside(self, model: str, means: Array) -> tuple[float, float]:
        """A model's mean, and the mean of those of the other models."""
        row = self.models.index(model)
        return float(means[row]), float(known_mean(np.delete(means, row)))


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
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nansum(values, axis=axis) / (~np.isnan(values)).sum(axis=axis))
