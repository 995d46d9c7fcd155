"""The overall index: one ability a model on a readable scale, with its interval and rank interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_site.ability._model import (
    GRID,
    Array,
    Cells,
    Columns,
    abilities,
    fit_columns,
    resample_columns,
)

CENTRE: Final = 50.0
"""The index of the mean of all models."""
POINTS: Final = 10.0
"""Index points of one standard deviation of all models."""
RESAMPLES: Final = 200
DRAWS_EACH: Final = 10
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class IndexColumn:
    """One column that the index is fitted to."""

    id: str
    title: str
    tasks: int
    """Binomial trials that stand for its noise: no more than there are independent tasks."""


COLUMNS: Final = (
    IndexColumn("loop", "ASL on MBPP+, divided by 10", 378),
    IndexColumn("runtime_output", "CRUXEval output pass@1", 800),
    IndexColumn("runtime_consistency", "DREval incremental consistency", 154),
    IndexColumn("evolved", "EvoEval mean pass@1", 164),
    IndexColumn("humaneval_plus", "HumanEval+ pass@1", 164),
    IndexColumn("mbpp_plus", "MBPP+ pass@1", 378),
)
"""Questions of one DREval program, and problems evolved from one seed, count as one trial. A task of the loop
scores between 0 and 1, so its variance is at most that of a binomial trial."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One model's place; every field but `columns` is in index points or ranks from 1."""

    value: float
    low: float
    high: float
    rank: int
    rank_low: int
    rank_high: int
    columns: int
    """How many columns it rests on."""


@dataclass(frozen=True, slots=True)
class Index:
    """The index of all models of a table, in the table's order."""

    rows: tuple[IndexRow, ...]
    draws: Array
    """Abilities, shape (draws, models): what intervals and ranks are quantiles of."""

    def not_told_from(self, model: int, rivals: Sequence[int]) -> list[int]:
        """Those of `rivals` that are above the model in at least 2.5 % of the draws; all are row numbers."""
        above = (self.draws[:, rivals] > self.draws[:, [model]]).mean(axis=0)
        return [rival for rival, share in zip(rivals, above, strict=True) if share >= (1 - LEVEL) / 2]


def compute_index(
    scores: Array,
    columns: Sequence[IndexColumn],
    released: Array,
    *,
    tasks: Array | None = None,
    seed: int = 0,
) -> Index:
    """The index of each row of `scores`.

    The value is the posterior mean of the ability. Intervals at 95 %: models are drawn with replacement
    `RESAMPLES` times, the columns fitted to each draw, and `DRAWS_EACH` abilities of every model drawn from
    its posterior under that fit.

    Args:
        scores: 0..1, shape (models, columns), nan where there is none.
        columns: what the columns are.
        released: release dates in years, shape (models,), nan where unknown.
        tasks: how many tasks each score rests on, shape (models, columns); left out, or where nan, those of
            the column.
        seed: of the draws.

    Raises:
        ValueError: a model without any score.
    """
    if np.isnan(scores).all(axis=1).any():
        raise ValueError("every model of the index needs a score in some column")
    random = np.random.default_rng(seed)
    most = np.array([column.tasks for column in columns], float)
    counts = most if tasks is None else np.where(np.isnan(tasks), most, tasks)
    cells = Cells.from_scores(scores, counts, released)
    fitted = fit_columns(cells)
    means = abilities(fitted, cells) @ GRID
    draws = _draws(cells, fitted, random)
    centre, spread = float(np.mean(means)), float(np.std(means)) or 1.0
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    ranks = 1 + (-draws).argsort(axis=1).argsort(axis=1)
    rank_low, rank_high = np.quantile(ranks, [tail, 1 - tail], axis=0, method="closest_observation")
    order = (-means).argsort().argsort() + 1
    numbers = np.bincount(cells.model, minlength=cells.models)
    points = [CENTRE + POINTS * (values - centre) / spread for values in (means, low, high)]
    rows = zip(
        *points, order, np.minimum(rank_low, order), np.maximum(rank_high, order), numbers, strict=True
    )
    return Index(
        tuple(
            IndexRow(
                float(value), min(float(bottom), float(value)), max(float(top), float(value)), *map(int, rest)
            )
            for value, bottom, top, *rest in rows
        ),
        draws,
    )


def years(month: str) -> float:
    """The middle of a month such as `2024-11` in years; nan for an empty text.

    Raises:
        ValueError: the text is no month.
    """
    if not month:
        return float("nan")
    year, number = month.split("-")
    return int(year) + (int(number) - 0.5) / 12


def _draws(cells: Cells, fitted: Columns, random: np.random.Generator) -> Array:
    """Abilities, shape (RESAMPLES * DRAWS_EACH, models).

    A fit to other models may have another unit and zero of ability; they are brought back by the mean and
    standard deviation over all models.
    """
    reference = abilities(fitted, cells) @ GRID
    step = GRID[1] - GRID[0]
    parts = []
    for columns in resample_columns(fitted, cells, random, RESAMPLES):
        posterior = abilities(columns, cells)
        uniform = random.random((DRAWS_EACH, cells.models, 1))
        places = (posterior.cumsum(axis=1) < uniform).sum(axis=2).clip(max=len(GRID) - 1)
        values = GRID[places] + step * (random.random(places.shape) - 0.5)
        means = posterior @ GRID
        scale = np.std(reference) / np.std(means) if np.std(means) else 1.0
        parts.append(np.mean(reference) + scale * (values - np.mean(means)))
    return np.concatenate(parts)
