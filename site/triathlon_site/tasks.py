"""Tasks: how hard each is, how well it tells models apart; the noise of their choice."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from triathlon_runner.catalogue import Catalogue
from triathlon_runner.metrics import Metric
from triathlon_runner.records import samples_are_copies
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load import FileAggregate
from triathlon_site.scores import sample_of
from triathlon_site.uncertainty import Z

Array = NDArray[np.float64]
FEWEST_MODELS: Final = 5
"""Fewer models do not tell tasks apart."""
WHOLE: Final = 1 - 1e-9
MORE_TASKS: Final = 100
"""Tasks that a budget is compared with."""


@dataclass(frozen=True, slots=True)
class SuiteTasks:
    """All tasks of one suite, the easiest first."""

    entry: SuiteEntry
    metric: Metric
    """What a score of a task is a share of."""
    models: tuple[str, ...]
    tasks: list[Any]
    """Of each (for runtime of each program) its name `task`; `models`, how many have it; `solved`, how many
    of them get everything of it right; their `mean`, 0 to 1; `loops`, the mean of those sustained, None
    outside loop suites; `separation`, the correlation, over the models, of the score here with the mean score
    on all other tasks, nan where it cannot be said.
    """
    scores: Array
    """models × tasks, 0 to 1; nan where a model has no result."""


def suite_tasks(entry: SuiteEntry, files: Mapping[str, FileAggregate], order: Sequence[str]) -> SuiteTasks:
    """The tasks of a suite in which at least one model of `order` has a result.

    The score is plain pass@1 where the suite has it, else its headline.
    """
    models = [model for model in order if model in files]
    metric = solving_metric(entry)
    sample = sample_of(entry.id, metric, files, models)
    scores = sample.shares()
    loops = next((metric for metric in entry.metrics if metric.id == "loops"), None)
    sustained = _means(loops.maximum * sample_of(entry.id, loops, files, models).shares()) if loops else None
    statistics = {
        "task": sample.clusters,
        "models": np.count_nonzero(~np.isnan(scores), axis=0),
        "solved": np.count_nonzero(scores >= WHOLE, axis=0),
        "mean": _means(scores),
        "loops": sustained,
        "separation": _separations(scores),
    }
    order_by = ["mean", *(["loops"] if loops else []), "task"]
    ease = pd.DataFrame(statistics).sort_values(order_by, ascending=[name == "task" for name in order_by])
    return SuiteTasks(entry, metric, tuple(models), list(ease.itertuples(index=False)), scores[:, ease.index])


def solving_metric(entry: SuiteEntry) -> Metric:
    """Plain pass@1, else the headline."""
    plain = next((metric for metric in entry.metrics if metric.role == "baseline"), None)
    return plain or next(metric for metric in entry.metrics if metric.headline)


def _means(values: Array) -> list[Any]:
    """Each task's mean over its models, summed in the same order as if the task stood alone (same bits)."""
    return list(np.nanmean(np.ascontiguousarray(values.T), axis=1).tolist())


def _separations(scores: Array) -> list[float]:
    """Item-rest correlations; nan for too few models, or for a task that all or none solve."""
    own = pd.DataFrame(scores)
    rest = own.rsub(own.sum(axis=1), axis=0).div(own.count(axis=1) - 1, axis=0)
    own = own.where(rest.notna())  # a model that was asked this task alone has no rest
    told = (own.count() >= FEWEST_MODELS) & (own.max() > own.min()) & (rest.max() > rest.min())
    return list(own.corrwith(rest).clip(-1, 1).where(told))


