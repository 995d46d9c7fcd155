"""Two models compared task by task, in a fixed random order of clusters, until the test has a verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_runner.gate._clusters import Cluster, TaskKey
from triathlon_runner.gate._sequential import SequentialTest, Verdict

SAME: Final = 1e-9
"""Scores that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A task on which the candidate's score was lower."""

    suite: str
    task_id: str
    baseline: float
    candidate: float


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
        self._compared: list[Cluster] = []
        self._looked_at = 0

    def add(self, model: str, task: TaskKey, score: float | None) -> None:
        """Takes a model's score on a task; None: the task stays open, and its cluster does not count."""
        self._scores[model, task] = score
        while self.position < len(self.planned) and not self.decided:
            cluster = self.planned[self.position]
            if any(key not in self._scores for key in self._keys(cluster)):
                return
            self._looked_at += 1
            if all(self._scores[key] is not None for key in self._keys(cluster)):
                self._compared.append(cluster)
                self._test.add(self._difference(cluster))

    def _keys(self, cluster: Cluster) -> Iterator[tuple[str, TaskKey]]:
        return ((model, task) for model in self.models for task in cluster.tasks)

    def _difference(self, cluster: Cluster) -> float:
        baseline, candidate = self.models
        return sum(self.score(candidate, task) - self.score(baseline, task) for task in cluster.tasks) / (
            self._largest
        )

    def score(self, model: str, task: TaskKey) -> float:
        """Returns a score that has been added."""
        score = self._scores[model, task]
        assert score is not None, "only clusters without open tasks are compared"
        return score

    def misses(self, model: str) -> bool:
        """Returns whether a planned task of a model was neither scored nor left open yet."""
        return any(
            (model, task) not in self._scores
            for cluster in self.planned[self.position :]
            for task in cluster.tasks
        )

    @property
    def position(self) -> int:
        """Index of the planned cluster that comes next."""
        return self._looked_at

    @property
    def verdict(self) -> Verdict:
        return self._test.verdict

    @property
    def decided(self) -> bool:
        return self._test.verdict != "undecided"

    @property
    def tasks(self) -> int:
        """Tasks that were compared."""
        return sum(len(cluster.tasks) for cluster in self._compared)

    @property
    def clusters(self) -> int:
        """Clusters that were compared."""
        return len(self._compared)

    @property
    def left_out(self) -> int:
        """Clusters that do not count, because a task of theirs stays open."""
        return self._looked_at - len(self._compared)

    @property
    def difference(self) -> float:
        """Candidate's mean score minus the baseline's, from -1 to 1; 0 before the first cluster."""
        return _clipped(self._test.mean * self._scale) if self._compared else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Between which ends the true difference lies, with a probability of 1 - alpha at all times."""
        low, high = self._test.interval
        return _clipped(low * self._scale), _clipped(high * self._scale)

    def lost(self) -> list[Loss]:
        """Returns the tasks on which the candidate's score was lower, the largest loss first."""
        baseline, candidate = self.models
        losses = [
            Loss(*task, self.score(baseline, task), self.score(candidate, task))
            for cluster in self._compared
            for task in cluster.tasks
        ]
        losses = [loss for loss in losses if loss.baseline - loss.candidate > SAME]
        return sorted(losses, key=lambda loss: (loss.candidate - loss.baseline, loss.suite, loss.task_id))

    def won(self) -> int:
        """Returns on how many tasks the candidate's score was higher."""
        baseline, candidate = self.models
        return sum(
            self.score(candidate, task) - self.score(baseline, task) > SAME
            for cluster in self._compared
            for task in cluster.tasks
        )


def _clipped(difference: float) -> float:
    """Within the range of differences, without the noise of rounding."""
    return round(max(-1.0, min(1.0, difference)), 6) + 0.0  # no -0.0
