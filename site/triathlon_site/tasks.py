"""Tasks: how hard each is, how well it tells models apart, which are suspect; the noise of their choice."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from triathlon_runner.catalogue import Catalogue
from triathlon_runner.metrics import Metric
from triathlon_runner.noise import NoiseBudget, median_budget, noise_budget
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load import FileAggregate
from triathlon_site.scores import sample_of
from triathlon_site.uncertainty import generator

FALSE_SHARE: Final = 0.05
"""Expected share of the tasks called suspect that are not: the false-discovery rate."""
CONSIDERED: Final = 0.5
"""p-values above it are left out, and the others divided by it (Zhao, Small and Su, JASA 114, 2019): nearly
all tasks tell models apart in the right direction, and their p-values near 1 would only cost power."""
FEW_DRAWS: Final = 1_000
MANY_DRAWS: Final = 100_000
CHUNK: Final = 10_000
CLOSE: Final = 0.02
"""p-values that are estimated again with many draws."""
EXACT: Final = 1e-9

Array = NDArray[np.float64]
FEWEST_MODELS: Final = 5
"""Fewer models neither tell tasks apart nor make one suspect."""
WHOLE: Final = 1 - EXACT


def suspects(scores: Array, rest: Array, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns which tasks correlate negatively with the rest of their suite, more than chance explains.

    The p-value of a task is the share of permutations of its scores over the models with a correlation as low
    as the observed one. The tasks are chosen by Benjamini and Hochberg's rule (1995).

    Args:
        scores: models × tasks, each less its task's mean; 0 where `known` is false.
        rest: the same for each model's mean score on all other tasks.
        known: where a model has a score on the task and on others.
    """
    p_values = np.ones(scores.shape[1])
    tested = (scores * rest).sum(axis=0) < -EXACT
    for draws in (FEW_DRAWS, MANY_DRAWS):
        p_values[tested] = _p_values(scores[:, tested], rest[:, tested], known[:, tested], draws)
        tested = p_values <= CLOSE
    suspect = np.zeros(scores.shape[1], dtype=bool)
    considered = p_values <= CONSIDERED
    suspect[considered] = chosen(p_values[considered] / CONSIDERED)
    return suspect


def chosen(p_values: Array) -> NDArray[np.bool_]:
    """Benjamini and Hochberg's rule: all up to the largest p-value that is at most its rank's share."""
    order = np.argsort(p_values)
    bounds = FALSE_SHARE * np.arange(1, len(order) + 1) / max(1, len(order))
    below = np.flatnonzero(p_values[order] <= bounds)
    is_chosen = np.zeros(len(order), dtype=bool)
    is_chosen[order[: below[-1] + 1 if len(below) else 0]] = True
    return is_chosen


def _p_values(scores: Array, rest: Array, known: NDArray[np.bool_], draws: int) -> Array:
    """Of each task, the share of the permutations of its scores whose correlation is as low.

    The observed order counts as a permutation. Tasks that the same models have share their permutations.
    """
    low = np.ones(scores.shape[1])
    groups, group_of = np.unique(known, axis=1, return_inverse=True)
    for group, has in enumerate(groups.T):
        for start in range(0, draws, CHUNK):
            orders = _permutations(int(has.sum()), start)[: draws - start]
            for task in np.flatnonzero(group_of.ravel() == group):
                own, others = scores[has, task], rest[has, task]
                low[task] += (np.take(own, orders) @ others <= own @ others + EXACT).sum()
    return low / (1 + draws)


