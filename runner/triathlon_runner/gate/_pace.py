"""How a gate asks: pair by pair in the test's order, a few clusters ahead, until the test is decided."""

import asyncio
import math
from collections.abc import Mapping
from typing import Final

from triathlon_runner.gate._comparison import Comparison
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule import Control
from triathlon_runner.store import Unit
from triathlon_runner.suites import SuiteEntry

AHEAD: Final = 8
"""Clusters that are asked at the same time. More would ask tasks that the verdict may not need, fewer would
leave servers idle."""


def score_of(entry: SuiteEntry, record: UnitRecord) -> float:
    """Returns the headline metric of one unit over its maximum, 0 to 1.

    pass@1: 1 or 0. ASL: (l / M)^2 times the similarity, its lower end where that is unknown (EVALOOOP,
    equation 1). IC: the mean over the unit's statements (REval, section III-C).
    """
    headline = next(metric for metric in entry.metrics if metric.headline)
    score = headline.score([record]) / headline.maximum
    return 0.0 if math.isnan(score) else score  # nan: the unit has nothing to count


class GatePace:
    """Implements `Pace`: takes scores to the comparison, and stops the run when that is decided."""

    def __init__(
        self,
        comparison: Comparison,
        entries: Mapping[str, SuiteEntry],
        control: Control,
        served: frozenset[str],
    ) -> None:
        """Begins before any question was asked.

        `served` are the models that we start a server for. Where the machine has no room for both, the second
        one starts when the first has ended, so the first must not wait for the second.
        """
        self._comparison = comparison
        self._entries = entries
        self._control = control
        self._served = served
        self._answering: set[str] = set()
        self._changed = asyncio.Event()
        self._positions = {
            task: position for position, cluster in enumerate(comparison.planned) for task in cluster.tasks
        }
        control.stop.on_stop.append(self._wake)

    def position(self, suite: str, unit: Unit) -> int:
        """Returns the index of the unit's cluster."""
        return self._positions[suite, unit[0]]

    async def ready(self, model: str, suite: str, unit: Unit) -> None:
        """Returns once the unit's cluster is among the next ones, or once the run is to stop."""
        if model not in self._answering:
            self._answering.add(model)
            self._wake()
        while not self._control.stop.asked and not self._may_begin(model, self.position(suite, unit)):
            await self._changed.wait()

    def _may_begin(self, model: str, position: int) -> bool:
        if position < self._comparison.position + AHEAD:
            return True
        return model in self._served and any(
            opponent not in self._answering and self._comparison.misses(opponent)
            for opponent in self._comparison.models
            if opponent != model
        )

    def finished(self, model: str, suite: str, unit: Unit, record: UnitRecord | None) -> None:
        """Takes the score; a unit that stays open takes its cluster out of the comparison."""
        if record is None and self._control.stop.asked:
            return  # a later gate asks it: nothing has failed
        score = None if record is None else score_of(self._entries[suite], record)
        self._comparison.add(model, (suite, unit[0]), score)
        if self._comparison.decided:
            self._control.stop.ask(f"the comparison is decided after {self._comparison.tasks} tasks")
        self._wake()

    def ended(self, model: str) -> None:
        """Stops the run where a model ended early: the other's answers would have no pair."""
        if self._comparison.misses(model):
            self._control.stop.ask(f"{model} is not asked any more")

    def _wake(self) -> None:
        self._changed.set()
        self._changed.clear()
