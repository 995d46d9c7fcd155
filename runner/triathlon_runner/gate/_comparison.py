"""Two models compared task by task, in a fixed random order of clusters, until the test has a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_runner.gate._sequential import SequentialTest, Verdict

SAME: Final = 1e-9
"""Scores that differ by less are equal."""


TaskKey = tuple[str, str]
"""(suite, task_id)."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Tasks whose outcomes are not independent of each other."""

    name: str
    """The seed problem, or the program."""
    tasks: tuple[TaskKey, ...]


@dataclass(frozen=True, slots=True)
class TaskScores:
    """Both models' scores on one task."""

    suite: str
    task_id: str
    baseline: float
    candidate: float

    @property
    def difference(self) -> float:
        return self.candidate - self.baseline


class Comparison:
    """Takes scores as they come and counts clusters in their order.

    Counting them as they come would be wrong: a reply that takes long is a wrong one more often.

    A cluster's difference is the sum of its tasks' differences (candidate minus baseline, scores from 0 to 1)
    over the size of the largest cluster. Its mean over clusters times `_scale` is the mean over tasks.
    """

    def __init__(
        self,
        population: Sequence[Cluster],
        planned: Sequence[Cluster],
        models: tuple[str, str],
        *,
        margin: float = 0.0,
        alpha: float = 0.05,
    ) -> None:
        """Begins without scores.

        Args:
            population: all clusters of the suites.
            planned: those that may be compared, in their order.
            models: ids of the baseline and of the candidate.
            margin: by how much the candidate's mean score of a task may be lower before it counts as worse.
            alpha: the probability of a wrong verdict.
        """
        self.models = models
        self.planned = tuple(planned)
        self.margin, self.alpha = margin, alpha
        self._largest = max(len(cluster.tasks) for cluster in population)
        self._scale = self._largest * len(population) / sum(len(cluster.tasks) for cluster in population)
        self._test = SequentialTest(margin / self._scale, alpha)
        self._scores: dict[tuple[str, TaskKey], float | None] = {}
        self.clusters = 0
        """Clusters that were compared."""
        self._compared: list[TaskScores] = []
        self.position = 0
        """Index of the planned cluster that comes next."""

    def add(self, model: str, task: TaskKey, score: float | None) -> None:
        """Takes a model's score on a task; None: the task stays open, and its cluster does not count."""
        self._scores[model, task] = score
        while self.position < len(self.planned) and not self.decided:
            tasks = self.planned[self.position].tasks
            if any((each, key) not in self._scores for each in self.models for key in tasks):
                return
            self.position += 1
            baseline, candidate = self.models
            pairs = [(key, self._scores[baseline, key], self._scores[candidate, key]) for key in tasks]
            scores = [TaskScores(*key, a, b) for key, a, b in pairs if a is not None and b is not None]
            if len(scores) == len(tasks):
                self.clusters += 1
                self._compared += scores
                self._test.add(sum(task.difference for task in scores) / self._largest)

    def misses(self, model: str) -> bool:
        """Returns whether a planned task of a model was neither scored nor left open yet."""
        return any(
            (model, task) not in self._scores
            for cluster in self.planned[self.position :]
            for task in cluster.tasks
        )

    @property
    def verdict(self) -> Verdict:
        return self._test.verdict

    @property
    def decided(self) -> bool:
        return self._test.verdict != "undecided"

    @property
    def tasks(self) -> int:
        """Tasks that were compared."""
        return len(self._compared)

    @property
    def left_out(self) -> int:
        """Clusters that do not count, because a task of theirs stays open."""
        return self.position - self.clusters

    @property
    def difference(self) -> float:
        """Candidate's mean score minus the baseline's, from -1 to 1; 0 before the first cluster."""
        return _clipped(self._test.mean * self._scale) if self._compared else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Between which ends the true difference lies, with a probability of 1 - alpha at all times."""
        low, high = self._test.interval
        return _clipped(low * self._scale), _clipped(high * self._scale)

    def lost(self) -> list[TaskScores]:
        """Returns the tasks on which the candidate's score was lower, the largest loss first."""
        lost = [task for task in self._compared if task.difference < -SAME]
        return sorted(lost, key=lambda task: (task.difference, task.suite, task.task_id))

    def won(self) -> int:
        """Returns on how many tasks the candidate's score was higher."""
        return sum(task.difference > SAME for task in self._compared)


def _clipped(difference: float) -> float:
    """Within the range of differences, without the noise of rounding."""
    return round(max(-1.0, min(1.0, difference)), 6) + 0.0  # no -0.0