@lru_cache(maxsize=MANY_DRAWS // CHUNK)
def _permutations(models: int, start: int) -> NDArray[np.int32]:
    """`CHUNK` of them, one a row: made once for all suites, because they cost more than what they are for."""
    random = generator("suspect", str(models), str(start))
    return random.permuted(np.tile(np.arange(models, dtype=np.int32), (CHUNK, 1)), axis=1)


@dataclass(frozen=True, slots=True)
class TaskStatistics:
    """One task of a suite (for runtime one program) over all models that have it."""

    task: str
    models: int
    solved: int
    """Models that get everything of it right."""
    mean: float
    """0 to 1."""
    loops: float | None
    """Mean of the loops sustained, in a loop suite."""
    separation: float
    """Correlation, over the models, of the score here with the mean score on all other tasks; nan where it
    cannot be said."""
    suspect: bool
    """Whether weaker models do better on it than stronger ones, and chance does not explain it."""


@dataclass(frozen=True, slots=True)
class SuiteTasks:
    """All tasks of one suite, the easiest first."""

    entry: SuiteEntry
    metric: Metric
    """What a score of a task is a share of."""
    models: tuple[str, ...]
    tasks: tuple[TaskStatistics, ...]
    scores: Array
    """models × tasks, 0 to 1; nan where a model has no result."""

    @property
    def suspect(self) -> list[TaskStatistics]:
        return [task for task in self.tasks if task.suspect]


def suite_tasks(
    entry: SuiteEntry, files: Mapping[str, FileAggregate], order: Sequence[str]
) -> SuiteTasks | None:
    """None where no model of `order` has a result.

    The score is plain pass@1 where the suite has it, else its headline.
    """
    models = [model for model in order if model in files and files[model].units]
    if not models:
        return None
    metric = solving_metric(entry)
    sample = sample_of(entry.id, metric, files, models)
    scores = sample.shares()
    loops = _loops(entry, files, models)
    numbers = zip(
        np.count_nonzero(~np.isnan(scores), axis=0).tolist(),
        np.count_nonzero(scores >= WHOLE, axis=0).tolist(),
        _means(scores),
        _means(loops) if loops is not None else [None] * len(sample.clusters),
        *(column.tolist() for column in _separations(scores)),
        strict=True,
    )
    tasks = [TaskStatistics(task, *row) for task, row in zip(sample.clusters, numbers, strict=True)]
    ease = sorted(range(len(tasks)), key=lambda i: (-tasks[i].mean, -(tasks[i].loops or 0.0), tasks[i].task))
    return SuiteTasks(entry, metric, tuple(models), tuple(tasks[i] for i in ease), scores[:, ease])


def solving_metric(entry: SuiteEntry) -> Metric:
    """Plain pass@1, else the headline."""
    plain = next((metric for metric in entry.metrics if metric.role == "baseline"), None)
    return plain or next(metric for metric in entry.metrics if metric.headline)


def _loops(entry: SuiteEntry, files: Mapping[str, FileAggregate], models: Sequence[str]) -> Array | None:
    """Models × tasks: a task that sustains l loops counts in l points of the degradation curve."""
    curve = [metric for metric in entry.metrics if metric.role in {"baseline", "curve"}]
    if len(curve) < 2:
        return None
    samples = [sample_of(entry.id, metric, files, models) for metric in curve]
    with np.errstate(invalid="ignore", divide="ignore"):
        counts = sum(sample.numerators / sample.denominators for sample in samples)
    return np.asarray(counts)


def _means(values: Array) -> list[Any]:
    """Each task's mean over its models, summed in the same order as if the task stood alone (same bits)."""
    return list(np.nanmean(np.ascontiguousarray(values.T), axis=1).tolist())


def _separations(scores: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Item-rest correlations, nan for too few models or a task that all or none solve; which are suspect."""
    known = ~np.isnan(scores)
    filled = np.where(known, scores, 0.0)
    totals, counts = filled.sum(axis=1, keepdims=True), known.sum(axis=1, keepdims=True)
    has = known & (counts > 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        (centred, varies), (rest, rest_varies) = (
            _centred(values, has) for values in (filled, (totals - filled) / (counts - 1))
        )
        squares = (centred * centred).sum(axis=0) * (rest * rest).sum(axis=0)
        correlations = np.clip((centred * rest).sum(axis=0) / np.sqrt(squares), -1.0, 1.0)
    enough = (has.sum(axis=0) >= FEWEST_MODELS) & varies & rest_varies
    suspect = suspects(np.where(enough, centred, 0.0), rest, has)
    return np.where(enough, correlations, math.nan), suspect


def _centred(values: Array, has: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """Each task's values less their mean, 0 for a model that does not count; which tasks' values differ."""
    mean = values.sum(axis=0, where=has) / has.sum(axis=0)
    least = values.min(axis=0, where=has, initial=math.inf)
    most = values.max(axis=0, where=has, initial=-math.inf)
    return np.where(has, values - mean, 0.0), most > least


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


def score_noise(files: Sequence[FileAggregate], known: Catalogue) -> list[ScoreNoise]:
    """The budget of each file with several samples a task, of headlines that are means over units."""
    return [noise for file in files if (noise := _of_file(file, known.find(file.suite))) is not None]


def suite_noise(files: Sequence[FileAggregate], known: Catalogue) -> list[SuiteNoise]:
    """The budgets by suite, in the order of the files."""
    suites: dict[str, list[ScoreNoise]] = {}
    for noise in score_noise(files, known):
        suites.setdefault(noise.suite, []).append(noise)
    result = []
    for suite, of_suite in suites.items():
        shares = [noise.budget.sampling_share for noise in of_suite]
        middle = median_budget([noise.budget for noise in of_suite])
        span = (min(shares), median(shares), max(shares))
        sentence = middle.sentence(maximum=of_suite[0].maximum)
        result.append(SuiteNoise(suite, len(of_suite), middle.tasks, middle.samples, span, sentence))
    return result


def _of_file(file: FileAggregate, entry: SuiteEntry | None) -> ScoreNoise | None:
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
