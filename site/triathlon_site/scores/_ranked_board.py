"""The numbers of one board."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triathlon_runner import catalogue
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.metrics import Metric
from triathlon_runner.records import RECORDED
from triathlon_site.load import FileAggregate, Results
from triathlon_site.ranking import (
    FEWEST_RANKED,
    MEASURED,
    OTHER_PROTOCOL,
    UNITS_ARE_OPEN,
    DrawnRanks,
    RankShift,
    Score,
    drawn_ranks,
    rank_shifts,
    ranks,
    tiers,
)
from triathlon_site.scores._boards import BoardPlan, Column, of_ranking, sample_of
from triathlon_site.uncertainty import (
    Differences,
    Draws,
    Interval,
    Sample,
    differences,
    draw,
    mean_scores,
    score_intervals,
)

Files = Mapping[str, Mapping[str, FileAggregate]]
"""By suite, then by model."""


@dataclass(frozen=True, slots=True)
class ColumnScores:
    column: Column
    scores: dict[str, Score]
    """By model; only models that have one, under the protocol of the ranking and without open units."""
    samples: tuple[Sample, ...]
    differences: Differences
    """Of the board's models in the order of their names; of none where the column is a point of a curve."""
    ranked: DrawnRanks
    """Of the board's models in the order of their names; empty in columns that no other is compared with: all
    but the headline and the baseline."""
    apart: Mapping[str, Score] = field(default_factory=dict)
    """Scores of models without rank, tier and test: of another protocol, or with open units."""

    def shown(self, model: str) -> Score | None:
        """The score that a table shows of a model: among few models without rank, tier and shift."""
        score = self.scores.get(model) or self.apart.get(model)
        if score and not self.has_ranks:
            score = replace(score, rank=None, tier=None)
        return replace(score, shift=None) if score and score.shift and not score.shift.told else score

    @property
    def has_ranks(self) -> bool:
        """Whether it has models enough for their ranks to say anything."""
        return len(self.scores) >= FEWEST_RANKED

    @property
    def median(self) -> float:
        """The middle of the scores, at least one, of models that are ranked."""
        return float(np.median([score.middle for score in self.scores.values()]))

    def values(self, models: Sequence[str]) -> NDArray[np.float64]:
        """What the scores of these models are ordered by; nan where one has none."""
        return np.array([self.scores[m].middle if m in self.scores else math.nan for m in models])


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """One discipline on one set of data. Compared by identity: two objects are never equal."""

    plan: BoardPlan
    models: tuple[str, ...]
    """By the headline's rank, then name; unranked ones last."""
    columns: tuple[ColumnScores, ...]
    files: dict[str, tuple[FileAggregate, ...]]
    """The files that each model's scores come from."""
    variants: Files = field(default_factory=dict)
    """Suites that differ from this board's in one setting and have results."""
    baseline: str = ""
    """The column that rank shifts are counted from, such as `evolved HumanEval`; empty where it is on this
    board."""

    @property
    def headline(self) -> ColumnScores:
        return next(c for c in self.columns if c.column == self.plan.headline)

    @property
    def shown(self) -> tuple[ColumnScores, ...]:
        """The columns of the table."""
        table = (c for c in self.columns if c.column.role != "curve")
        return tuple(c for c in table if c.scores or c.apart or c is self.headline)

    def of_suite(self, suite: str) -> dict[str, FileAggregate]:
        """By model, in the board's order; a suite of the board or one of its variants. Of one protocol."""
        if suite in self.variants:
            files = self.variants[suite]
            return {model: files[model] for model in self.models if model in files}
        return of_ranking(
            suite, {model: file for model in self.models for file in self.files[model] if file.suite == suite}
        )

    def open_units(self, model: str, suites: Collection[str] | None = None) -> int:
        """Of all its suites, or of these."""
        files = self.files[model]
        return sum(file.open_units for file in files if suites is None or file.suite in suites)

    def samples_run(self, model: str) -> str:
        """`1 of 5 samples`: samples a task where its paper takes several; empty where that is all of them."""
        wanted = {suite.id: suite.default_samples for suite in self.plan.suites}
        counts = [(file.samples, wanted[file.suite]) for file in self.files[model] if file.units]
        fewest = [f"{count} of {most} samples" for count, most in counts if count < most]
        return fewest[0] if fewest else ""


