"""A sequential test of the mean of paired differences, valid whenever one stops.

It bets on the differences d_1, d_2, … in [-1, 1]: B's score on a task minus A's. For the hypothesis "the
mean is at most m" the capital prod_i (1 + x (d_i - m)) has an expectation of at most 1 if the hypothesis
holds, for each fixed x in [0, 1 / (1 + m)), and so has its average over several x. By Ville's inequality it
exceeds 1 / alpha at any time with a probability of at most alpha (Waudby-Smith and Ramdas 2024, "Estimating
means of bounded random variables by betting", theorem 3 and section 4).
"""

from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["worse", "not worse", "better", "undecided"]

BETS: Final = np.linspace(0.02, 0.98, 25)
"""Shares of the largest bet that cannot lose everything; their average capital is what decides."""
STEP: Final = 0.005
MEANS: Final = np.linspace(-1 + STEP, 1 - STEP, 399)
"""Those among which the interval is searched; it is widened by a step."""

_Array = NDArray[np.float64]


class SequentialTest:
    """Takes differences one after another, in random order, and says what they show so far.

    "worse" is said wrongly with a probability of at most alpha / 2, and so are "better" and "not worse"
    together, however often one looks and whenever one stops.
    """

    def __init__(self, margin: float = 0.0, alpha: float = 0.05) -> None:
        """Begins without data.

        Args:
            margin: by how much B's mean score may be lower before B counts as worse; 0 to 1, exclusive.
            alpha: the probability of a wrong verdict, 0 to 1, exclusive.

        Raises:
            ValueError: one of them is out of range.
        """
        if not 0 <= margin < 1 or not 0 < alpha < 1:
            raise ValueError(f"expected 0 <= margin < 1 and 0 < alpha < 1, got {margin!r} and {alpha!r}")
        self._limit = float(np.log(2 / alpha))
        self._margin = margin
        self._log_capital: dict[Verdict, _Array] = {
            verdict: np.zeros(len(BETS)) for verdict in ("worse", "better", "not worse")
        }
        """Of the bets on each verdict."""
        self._differences: list[float] = []
        self.verdict: Verdict = "undecided"
        """The first verdict that the differences allowed; later ones do not change it."""

    def add(self, difference: float) -> None:
        """Counts one more pair.

        Raises:
            ValueError: the difference is not between -1 and 1.
        """
        if not -1 <= difference <= 1:
            raise ValueError(f"expected a difference from -1 to 1, got {difference!r}")
        self._differences.append(difference)
        gains: dict[Verdict, _Array] = {
            "worse": _gain_if_below(BETS, difference, -self._margin),
            "better": _gain_if_above(BETS, difference, 0.0),
            "not worse": _gain_if_above(BETS, difference, -self._margin),
        }
        for verdict, gain in gains.items():
            self._log_capital[verdict] += np.log1p(gain)
            mean = np.logaddexp.reduce(self._log_capital[verdict]) - np.log(len(BETS))
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
        possible = MEANS[((above < self._limit) & (below < self._limit)).all(axis=0)]
        if not len(possible):  # happens with a probability of at most alpha
            return self.mean, self.mean
        low, high = float(possible[0]), float(possible[-1])
        return (-1.0 if low == MEANS[0] else low - STEP), (1.0 if high == MEANS[-1] else high + STEP)


def _log_capital(differences: _Array, gains: Callable[[Any, Any, Any], _Array]) -> _Array:
    """Of the bets against each of `MEANS`, after each difference: differences × means."""
    total = np.full((len(differences), len(MEANS)), -np.inf)
    for bet in BETS:
        total = np.logaddexp(total, np.cumsum(np.log1p(gains(bet, differences, MEANS)), axis=0))
    return total - np.log(len(BETS))  # type: ignore[no-any-return]


def _gain_if_above(bet: Any, difference: Any, mean: Any) -> _Array:
    """What a bet that the true mean is above `mean` gains of its capital."""
    return bet * (difference - mean) / (1 + mean)  # type: ignore[no-any-return]


def _gain_if_below(bet: Any, difference: Any, mean: Any) -> _Array:
    """What a bet that the true mean is below `mean` gains of its capital."""
    return bet * (mean - difference) / (1 - mean)  # type: ignore[no-any-return]
