"""The numbers of one board."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.metrics import Metric
from triathlon_site.load import FileAggregate, Results
from triathlon_site.ranking import Rank, RankShift, rank_draws, rank_shifts, ranks, tiers
from triathlon_site.scores._boards import BoardPlan, Column
from triathlon_site.uncertainty import Draws, Interval, Sample, draw, interval

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Score:
    """One model in one column."""

    value: float
    interval: Interval
    tasks: int
    rank: Rank
    tier: int | None
    shift: RankShift | None


@dataclass(frozen=True, slots=True)
class ColumnScores:
    column: Column
    scores: dict[str, Score]
    """By model; only models that have one."""
    draws: Draws
    """draws × models of the board."""


@dataclass(frozen=True, slots=True)
class Board:
    """One discipline on one family of data."""

    plan: BoardPlan
    models: tuple[str, ...]
    """By the headline's rank, then name; unranked ones last."""
    columns: tuple[ColumnScores, ...]
    files: dict[str, tuple[FileAggregate, ...]]
    """What each model's numbers come from."""

    @property
    def headline(self) -> ColumnScores:
        return next(c for c in self.columns if c.column == self.plan.headline)

    def open_units(self, model: str) -> int:
        return sum(file.open_units for file in self.files[model])

    def partial(self, model: str) -> bool:
        return any(file.partial for file in self.files[model])


def score_board(plan: BoardPlan, results: Results) -> Board | None:
    """None where no model has a result on any of the board's suites."""
    by_suite = {entry.id: results.of_suite(entry.id) for entry in plan.suites}
    models = sorted({model for files in by_suite.values() for model, file in files.items() if file.tasks})
    if not models:
        return None
    samples = {column.id: _samples(column, by_suite, models) for column in plan.columns}
    drawn = {column.id: _draws(samples[column.id]) for column in plan.columns}
    values = {column.id: _scores(samples[column.id]) for column in plan.columns}
    baseline = next((column.id for column in plan.columns if column.baseline), None)
    columns = tuple(
        _column_scores(
            column,
            models,
            samples[column.id],
            values[column.id],
            drawn[column.id],
            None if baseline in (None, column.id) else (values[baseline], drawn[baseline]),
        )
        for column in plan.columns
    )
    headline = next(c for c in columns if c.column == plan.headline)
    files = {model: tuple(files[model] for files in by_suite.values() if model in files) for model in models}
    return Board(plan, _by_rank(models, headline), columns, files)


def _samples(
    column: Column, by_suite: dict[str, dict[str, FileAggregate]], models: Sequence[str]
) -> list[Sample]:
    return [_sample(suite, metric, by_suite[suite], models) for suite, metric in column.parts]


def _sample(suite: str, metric: Metric, files: dict[str, FileAggregate], models: Sequence[str]) -> Sample:
    own = {model: file.metrics[metric.id] for model, file in files.items()}
    clusters = sorted({cluster for parts in own.values() for cluster in parts.clusters})
    place = {cluster: position for position, cluster in enumerate(clusters)}
    numerators = np.zeros((len(models), len(clusters)))
    denominators = np.zeros((len(models), len(clusters)))
    for row, model in enumerate(models):
        if model in own:
            where = [place[cluster] for cluster in own[model].clusters]
            numerators[row, where] = own[model].numerators
            denominators[row, where] = own[model].denominators
    return Sample(
        suite, tuple(models), tuple(clusters), numerators, denominators, metric.scale, metric.maximum
    )


def _scores(samples: Sequence[Sample]) -> Array:
    return np.asarray(np.mean([sample.scores() for sample in samples], axis=0))


def _draws(samples: Sequence[Sample]) -> Draws:
    return np.asarray(np.mean([draw(sample) for sample in samples], axis=0))


def _column_scores(
    column: Column,
    models: Sequence[str],
    samples: Sequence[Sample],
    values: Array,
    drawn: Draws,
    baseline: tuple[Array, Draws] | None,
) -> ColumnScores:
    placed = ranks(values, rank_draws(drawn))
    tiered = tiers(samples, values) if column.headline or column.baseline else [None] * len(models)
    shifts = rank_shifts(values, drawn, *baseline) if baseline and column.headline else [None] * len(models)
    spans = interval(drawn, values)
    tasks = np.sum([sample.tasks() for sample in samples], axis=0)
    scores = {
        model: Score(float(values[row]), spans[row], int(tasks[row]), rank, tiered[row], shifts[row])
        for row, model in enumerate(models)
        if (rank := placed[row]) is not None
    }
    return ColumnScores(column, scores, drawn)


def _by_rank(models: Sequence[str], headline: ColumnScores) -> tuple[str, ...]:
    unranked = len(models) + 1

    def key(model: str) -> tuple[int, str]:
        score = headline.scores.get(model)
        return (score.rank.rank if score else unranked, model)

    return tuple(sorted(models, key=key))
