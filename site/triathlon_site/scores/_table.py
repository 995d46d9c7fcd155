"""The numbers of one board."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_runner import catalogue
from triathlon_site.load import MEASURED, FileAggregate, Grade, Results
from triathlon_site.ranking import DrawnRanks, Rank, RankShift, rank_shifts, ranks, tiers
from triathlon_site.scores._boards import BoardPlan, Column
from triathlon_site.scores._drawing import Drawing, Drawn, Files
from triathlon_site.uncertainty import (
    Differences,
    Interval,
    Sample,
    differences,
    interval,
    pass_fail_interval,
)


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
    contrast: RankShift | None = None
    """From the rank in the headline to the rank here; None in the headline and where it is not ranked."""
    grade: Grade = MEASURED
    """`recorded` where a file that it comes from is."""
    judged_again: bool = False
    """Whether every file behind it was measured and graded again here, as for submitted results."""


@dataclass(frozen=True, slots=True)
class ColumnScores:
    column: Column
    scores: dict[str, Score]
    """By model; only models that have one."""
    samples: tuple[Sample, ...]
    differences: Differences
    """Of the board's models in the order of their names; of none where the column is a point of a curve."""
    ranked: DrawnRanks
    """Of the board's models in the order of their names; empty in columns that no other is compared with: all
    but the headline and the baseline."""

    def values(self, models: Sequence[str]) -> NDArray[np.float64]:
        """The scores of these models; nan where one has none."""
        return np.array([self.scores[m].value if m in self.scores else math.nan for m in models])


NO_DIFFERENCES: Final = Differences(*(np.empty((0, 0), np.float32),) * 2, np.empty((0, 0), np.int32))


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
        return tuple(c for c in self.columns if c.column.role != "curve" and (c.scores or c is self.headline))

    def of_suite(self, suite: str) -> dict[str, FileAggregate]:
        """By model, in the board's order; a suite of the board or one of its variants."""
        if suite in self.variants:
            files = self.variants[suite]
            return {model: files[model] for model in self.models if model in files}
        return {model: file for model in self.models for file in self.files[model] if file.suite == suite}

    def open_units(self, model: str, suites: Collection[str] | None = None) -> int:
        """Of all its suites, or of these."""
        files = self.files[model]
        return sum(file.open_units for file in files if suites is None or file.suite in suites)

    def part_run(self, model: str) -> str:
        """`20 of 142`: tasks that were planned, over all its suites; empty where that is all of them."""
        if not any(file.partial for file in self.files[model]):
            return ""
        manifests = [file.manifest for file in self.files[model] if file.manifest]
        planned = sum(manifest.tasks_planned for manifest in manifests)
        return f"{planned} of {sum(manifest.tasks_in_suite for manifest in manifests)}"


def score_board(plan: BoardPlan, results: Results) -> Board | None:
    """None where no model has a result on any of the board's suites."""
    by_suite = {entry.id: results.of_suite(entry.id) for entry in plan.suites}
    models = sorted({model for files in by_suite.values() for model, file in files.items() if file.units})
    if not models:
        return None
    drawing = Drawing(plan, by_suite, models)
    columns = tuple(_column_scores(column, drawing) for column in plan.columns)
    headline = next(c for c in columns if c.column == plan.headline)
    files = {
        model: tuple(by_model[model] for by_model in by_suite.values() if model in by_model)
        for model in models
    }
    variants = {entry.id: by_model for entry in plan.variants if (by_model := _with_tasks(results, entry.id))}
    return Board(plan, _by_rank(models, columns, headline), columns, files, variants)


def _with_tasks(results: Results, suite: str) -> dict[str, FileAggregate]:
    return {model: file for model, file in results.of_suite(suite).items() if file.units}


