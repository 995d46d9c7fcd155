"""How far a model is with its suites, and how long it will take."""

import math
import time
from dataclasses import dataclass, field

from triathlon_runner.schedule._stop import Account


@dataclass(slots=True)
class Tally:
    """How far one model is with one suite, or with all of them."""

    planned: int
    done_before: int
    done: int = 0
    failed: int = 0
    """Units whose infrastructure failed in this run; they stay open."""
    from_earlier_run: int = 0
    """Of the units done, those whose replies were in the cache before: they say nothing about its speed."""
    started: float = math.inf
    last_done: float = -math.inf
    """When the last unit was done that a server answered."""
    slowest: float = 0.0
    """Seconds that the slowest of these units took."""

    @property
    def open(self) -> int:
        return self.planned - self.done_before - self.done

    @property
    def is_started(self) -> bool:
        return self.started < math.inf

    @property
    def seconds_left(self) -> float | None:
        """By the time that each unit took until the last was done: it falls until the next one is done.

        None until the first unit is done that the cache did not answer; below 0 where the next one takes
        longer than all that are open were to take, so that nothing is known.
        """
        if not self.is_started or self.last_done == -math.inf:
            return None
        seconds_each = (self.last_done - self.started) / (self.done - self.from_earlier_run)
        return seconds_each * self.open - (time.monotonic() - self.last_done)


@dataclass(slots=True)
class ModelProgress:
    """How far one model is with its suites, and its counters."""

    suites: dict[str, Tally] = field(default_factory=dict)
    account: Account | None = None

    def add(self, suite: str, seconds: float, *, from_earlier_run: bool) -> Tally:
        """Counts a unit that is done and took so many seconds, and returns its suite's counts.

        The suite's clock starts again until the server has answered any question.
        """
        tally, now = self.suites[suite], time.monotonic()
        tally.done += 1
        if from_earlier_run:
            tally.from_earlier_run += 1
        else:
            tally.last_done, tally.slowest = now, max(tally.slowest, seconds)
        if self.account is not None and not self.account.stats.answered:
            tally.started = now
        return tally

    @property
    def total(self) -> Tally:
        """All suites as one."""
        tallies = list(self.suites.values())
        return Tally(
            planned=sum(tally.planned for tally in tallies),
            done_before=sum(tally.done_before for tally in tallies),
            done=sum(tally.done for tally in tallies),
            failed=sum(tally.failed for tally in tallies),
            from_earlier_run=sum(tally.from_earlier_run for tally in tallies),
            started=min((tally.started for tally in tallies), default=math.inf),
            last_done=max((tally.last_done for tally in tallies), default=-math.inf),
            slowest=max((tally.slowest for tally in tallies), default=0.0),
        )

    @property
    def is_stopped(self) -> bool:
        return self.account is not None and bool(self.account.stats.stopped)

    def under_way(self) -> list[tuple[str, Tally]]:
        """The suites under way, where the model has several."""
        if len(self.suites) < 2 or self.is_stopped:
            return []
        return [(name, tally) for name, tally in self.suites.items() if tally.open and tally.is_started]

    @property
    def oldest_seconds(self) -> float | None:
        """How long the oldest request has been in flight; None where none is."""
        sent = self.account.stats.oldest_sent if self.account else None
        return None if sent is None else time.monotonic() - sent

    @property
    def seconds_left(self) -> float | None:
        """By the rate of all suites, and no less than the slowest suite takes by its own.

        No more than the requests in flight leave: each open unit takes as long as the slowest one before, and
        as many are asked at once as are in flight. Below 0 where that or the rate turned out too low.
        """
        total = self.total
        tallies = [total, *(tally for tally in self.suites.values() if tally.open)]
        by_rate = max((left for tally in tallies if (left := tally.seconds_left) is not None), default=None)
        age = self.oldest_seconds
        if by_rate is None or age is None or self.account is None:
            return by_rate
        rounds = math.ceil(total.open / self.account.stats.in_flight)
        return min(by_rate, rounds * total.slowest - age)