@dataclass(frozen=True)
class _Drawn:
    """Scores in a metric, or in the mean of several, with draws of them."""

    samples: tuple[Sample, ...]
    draws: Draws
    upper: "_Drawn | None" = None
    """Of the upper ends, where scores are only known as ranges; `values` are the lower ends."""

    @cached_property
    def values(self) -> NDArray[np.float64]:
        return mean_scores(self.samples)

    @cached_property
    def ranked(self) -> DrawnRanks:
        return drawn_ranks(self.draws, self.upper.draws if self.upper else None)

    @property
    def middles(self) -> NDArray[np.float64]:
        """What models are ordered by: the middles of ranges."""
        return mean_scores((*self.samples, *(self.upper.samples if self.upper else ())))

    def intervals(self) -> list[Interval]:
        """An interval for each model; of a range, one that holds those of both ends."""
        spans = score_intervals(self.samples)
        if self.upper is None:
            return spans
        return [Interval(a.low, b.high) for a, b in zip(spans, self.upper.intervals(), strict=True)]

    def shifts_from(self, baseline: "_Drawn") -> list[RankShift | None]:
        """From the ranks of `baseline` to those of these scores."""
        return rank_shifts(self.middles, self.ranked, baseline.middles, baseline.ranked)


def score_board(plan: BoardPlan, results: Results) -> Board | None:
    """None where no model has a result on any of the board's suites."""
    all_files = {entry.id: results.of_suite(entry.id) for entry in plan.suites}
    by_suite = {suite: of_ranking(suite, files) for suite, files in all_files.items()}
    models = sorted({model for files in all_files.values() for model, file in files.items() if file.units})
    if not models:
        return None
    drawn = dict(zip(plan.columns, _draw_columns(plan.columns, by_suite, models), strict=True))
    columns = [_column_scores(column, drawn, by_suite, models) for column in plan.columns]
    # Models that share no ranking on some suite have scores apart, by all their results.
    is_apart = {m for s, of in all_files.items() for m, f in of.items() if f.units and m not in by_suite[s]}
    if is_apart:
        others = {suite: {m: f for m, f in of.items() if m in is_apart} for suite, of in all_files.items()}
        for place, each in enumerate(_draw_columns(plan.columns, others, sorted(is_apart))):
            column = columns[place]
            scores = _scores(column.column, each, others, sorted(is_apart))
            apart = {model: score for model, score in scores.items() if model not in column.scores}
            columns[place] = replace(column, apart=apart)
    files = {
        model: tuple(by_model[model] for by_model in all_files.values() if model in by_model)
        for model in models
    }
    of_variants = {entry.id: of_ranking(entry.id, results.of_suite(entry.id)) for entry in plan.variants}
    variants = {suite: by_model for suite, by_model in of_variants.items() if by_model}
    headline = next(c.scores for c in columns if c.column == plan.headline)

    def order(model: str) -> tuple[int, float, str]:
        """By the rank in the headline; unranked ones last, by their scores in the other columns."""
        rank = headline[model].rank if model in headline else None
        return rank.rank if rank else len(models) + 1, -known_share(model, columns), model

    return Board(plan, tuple(sorted(models, key=order)), tuple(columns), files, variants)


def _draw_columns(columns: Sequence[Column], by_suite: Files, models: Sequence[str]) -> Iterator[_Drawn]:
    """Each column's scores. A metric that several columns contain is drawn once, so that draws are shared."""
    parts: dict[tuple[str, str], _Drawn] = {}

    def mean(of_column: Sequence[tuple[str, Metric]]) -> _Drawn:
        for suite, metric in of_column:
            if (suite, metric.id) not in parts:
                sample = sample_of(suite, metric, by_suite[suite], models)
                parts[suite, metric.id] = _Drawn((sample,), draw(sample))
        drawn = [parts[suite, metric.id] for suite, metric in of_column]
        if len(drawn) == 1:
            return drawn[0]
        draws = sum((part.draws for part in drawn[1:]), drawn[0].draws) / len(drawn)
        return _Drawn(tuple(sample for part in drawn for sample in part.samples), draws)

    for column in columns:
        low = mean(column.parts)
        high = mean(column.upper) if column.upper else low
        ends = zip(low.samples, high.samples, strict=True)
        differ = any(not np.array_equal(lower.numerators, upper.numerators) for lower, upper in ends)
        yield replace(low, upper=high) if differ else low


