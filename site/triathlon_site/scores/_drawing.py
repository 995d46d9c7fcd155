"""The data that the columns of one board are scored from: sums by task, and draws of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.metrics import Metric
from triathlon_runner.records import RECORDED
from triathlon_site.load import MEASURED, FileAggregate, Grade
from triathlon_site.ranking import DrawnRanks, drawn_ranks
from triathlon_site.scores._boards import BoardPlan, Column
from triathlon_site.scores._seeds import seeds_of
from triathlon_site.uncertainty import Draws, Sample, draw, draw_ends, rounded

Files = dict[str, dict[str, FileAggregate]]
"""By suite, then by model."""
Part = tuple[str, Metric]
"""One metric of one suite."""


@dataclass(frozen=True)
class Drawn:
    """Scores in a metric, or in the mean of several, with draws of them."""

    samples: tuple[Sample, ...]
    values: NDArray[np.float64]
    draws: Draws
    upper: "Drawn | None" = None
    """Of the upper ends, where scores are only known as ranges; `values` are the lower ends."""

    @cached_property
    def ranked(self) -> DrawnRanks:
        return drawn_ranks(self.draws, self.upper.draws if self.upper else None)

    @cached_property
    def ends(self) -> tuple[Draws, Draws]:
        """Draws for the lower and for the upper ends of intervals."""
        pairs = [draw_ends(sample) for sample in self.samples]
        low, high = (sum(ends[1:], ends[0]) / len(pairs) for ends in zip(*pairs, strict=True))
        return low, high


class Drawing:
    """Draws of one board's columns. A metric that several columns contain is drawn once."""

    def __init__(self, plan: BoardPlan, by_suite: Files, models: Sequence[str]) -> None:
        self._by_suite, self.models = by_suite, models
        self._drawn: dict[Part, Drawn] = {}
        plain = next((column for column in plan.columns if column.role == "baseline"), None)
        self.baseline = self._part(plain.parts[0]) if plain else None
        self._plan = plan
        self.headline = self._draw(plan.headline)

    def grade(self, column: Column, model: str) -> Grade:
        """`recorded` where one of the files behind the score is."""
        return RECORDED if any(file.receipt for file in self._files(column, model)) else MEASURED

    def judged_again(self, column: Column, model: str) -> bool:
        """Whether each file behind the score was measured, and graded again by this engine."""
        return all(file.judged_again == ENGINE_VERSION for file in self._files(column, model))

    def _files(self, column: Column, model: str) -> list[FileAggregate]:
        files = (self._by_suite[suite].get(model) for suite, _ in column.parts)
        return [file for file in files if file]

    def of(self, column: Column) -> Drawn:
        """The column's scores; with their upper ends where they differ from the lower ones."""
        return self.headline if column == self._plan.headline else self._draw(column)

    def _draw(self, column: Column) -> Drawn:
        low = self._mean(column.parts)
        high = self._mean(column.upper) if column.upper else low
        differ = any(
            not np.array_equal(lower.numerators, upper.numerators)
            for lower, upper in zip(low.samples, high.samples, strict=True)
        )
        return replace(low, upper=high) if differ else low

    def _mean(self, parts: Sequence[Part]) -> Drawn:
        """The mean over the parts."""
        metrics = [self._part(part) for part in parts]
        if len(metrics) == 1:
            return metrics[0]
        values = rounded(np.mean([metric.values for metric in metrics], axis=0))
        draws = sum((metric.draws for metric in metrics[1:]), metrics[0].draws) / len(metrics)
        return Drawn(tuple(sample for metric in metrics for sample in metric.samples), values, draws)

    def _part(self, part: Part) -> Drawn:
        if part not in self._drawn:
            suite, metric = part
            sample = sample_of(suite, metric, self._by_suite[suite], self.models)
            self._drawn[part] = Drawn((sample,), sample.scores(), draw(sample))
        return self._drawn[part]


def sample_of(
    suite: str, metric: Metric, files: Mapping[str, FileAggregate], models: Sequence[str]
) -> Sample:
    """One metric of one suite: a row for each of `models`, zeros where it has no file."""
    results = {model: file.metrics[metric.id] for model, file in files.items()}
    clusters = tuple(sorted({cluster for parts in results.values() for cluster in parts.clusters}))
    place = {cluster: position for position, cluster in enumerate(clusters)}
    numerators = np.zeros((len(models), len(clusters)))
    denominators = np.zeros((len(models), len(clusters)))
    for row, model in enumerate(models):
        if model in results:
            columns = [place[cluster] for cluster in results[model].clusters]
            numerators[row, columns] = results[model].numerators
            denominators[row, columns] = results[model].denominators
    seeds = seeds_of(clusters, files.values())
    return Sample(
        suite, tuple(models), clusters, numerators, denominators, metric.scale, metric.maximum, seeds
    )
