"""How much of what it can do a model keeps in a discipline: task by task, beside the other models."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.records import Discipline
from triathlon_site.scores import Board, ColumnScores

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Kept:
    """One suite of a board."""

    suite: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    values: Array
    """models × tasks, 0 to `most`; nan where it does not count, as the model never had it."""
    most: float

    def own(self, model: str) -> Array:
        return np.asarray(self.values[self.models.index(model)])

    def others(self, model: str) -> Array:
        """The rows of the other models."""
        return np.asarray(np.delete(self.values, self.models.index(model), axis=0))


def kept_of(board: Board, parents: Mapping[str, Sequence[str]]) -> Iterator[Kept]:
    """The suites that the headline is made of.

    Args:
        board: the board.
        parents: by task of an evolved set, the problems that it was evolved from.
    """
    if board.plan.discipline == Discipline.EVOLVED:
        yield from _changed(board, parents)
    elif curve := [column for column in board.columns if column.column.role in {"baseline", "curve"}]:
        yield _loops(curve)
    else:
        (sample,) = board.headline.samples
        yield Kept(
            sample.suite, sample.models, sample.clusters, sample.shares() * sample.maximum, sample.maximum
        )


def _loops(curve: Sequence[ColumnScores]) -> Kept:
    """Loops that a task lasts, of the tasks that are solved at all."""
    samples = [column.samples[0] for column in curve]
    loops: Array = np.sum([sample.numerators for sample in samples], axis=0)
    first = samples[0]
    values = np.where(first.numerators > 0, loops, np.nan)
    return Kept(first.suite, first.models, first.clusters, values, float(len(samples)))


def _changed(board: Board, parents: Mapping[str, Sequence[str]]) -> Iterator[Kept]:
    """Whether a changed problem is solved, of those whose seeds are."""
    seeds = {entry.seeds for entry in board.plan.suites}
    samples = board.headline.samples
    seed = next((sample for sample in samples if sample.suite in seeds), None)
    if seed is None:
        return
    known = seed.shares()
    place = {task: number for number, task in enumerate(seed.clusters)}
    for sample in samples:
        if sample.suite not in seeds:
            values = sample.shares()
            for number, task in enumerate(sample.clusters):
                own = [place[parent] for parent in parents.get(task, ()) if parent in place]
                solved = np.all(known[:, own] > 0, axis=1) if own else np.zeros(len(values), dtype=bool)
                values[~solved, number] = np.nan
            yield Kept(sample.suite, sample.models, sample.clusters, values, 1.0)


def mean(values: Array, axis: int | None = None) -> Array:
    """Of what counts; nan for nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmean(values, axis=axis))
