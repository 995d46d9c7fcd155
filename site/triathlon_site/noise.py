"""How much of a score's noise comes from the choice of tasks, and how much from sampling.

Two levels: task i has an expected score mu_i, which varies from task to task with variance B; a sample of it
scores mu_i plus an error whose variance, in the mean over tasks, is W. The mean over n tasks with k samples
each then varies, by the law of total variance, as

    Var = B / n + W / (n k)

(Miller, "Adding Error Bars to Evals", arXiv 2411.00640, 2024). B and W are estimated by the analysis of
variance with one random factor (Searle, Casella and McCulloch, "Variance Components", 1992, chapter 3), where
task i has k_i samples y_ij and N is the number of all samples:

    MSW = sum_ij (y_ij - mean_i)^2 / (N - n)            W = MSW
    MSB = sum_i k_i (mean_i - mean)^2 / (n - 1)         B = max(0, (MSB - MSW) / k0)
    k0  = (N - sum_i k_i^2 / N) / (n - 1)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

Z_95: Final = 1.959964
"""Of a 95 % interval."""
MORE_TASKS: Final = 100
"""Tasks that a budget is compared with."""


@dataclass(frozen=True, slots=True)
class NoiseBudget:
    """The two parts of the variance of one score, on the score's own scale."""

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
        return Z_95 * math.sqrt((self.between + self.within / samples) / tasks)

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