def _scores(
    column: Column,
    drawn: _Drawn,
    by_suite: Files,
    models: Sequence[str],
    fields: Mapping[str, Sequence[Any]] | None = None,
) -> dict[str, Score]:
    """The scores of the models that have one.

    `fields`: rank, tier and shifts of all models, by name; None where scores are apart from the ranking.
    """
    tasks = np.sum([sample.tasks() for sample in drawn.samples], axis=0).tolist()
    values, intervals = drawn.values.tolist(), drawn.intervals()
    uppers = (drawn.upper or drawn).values.tolist() if column.upper else [None] * len(models)
    scores: dict[str, Score] = {}
    for row, model in enumerate(models):
        if math.isnan(values[row]):
            continue
        files = [by_suite[suite][model] for suite in column.suites if model in by_suite[suite]]
        why_apart = UNITS_ARE_OPEN if any(file.open_units for file in files) else OTHER_PROTOCOL
        scores[model] = Score(
            value=values[row],
            interval=intervals[row],
            tasks=tasks[row],
            maximum=column.maximum,
            upper=uppers[row],
            grade=RECORDED if any(file.receipt for file in files) else MEASURED,
            judged_again=all(file.judged_again == ENGINE_VERSION for file in files),
            apart=why_apart if fields is None else "",
            **{name: of_models[row] for name, of_models in (fields or {}).items()},
        )
    return scores


def _column_scores(
    column: Column, drawn_columns: Mapping[Column, _Drawn], by_suite: Files, models: Sequence[str]
) -> ColumnScores:
    """The scores with ranks, tiers and shifts, among the models of one protocol without open units."""
    drawn = drawn_columns[column]
    baseline = next((other for other in drawn_columns if other.role == "baseline"), None)
    upper_samples = drawn.upper.samples if drawn.upper else ()
    no_differences = Differences(*(np.empty((0, 0), np.float32),) * 2, np.empty((0, 0), np.int32))
    pairwise = no_differences if column.role == "curve" else differences(drawn.samples, upper_samples)
    fields: dict[str, Sequence[Any]] = {}
    if column.ranked:
        fields["rank"] = ranks(drawn.middles, pairwise.better)
    if column.headline and baseline:
        fields["shift"] = drawn.shifts_from(drawn_columns[baseline])
    is_reference = column.role in {"headline", "baseline"}
    if is_reference:
        fields["tier"] = tiers(drawn.samples, drawn.middles, upper_samples)
    scores = _scores(column, drawn, by_suite, models, fields)
    no_ranks = DrawnRanks(*(np.empty((0, len(models)), dtype=np.int32),) * 2)
    return ColumnScores(column, scores, drawn.samples, pairwise, drawn.ranked if is_reference else no_ranks)


def part_run(files: Iterable[FileAggregate]) -> str:
    """`20 of 142`: tasks that have a line, over all these files; empty where that is all of them."""
    counts = [file.task_counts for file in files if file.manifest]
    if all(done >= whole for done, whole in counts):
        return ""
    return f"{sum(done for done, _ in counts)} of {sum(whole for _, whole in counts)}"


def first_boards(boards: Sequence[Board]) -> list[Board]:
    """The first board of each discipline; disciplines that are a kind of another (`kind_of`) are left out."""
    counted = [board for board in boards if not catalogue.discipline(board.plan.discipline).kind_of]
    return list({board.plan.discipline: board for board in reversed(counted)}.values())[::-1]


def known_share(model: str, columns: Iterable[ColumnScores]) -> float:
    """Mean share of the maximum over the ranked columns that have the model; 0 where none has it."""
    known = [
        column.scores[model].middle / column.column.maximum
        for column in columns
        if column.column.ranked and model in column.scores
    ]
    return sum(known) / len(known) if known else 0.0
