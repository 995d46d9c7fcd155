"""Noise budgets of scores: the part from the choice of tasks and the part from sampling."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import pandas as pd

from triathlon_runner import catalogue
from triathlon_runner.noise import NoiseBudget, median_budget, noise_budget
from triathlon_site.load import FileAggregate


@dataclass(frozen=True, slots=True)
class ScoreNoise:
    """The noise budget of one model's headline on one suite."""

    model: str
    suite: str
    metric: str
    """Id of the headline."""
    maximum: float
    budget: NoiseBudget

    @property
    def sentence(self) -> str:
        """What repeats and more tasks would make of the interval."""
        return self.budget.sentence(maximum=self.maximum)


@dataclass(frozen=True, slots=True)
class SuiteNoise:
    """The noise budgets of all models of a suite, summed up."""

    suite: str
    models: int
    tasks: int
    samples: float
    """Of a task, in the largest run."""
    sampling_share: tuple[float, float, float]
    """Smallest, median and largest part of the variance of one sample a task that comes from sampling."""
    sentence: str
    """Of the median model."""


def score_noise(files: Sequence[FileAggregate]) -> list[ScoreNoise]:
    """The budget of each file with several samples a task, of headlines that are means over units."""
    return [found for file in files if (found := _of_file(file)) is not None]


def suite_noise(files: Sequence[FileAggregate]) -> list[SuiteNoise]:
    """The budgets by suite, in the order of the files."""
    suites: dict[str, list[ScoreNoise]] = {}
    for noise in score_noise(files):
        suites.setdefault(noise.suite, []).append(noise)
    result = []
    for suite, of_suite in suites.items():
        shares = [noise.budget.sampling_share for noise in of_suite]
        middle = median_budget([noise.budget for noise in of_suite])
        span = (min(shares), median(shares), max(shares))
        sentence = middle.sentence(maximum=of_suite[0].maximum)
        result.append(SuiteNoise(suite, len(of_suite), middle.tasks, middle.samples, span, sentence))
    return result


def _of_file(file: FileAggregate) -> ScoreNoise | None:
    entry = catalogue.find(file.suite)
    metric = next((metric for metric in entry.metrics if metric.headline), None) if entry else None
    if metric is None or not file.units or file.frame["task"].is_unique:
        return None
    if file.manifest and file.manifest.has_copies:
        return None
    tasks, _ = pd.factorize(file.frame["task"], sort=True)
    values = file.frame[metric.id].to_numpy(float)[np.argsort(tasks, kind="stable")]
    by_task = [of_task.tolist() for of_task in np.split(values, np.cumsum(np.bincount(tasks))[:-1])]
    mean = np.mean([sum(of_task) / len(of_task) for of_task in by_task])
    if not np.isclose(mean, file.metrics[metric.id].score(metric)):
        return None  # a ratio of sums, such as F1: its units have no variance of their own
    budget = noise_budget(by_task)
    return ScoreNoise(file.model, file.suite, metric.id, metric.maximum, budget) if budget else None
