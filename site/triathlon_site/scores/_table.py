"""The numbers of one board."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.metrics import Metric
from triathlon_runner.records import Discipline
from triathlon_site.load import FileAggregate, Results
from triathlon_site.ranking import Rank, RankShift, rank_draws, rank_shifts, ranks, tiers
from triathlon_site.scores._boards import BoardPlan, Column
from triathlon_site.uncertainty import Draws, Interval, Sample, draw, interval

Array = NDArray[np.float64]
Files = dict[str, dict[str, FileAggregate]]
"""suite → model → what its file says."""


@dataclass(frozen=True, slots=True)
class Score:
    """One model in one column."""

    value: float
    interval: Interval
    tasks: int
    rank: Rank | None = None
    """None in columns that are not ranked."""
    tier: int | None = None
    shift: RankShift | None = None
    upper: float | None = None
    """The upper end where the score is only known as a range; `value` is the lower end."""


@dataclass(frozen=True, slots=True)
class ColumnScores:
    column: Column
    scores: dict[str, Score]
    """By model; only models that have one."""
    draws: Draws
    """draws × models of the board, in the order of their names; kept where others are compared with them:
    in the headline, and in columns of the baseline's metric."""
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """One discipline on one set of data. Two are the same where they are one object."""

    plan: BoardPlan
    models: tuple[str, ...]
    """By the headline's rank, then name; unranked ones last."""
    columns: tuple[ColumnScores, ...]
    files: dict[str, tuple[FileAggregate, ...]]
    """What each model's numbers come from."""
    variants: Files = field(default_factory=dict)
    """Suites that differ from this board's in one setting, those that somebody ran."""
    baseline: str = ""
    """Where rank shifts are counted from, if that is not a column of this board."""

    @property
    def headline(self) -> ColumnScores:
        return next(c for c in self.columns if c.column == self.plan.headline)

    @property
    def shown(self) -> tuple[ColumnScores, ...]:
        """The columns of the table."""
        return tuple(c for c in self.columns if c.column.role != "curve" and (c.scores or c is self.headline))

    def of_suite(self, suite: str) -> dict[str, FileAggregate]:
        """By model, in the board's order; a suite of the board or one of its variants."""
        if suite in self.variants:
            own = self.variants[suite]
            return {model: own[model] for model in self.models if model in own}
        found = ((model, file) for model in self.models for file in self.files[model] if file.suite == suite)
        return dict(found)

    def open_units(self, model: str) -> int:
        return sum(file.open_units for file in self.files[model])

    def partial(self, model: str) -> bool:
        return any(file.partial for file in self.files[model])


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A column before it is ranked."""

    samples: tuple[Sample, ...]
    values: Array
    draws: Draws


def score_board(plan: BoardPlan, results: Results) -> Board | None:
    """None where no model has a result on any of the board's suites."""
    by_suite = {entry.id: results.of_suite(entry.id) for entry in plan.suites}
    models = sorted({model for files in by_suite.values() for model, file in files.items() if file.tasks})
    if not models:
        return None
    drawing = _Drawing(by_suite, models)
    plain = next((column for column in plan.columns if column.role == "baseline"), None)
    baseline = drawing.mean_of(plain.parts) if plain else None
    columns = tuple(
        _column_scores(column, drawing, baseline, kept=_compared(column, plain)) for column in plan.columns
    )
    headline = next(c for c in columns if c.column == plan.headline)
    files = {model: tuple(own[model] for own in by_suite.values() if model in own) for model in models}
    variants = {entry.id: own for entry in plan.variants if (own := _with_tasks(results, entry.id))}
    return Board(plan, _by_rank(models, columns, headline), columns, files, variants)


def _with_tasks(results: Results, suite: str) -> dict[str, FileAggregate]:
    return {model: file for model, file in results.of_suite(suite).items() if file.tasks}


class _Drawing:
    """Draws of one board's metrics, each once: the sets of a mean have columns of their own too."""

    def __init__(self, by_suite: Files, models: Sequence[str]) -> None:
        self._by_suite, self.models = by_suite, models
        self._kept: dict[tuple[str, str], tuple[Sample, Draws]] = {}

    def mean_of(self, parts: Sequence[tuple[str, Metric]]) -> _Drawn:
        """Over the parts; nothing for no parts."""
        if not parts:
            return _Drawn((), np.empty(0), np.empty((0, 0)))
        samples, draws = zip(*(self._one(suite, metric) for suite, metric in parts), strict=True)
        values = np.mean([sample.scores() for sample in samples], axis=0)
        return _Drawn(samples, values, draws[0] if len(draws) == 1 else np.mean(draws, axis=0))

    def _one(self, suite: str, metric: Metric) -> tuple[Sample, Draws]:
        key = suite, metric.id
        if key not in self._kept:
            sample = sample_of(suite, metric, self._by_suite[suite], self.models)
            self._kept[key] = sample, draw(sample)
        return self._kept[key]


