"""Two models compared task by task, in a fixed random order of clusters, by a sequential test.

The test of the mean of paired differences is valid whenever one stops. It bets on the differences d_1, d_2, …
in [-1, 1]: B's score on a task minus A's. For the hypothesis "the mean is at most m" the capital
prod_i (1 + x (d_i - m)) has an expectation of at most 1 if the hypothesis holds, for each fixed x in
[0, 1 / (1 + m)), and so has its average over several x. By Ville's inequality it exceeds 1 / alpha at any
time with a probability of at most alpha (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random
variables by betting", theorem 3 and section 4).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["worse", "not worse", "better", "undecided"]

_BETS: Final = np.linspace(0.02, 0.98, 25)
"""Shares of the largest bet that cannot lose everything; their average capital is what decides."""
_STEP: Final = 0.005
_MEANS: Final = np.linspace(-1 + _STEP, 1 - _STEP, 399)
"""Those among which the interval is searched; it is widened by a step."""
_SAME: Final = 1e-9
"""Scores that differ by less are equal."""
TaskKey = tuple[str, str]
"""(suite, task_id)."""
Cluster = tuple[TaskKey, ...]
"""Tasks whose outcomes are not independent of each other: those of one seed problem, or program."""
_Array = NDArray[np.float64]


class SequentialTest:
    """Takes differences one after another, in random order, and says what they show so far.

    "worse" is said wrongly with a probability of at most alpha / 2, and so are "better" and "not worse"
    together, however often one looks and whenever one stops.
    """

    def __init__(self, margin: float = 0.0, alpha: float = 0.05) -> None:
        """`margin`: by how much B's mean score may be lower before B counts as worse, from 0 to below 1."""
        self._limit = float(np.log(2 / alpha))
        self._margin = margin
        self._log_capital: dict[Verdict, _Array] = {
            verdict: np.zeros(len(_BETS)) for verdict in ("worse", "better", "not worse")
        }
        """Of the bets on each verdict."""
        self._differences: list[float] = []
        self.verdict: Verdict = "undecided"
        """The first verdict that the differences allowed; later ones do not change it."""

    def add(self, difference: float) -> None:
        """Counts one more pair."""
        assert -1 <= difference <= 1, "a bet on it could lose more than everything"
        self._differences.append(difference)
        gains: dict[Verdict, _Array] = {
            "worse": _gain_if_below(_BETS, difference, -self._margin),
            "better": _gain_if_above(_BETS, difference, 0.0),
            "not worse": _gain_if_above(_BETS, difference, -self._margin),
        }
        for verdict, gain in gains.items():
            self._log_capital[verdict] += np.log1p(gain)
            mean = np.logaddexp.reduce(self._log_capital[verdict]) - np.log(len(_BETS))
            if self.verdict == "undecided" and mean >= self._limit:
                self.verdict = verdict

    @property
    def count(self) -> int:
        """Pairs so far."""
        return len(self._differences)

    @property
    def mean(self) -> float:
        """Of the differences so far; nan before the first."""
        return float(np.mean(self._differences)) if self._differences else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Between which means the true one lies, with a probability of 1 - alpha at all times together."""
        differences = np.array(self._differences).reshape(-1, 1)
        above, below = (_log_capital(differences, bets) for bets in (_gain_if_above, _gain_if_below))
        possible = _MEANS[((above < self._limit) & (below < self._limit)).all(axis=0)]
        if not len(possible):  # happens with a probability of at most alpha
            return self.mean, self.mean
        low, high = float(possible[0]), float(possible[-1])
        return (-1.0 if low == _MEANS[0] else low - _STEP), (1.0 if high == _MEANS[-1] else high + _STEP)


def _log_capital(differences: _Array, gains: Callable[[Any, Any, Any], _Array]) -> _Array:
    """Of the bets against each of `_MEANS`, after each difference: differences × means."""
    total = np.full((len(differences), len(_MEANS)), -np.inf)
    for bet in _BETS:
        total = np.logaddexp(total, np.cumsum(np.log1p(gains(bet, differences, _MEANS)), axis=0))
    return total - np.log(len(_BETS))  # type: ignore[no-any-return]


def _gain_if_above(bet: Any, difference: Any, mean: Any) -> _Array:
    """Returns what a bet that the true mean is above `mean` gains of its capital."""
    return bet * (difference - mean) / (1 + mean)  # type: ignore[no-any-return]


def _gain_if_below(bet: Any, difference: Any, mean: Any) -> _Array:
    return bet * (mean - difference) / (1 - mean)  # type: ignore[no-any-return]


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

        `population` are all clusters of the suites, `planned` those that may be compared, in their order. The
        candidate counts as worse where its mean score of a task is lower by more than `margin`.
        """
        self.models, self.planned = models, tuple(planned)
        self.margin, self.alpha = margin, alpha
        self._largest = max(map(len, population))
        self._scale = self._largest * len(population) / sum(map(len, population))
        self._test = SequentialTest(margin / self._scale, alpha)
        self._scores: dict[tuple[str, TaskKey], float | None] = {}
        self.compared: list[TaskScores] = []
        """Tasks that were compared."""
        self.position = 0
        """Index of the planned cluster that comes next."""
        self.left_out = 0
        """Clusters that do not count, because a task of theirs stays open."""

    def add(self, model: str, task: TaskKey, score: float | None) -> None:
        """Takes a model's score on a task; None: the task stays open, and its cluster does not count."""
        self._scores[model, task] = score
        while self.position < len(self.planned) and not self.decided:
            tasks = self.planned[self.position]
            if any((each, key) not in self._scores for each in self.models for key in tasks):
                return
            self.position += 1
            baseline, candidate = self.models
            pairs = [(key, self._scores[baseline, key], self._scores[candidate, key]) for key in tasks]
            scores = [TaskScores(*key, a, b) for key, a, b in pairs if a is not None and b is not None]
            if len(scores) < len(tasks):
                self.left_out += 1
            else:
                self.compared += scores
                self._test.add(sum(task.difference for task in scores) / self._largest)

    def misses(self, model: str) -> bool:
        """Returns whether a planned task of a model was neither scored nor left open yet."""
        clusters = self.planned[self.position :]
        return any((model, task) not in self._scores for cluster in clusters for task in cluster)

    @property
    def verdict(self) -> Verdict:
        return self._test.verdict

    @property
    def decided(self) -> bool:
        return self.verdict != "undecided"

    @property
    def clusters(self) -> int:
        """Clusters that were compared."""
        return self._test.count

    @property
    def difference(self) -> float:
        """Candidate's mean score minus the baseline's, from -1 to 1; 0 before the first cluster."""
        return _clipped(self._test.mean * self._scale) if self.compared else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Between which ends the true difference lies, with a probability of 1 - alpha at all times."""
        low, high = self._test.interval
        return _clipped(low * self._scale), _clipped(high * self._scale)

    def lost(self) -> list[TaskScores]:
        """Returns the tasks on which the candidate's score was lower, the largest loss first."""
        lost = [task for task in self.compared if task.difference < -_SAME]
        return sorted(lost, key=lambda task: (task.difference, task.suite, task.task_id))

    def won(self) -> int:
        """Returns on how many tasks the candidate's score was higher."""
        return sum(task.difference > _SAME for task in self.compared)


def _clipped(difference: float) -> float:
    """Within the range of differences, without the noise of rounding."""
    return round(max(-1.0, min(1.0, difference)), 6) + 0.0  # no -0.0