def _column_scores(column: Column, drawing: Drawing) -> ColumnScores:
    models, drawn = drawing.models, drawing.of(column)
    upper = drawn.upper
    values = drawn.values.tolist()
    intervals = _intervals(drawn)
    if upper:
        pairs = zip(intervals, _intervals(upper), strict=True)
        intervals = [Interval(lower_end.low, upper_end.high) for lower_end, upper_end in pairs]
    tasks = np.sum([sample.tasks() for sample in drawn.samples], axis=0).tolist()
    unknown: list[None] = [None] * len(models)
    is_reference = column.role in {"headline", "baseline"}
    upper_samples = upper.samples if upper else ()
    pairwise = differences(drawn.samples, upper_samples) if column.role != "curve" else NO_DIFFERENCES
    rank = ranks(drawn.values, pairwise.better) if column.ranked else unknown
    tier = tiers(drawn.samples, drawn.values, upper_samples) if is_reference else unknown
    shift = _shifts(drawn, drawing.baseline) if drawing.baseline and column.headline else unknown
    upper_values = (upper or drawn).values.tolist() if column.upper else unknown
    contrast = _shifts(drawn, drawing.headline) if column.ranked and not column.headline else unknown
    scores = {
        model: Score(
            value=values[row],
            interval=intervals[row],
            tasks=tasks[row],
            rank=rank[row],
            tier=tier[row],
            shift=shift[row],
            upper=upper_values[row],
            contrast=contrast[row],
            grade=drawing.grade(column, model),
            judged_again=drawing.judged_again(column, model),
        )
        for row, model in enumerate(models)
        if not math.isnan(values[row])
    }
    ranked = drawn.ranked if is_reference else DrawnRanks(*(np.empty((0, len(models)), dtype=np.int32),) * 2)
    return ColumnScores(column, scores, drawn.samples, pairwise, ranked)


def _intervals(drawn: Drawn) -> list[Interval]:
    """An interval for each model; models with equal outcomes get the same interval, although draws differ.

    In a column of one suite, outcomes are equal where as many tasks ended in each way; in a mean over suites
    only where every task ended in the same way, because tasks of different suites may have the same seed.
    """
    spans = interval(drawn.ends, drawn.values)
    if len(drawn.samples) == 1:
        spans = [pass_fail_interval(drawn.samples[0], row) or span for row, span in enumerate(spans)]
    first: dict[bytes, Interval] = {}
    return [first.setdefault(_outcomes(drawn.samples, row), span) for row, span in enumerate(spans)]


def _outcomes(samples: Sequence[Sample], row: int) -> bytes:
    parts = [np.stack([sample.numerators[row], sample.denominators[row]]) for sample in samples]
    if len(parts) == 1:
        parts = [part[:, np.lexsort(part)] for part in parts]
    return b"".join(part.tobytes() for part in parts)


def _shifts(drawn: Drawn, baseline: Drawn) -> list[RankShift | None]:
    return rank_shifts(drawn.values, drawn.ranked, baseline.values, baseline.ranked)


def _by_rank(
    models: Sequence[str], columns: Sequence[ColumnScores], headline: ColumnScores
) -> tuple[str, ...]:
    """Models by their rank in the headline; unranked ones last, by their scores in the other columns."""

    def key(model: str) -> tuple[int, float, str]:
        score = headline.scores.get(model)
        place = score.rank.rank if score and score.rank else len(models) + 1
        return place, -known_share(model, columns), model

    return tuple(sorted(models, key=key))


def first_boards(boards: Sequence[Board]) -> list[Board]:
    """The first board of each discipline; disciplines that are a kind of another (`kind_of`) are left out."""
    counted = [board for board in boards if not catalogue.discipline(board.plan.discipline).kind_of]
    return list({board.plan.discipline: board for board in reversed(counted)}.values())[::-1]


def known_share(model: str, columns: Iterable[ColumnScores]) -> float:
    """Mean share of the maximum over the ranked columns that have the model; 0 where none has it."""
    known = [
        column.scores[model].value / column.column.maximum
        for column in columns
        if column.column.ranked and model in column.scores
    ]
    return sum(known) / len(known) if known else 0.0