def sample_of(
    suite: str, metric: Metric, files: Mapping[str, FileAggregate], models: Sequence[str]
) -> Sample:
    """One metric of one suite: a row for each of `models`, zeros where it has no file."""
    own = {model: file.metrics[metric.id] for model, file in files.items()}
    lists = {parts.clusters for parts in own.values()}
    clusters = tuple(sorted({cluster for one in lists for cluster in one}))
    place = {cluster: position for position, cluster in enumerate(clusters)}
    columns = {one: np.array([place[cluster] for cluster in one], dtype=int) for one in lists}
    numerators = np.zeros((len(models), len(clusters)))
    denominators = np.zeros((len(models), len(clusters)))
    for row, model in enumerate(models):
        if model in own:
            where = columns[own[model].clusters]
            numerators[row, where] = own[model].numerators
            denominators[row, where] = own[model].denominators
    return Sample(suite, tuple(models), clusters, numerators, denominators, metric.scale, metric.maximum)


def _compared(column: Column, plain: Column | None) -> bool:
    """Whether others are compared with the draws of a column: a hundred models' fill three megabytes."""
    same = plain is not None and column.parts[0][1].id == plain.parts[0][1].id
    return column.headline or (same and column.ranked)


def _column_scores(column: Column, drawing: _Drawing, baseline: _Drawn | None, *, kept: bool) -> ColumnScores:
    models = drawing.models
    drawn, upper = drawing.mean_of(column.parts), drawing.mean_of(column.upper)
    spans = interval(drawn.draws, drawn.values)
    if column.upper:
        tops = interval(upper.draws, upper.values)
        spans = [Interval(low.low, high.high) for low, high in zip(spans, tops, strict=True)]
    tasks = np.sum([sample.tasks() for sample in drawn.samples], axis=0)
    none: list[None] = [None] * len(models)
    placed = ranks(drawn.values, rank_draws(drawn.draws)) if column.ranked else none
    tiered = tiers(drawn.samples, drawn.values) if column.role in {"headline", "baseline"} else none
    shifts = _shifts(drawn, baseline) if baseline and column.headline else none
    scores = {
        model: Score(
            value=float(drawn.values[row]),
            interval=spans[row],
            tasks=int(tasks[row]),
            rank=placed[row],
            tier=tiered[row],
            shift=shifts[row],
            upper=float(upper.values[row]) if column.upper else None,
        )
        for row, model in enumerate(models)
        if not np.isnan(drawn.values[row])
    }
    draws = drawn.draws if kept else np.empty((0, len(models)))
    return ColumnScores(column, scores, draws, drawn.samples)


def _shifts(drawn: _Drawn, baseline: _Drawn) -> list[RankShift | None]:
    return rank_shifts(drawn.values, drawn.draws, baseline.values, baseline.draws)


def _by_rank(
    models: Sequence[str], columns: Sequence[ColumnScores], headline: ColumnScores
) -> tuple[str, ...]:
    """Unranked ones last, by what is known of them."""

    def key(model: str) -> tuple[int, float, str]:
        score = headline.scores.get(model)
        place = score.rank.rank if score and score.rank else len(models) + 1
        return place, -known_share(model, columns), model

    return tuple(sorted(models, key=key))


def first_boards(boards: Sequence[Board]) -> list[Board]:
    """The first board of each discipline stands for it; a translation loop is a kind of loop."""
    own = [board for board in boards if board.plan.discipline != Discipline.TRANSLATION]
    return list({board.plan.discipline: board for board in reversed(own)}.values())[::-1]


def known_share(model: str, columns: Iterable[ColumnScores]) -> float:
    """Mean share of the maximum over the ranked columns that have the model; 0 where none has it."""
    known = [
        column.scores[model].value / column.column.maximum
        for column in columns
        if column.column.ranked and model in column.scores
    ]
    return sum(known) / len(known) if known else 0.0
