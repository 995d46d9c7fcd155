"""How much of what it can do a model keeps in a discipline: task by task, beside the other models."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.records import Discipline
from triathlon_site.scores import Board, ColumnScores
from triathlon_site.uncertainty import Sample

FEWEST: Final = 2
"""Other models without which a task says nothing."""
LEAST: Final = 1e-9
"""Gap below which there is none: sums of fractions leave as much."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """One suite of a board."""

    suite: str
    tasks: tuple[str, ...]
    """In the order of their names."""
    values: Array
    """models × tasks, 0 to `most`; nan where it does not count, as the model never had it."""
    most: float
    counts: Array
    """By task, of the models that it counts for."""
    totals: Array
    """By task, what these keep together."""
    gaps: Array
    """models × tasks, as a share of `most`: how much more the others keep; 0 for nothing or not known."""
    means: Array
    """Of each model's values."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptBoard:
    """The suites that a board's headline is made of."""

    models: tuple[str, ...]
    suites: tuple[Kept, ...]
    means: Array
    """Of each model's values, over all suites."""


def kept_of(board: Board, parents: Mapping[str, tuple[str, ...]]) -> KeptBoard:
    """Reckoned once for all models whose parents are the same: those that ran the same tasks.

    Args:
        board: the board.
        parents: by task of an evolved set, the problems that it was evolved from.
    """
    return _kept_of(board, frozenset(parents.items()))


@lru_cache(maxsize=16)
def _kept_of(board: Board, parents: Collection[tuple[str, tuple[str, ...]]]) -> KeptBoard:
    models = board.headline.samples[0].models
    suites = tuple(_suites(board, dict(parents)))
    rows = np.hstack([one.values for one in suites]) if suites else np.empty((len(models), 0))
    return KeptBoard(models, suites, mean(rows, axis=1))


def _suites(board: Board, parents: Mapping[str, Sequence[str]]) -> Iterator[Kept]:
    if board.plan.discipline == Discipline.EVOLVED:
        yield from _changed(board, parents)
    elif curve := [column for column in board.columns if column.column.role in {"baseline", "curve"}]:
        yield _loops(curve)
    else:
        (sample,) = board.headline.samples
        yield _kept(sample, sample.shares() * sample.maximum, sample.maximum)


def _kept(sample: Sample, values: Array, most: float) -> Kept:
    known = ~np.isnan(values)
    counts, totals = known.sum(axis=0), np.where(known, values, 0.0).sum(axis=0)
    gaps = _gaps(values, counts - known, totals)
    return Kept(
        sample.suite, sample.clusters, values, most, counts, totals, gaps / most, mean(values, axis=1)
    )


def _gaps(values: Array, others: Array, totals: Array) -> Array:
    """Mean of the other models, of which there are so many, minus the own value."""
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = (totals - values) / others - values
        return np.where((others >= FEWEST) & (gaps > LEAST), gaps, 0.0)


def _loops(curve: Sequence[ColumnScores]) -> Kept:
    """Loops that a task lasts, of the tasks that are solved at all."""
    samples = [column.samples[0] for column in curve]
    loops: Array = np.sum([sample.numerators for sample in samples], axis=0)
    first = samples[0]
    return _kept(first, np.where(first.numerators > 0, loops, np.nan), float(len(samples)))


def _changed(board: Board, parents: Mapping[str, Sequence[str]]) -> Iterator[Kept]:
    """Whether a changed problem is solved, of those whose seeds are."""
    seeds = {entry.seeds for entry in board.plan.suites}
    samples = board.headline.samples
    seed = next((sample for sample in samples if sample.suite in seeds), None)
    if seed is None:
        return
    known = seed.shares() > 0
    place = {task: number for number, task in enumerate(seed.clusters)}
    for sample in samples:
        if sample.suite not in seeds:
            values = sample.shares()
            for number, task in enumerate(sample.clusters):
                own = [place[parent] for parent in parents.get(task, ()) if parent in place]
                solved = known[:, own].all(axis=1) if own else np.zeros(len(values), dtype=bool)
                values[~solved, number] = np.nan
            yield _kept(sample, values, 1.0)


def mean(values: Array, axis: int | None = None) -> Array:
    """Of what counts; nan for nothing."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis))
