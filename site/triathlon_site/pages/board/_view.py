"""The parts of pages that depend on the discipline of a board, and retention, by which models fall."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.records import UnitRecord
from triathlon_site.evidence import Article
from triathlon_site.models import Models
from triathlon_site.published import SAME, Places
from triathlon_site.render import Figure, Section
from triathlon_site.scores import Board
from triathlon_site.uncertainty import Sample

FEWEST: Final = 2
"""Other models below which a task says nothing."""
LEAST: Final = 1e-9
"""Gap below which there is none: rounding errors of sums are that large."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Retention:
    """Of the tasks of one suite that a model solves once, how much it still solves in the discipline."""

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


@dataclass(frozen=True, slots=True)
class FrontColumn:
    """One column of the index, and of the table of all models where it has a title."""

    id: str
    name: str
    """Its title where it stands alone, as among the scores that a model can be chosen by."""
    tasks: int
    """Binomial trials that stand for its noise in the index: no more than there are independent tasks.
    Questions of one DREval program, and problems evolved from one seed, count as one trial. A task of the
    loop scores between 0 and 1, so its variance is at most that of a binomial trial."""
    board: str
    """Id of the board that has the measured and recorded scores."""
    column: str
    """Id of the column of that board; empty for figures that others published alone."""
    small: str = ""
    """In the table, below its title; empty for a column that only links the others in the index."""
    head: str = ""
    """In the table, above `small`; empty for the name of the discipline."""
    about: str = ""
    """What it measures, in a few words that stand below its name."""
    optional: bool = False
    """Whether few models have it: the table shows it to who asks for it, and nothing is ranked by it."""
    within: str = ""
    """Its name in a sentence about such a choice."""
    maximum: float = 100.0
    """Of its scale on the page of choice."""
    in_index: bool = True
    """Whether it counts in the index; else it stands on the page of agreement only, and beside the others in
    the table where it has no scores of a board."""
    published: Places = ()
    """Where its figures are published, if not where those of the board's column are, or in another order."""

    @property
    def discipline(self) -> str:
        return self.board.partition("-")[0]

    @property
    def title(self) -> str:
        """In the table; empty for a column that is not shown there."""
        return (self.head or self.discipline.capitalize()) if self.small else ""

    @property
    def reported(self) -> Places:
        """Published tables and the column in each; the first that has a figure counts."""
        return self.published or SAME.get(self.column, ())


@dataclass(frozen=True)
class DisciplineView:
    """The parts of pages that one discipline fills in its own way; without them, its ranking alone."""

    figures_title: str = "Model by model"
    unit: str = "task"
    """The word for a task: `task` or `program`."""
    endings: str = ""
    """The meaning of a unit's outcome, in one sentence."""
    models_drawn: int = 5
    """Models in a figure of the board."""
    figures: Callable[[Board, Sequence[str], Models], Iterator[Figure]] = lambda *_: iter(())
    """The figures of these models on the board; the other models stay in the background."""
    sections: Callable[[Board, Models], Iterator[Section]] = lambda *_: iter(())
    """The smaller tables below the ranking."""
    retentions: Callable[[Board, Mapping[str, Sequence[str]]], Iterator[Retention]] = lambda *_: iter(())
    """The retention of each suite; the mapping has the parents of each task."""
    losses: Callable[[str, Board, BoardRetention], Iterator[str]] = lambda *_: iter(())
    """The losses of one model on the board, in sentences."""
    loss_note: Callable[[float, float, float, float], str] = lambda _value, total, rivals, _most: (
        f"{total:.0f} of {rivals:.0f} other models solve it"
    )
    """The note beside a task that a model loses, from the model's value, the sum of the other models' values,
    the number of other models, and the maximum."""
    has_parents: bool = False
    """Whether tasks were made from other tasks."""
    names_endings: bool = True
    """Whether the outcomes of lost tasks are worth listing."""
    articles: Mapping[type[UnitRecord], Article] = field(default_factory=dict)
    """How the evidence shows a unit, by the type of its record."""
    about_prompts: str = ""
    """How the prompts differ from the paper's, in one sentence."""
    front: tuple[FrontColumn, ...] = ()
    """The columns of the table of all models."""