@dataclass(frozen=True, slots=True)
class NoiseBudget:
    """How much of a score's variance is the choice of tasks, how much sampling, on the score's own scale.

    Two levels: task i has an expected score mu_i, which varies from task to task with variance B; a sample of
    it scores mu_i plus an error whose variance, in the mean over tasks, is W. The mean over n tasks with k
    samples each then varies, by the law of total variance, as

        Var = B / n + W / (n k)

    (Miller, "Adding Error Bars to Evals", arXiv 2411.00640, 2024).
    """

    tasks: int
    samples: float
    """Of a task, in the mean."""
    between: float
    """B: variance of the tasks' expected scores."""
    within: float
    """W: variance of one sample around its task's expected score, in the mean over tasks."""

    @property
    def sampling_share(self) -> float:
        """Part of the variance of a score of one sample a task that comes from sampling, 0 to 1."""
        total = self.between + self.within
        return self.within / total if total else 0.0

    def half_width(self, tasks: int, samples: float) -> float:
        """Half the width of the 95 % interval of the mean over so many tasks and samples of each."""
        return Z * math.sqrt((self.between + self.within / samples) / tasks)

    def sentence(self, *, maximum: float = 1.0) -> str:
        """What more samples (those that there are, at least 3), and what more tasks, make of the interval.

        `maximum` is the score's: a share of 1 is shown in per cent.
        """
        n = self.tasks
        k = max(3, round(self.samples))
        scale, digits = (100, 1) if maximum == 1 else (1, 1 if maximum > 10 else 2)
        widths = (scale * self.half_width(*size) for size in ((n, 1), (n, k), (n + MORE_TASKS, 1)))
        now, repeated, larger = (f"±{width:.{digits}f}" for width in widths)
        return f"{k} repeats narrow {now} to {repeated}; {MORE_TASKS} more tasks to {larger}"


def noise_budget(samples: Sequence[Sequence[float]]) -> NoiseBudget | None:
    """The noise budget of a score, from the scores of each task's samples, however many a task has.

    B and W are estimated by the analysis of variance with one random factor (Searle, Casella and McCulloch,
    "Variance Components", 1992, chapter 3), where task i has k_i samples y_ij and N is their number:

        MSW = sum_ij (y_ij - mean_i)^2 / (N - n)            W = MSW
        MSB = sum_i k_i (mean_i - mean)^2 / (n - 1)         B = max(0, (MSB - MSW) / k0)
        k0  = (N - sum_i k_i^2 / N) / (n - 1)

    None where fewer than two tasks, or no task has two samples.
    """
    tasks = [list(map(float, scores)) for scores in samples if scores]
    n, total = len(tasks), sum(map(len, tasks))
    if n < 2 or total == n:
        return None
    means = [sum(scores) / len(scores) for scores in tasks]
    mean = sum(map(sum, tasks)) / total
    errors = sum((y - centre) ** 2 for scores, centre in zip(tasks, means, strict=True) for y in scores)
    within = errors / (total - n)
    spread = sum(len(scores) * (centre - mean) ** 2 for scores, centre in zip(tasks, means, strict=True))
    spread /= n - 1
    weight = (total - sum(len(scores) ** 2 for scores in tasks) / total) / (n - 1)
    return NoiseBudget(n, total / n, max(0.0, (spread - within) / weight), within)


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


def score_noise(files: Sequence[FileAggregate], known: Catalogue) -> list[ScoreNoise]:
    """The budget of each file with several samples a task, of headlines that are means over units."""
    return [noise for file in files if (noise := _of_file(file, known.find(file.suite))) is not None]


def _of_file(file: FileAggregate, entry: SuiteEntry | None) -> ScoreNoise | None:
    metric = next((metric for metric in entry.metrics if metric.headline), None) if entry else None
    if metric is None or not file.units or file.tasks_answered == file.units:
        return None
    run = file.manifest
    if run and run.origin is None and samples_are_copies(run.sampling):
        return None  # they say nothing of how replies vary
    tasks, _ = pd.factorize(np.array(file.columns.task), sort=True)
    values = file.columns.scores[metric.id][np.argsort(tasks, kind="stable")]
    by_task = [of_task.tolist() for of_task in np.split(values, np.cumsum(np.bincount(tasks))[:-1])]
    mean = np.mean([sum(of_task) / len(of_task) for of_task in by_task])
    if not np.isclose(mean, file.metrics[metric.id].score(metric)):
        return None  # a ratio of sums, such as F1: its units have no variance of their own
    budget = noise_budget(by_task)
    return ScoreNoise(file.model, file.suite, metric.id, metric.maximum, budget) if budget else None
