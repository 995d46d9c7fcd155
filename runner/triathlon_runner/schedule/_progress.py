"""Events of a run, and their listeners."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._stop import Account


class Progress(Protocol):
    """Gets the events of a run."""

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None: ...
    def attach(self, account: Account) -> None:
        """A model answers; its counters can be read from now on."""
        ...

    def start(self, model: str, suite: str) -> None: ...
    def finished(self, record: UnitRecord, *, from_earlier_run: bool) -> None:
        """A unit is done; `from_earlier_run`: all its replies were in the cache before."""
        ...

    def failed(self, model: str, suite: str, reason: str) -> None: ...
    def say(self, message: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ProgressFanout:
    """Implements `Progress`: passes every event on to several listeners."""

    listeners: Sequence[Progress]

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None:
        for listener in self.listeners:
            listener.plan(model, suite, planned=planned, done=done)

    def attach(self, account: Account) -> None:
        for listener in self.listeners:
            listener.attach(account)

    def start(self, model: str, suite: str) -> None:
        for listener in self.listeners:
            listener.start(model, suite)

    def finished(self, record: UnitRecord, *, from_earlier_run: bool) -> None:
        for listener in self.listeners:
            listener.finished(record, from_earlier_run=from_earlier_run)

    def failed(self, model: str, suite: str, reason: str) -> None:
        for listener in self.listeners:
            listener.failed(model, suite, reason)

    def say(self, message: str) -> None:
        for listener in self.listeners:
            listener.say(message)


@dataclass(slots=True)
class Tally:
    """How far one model is with one suite."""

    planned: int
    done_before: int
    done: int = 0
    failed: int = 0
    """Units whose infrastructure failed in this run; they stay open."""
    from_earlier_run: int = 0
    """Of the units done, those whose replies were in the cache before: they say nothing about its speed."""
    started: float | None = None
    last_done: float | None = None
    """When the last unit was done that a server answered."""
    slowest: float = 0.0
    """Seconds that the slowest of these units took."""

    @property
    def open(self) -> int:
        return self.planned - self.done_before - self.done

    def add(self, seconds: float, *, from_earlier_run: bool, server_answered: bool) -> None:
        """Counts a unit; the clock starts again until the server has answered any question."""
        self.done += 1
        now = time.monotonic()
        if from_earlier_run:
            self.from_earlier_run += 1
        else:
            self.last_done, self.slowest = now, max(self.slowest, seconds)
        if not server_answered:
            self.started = now

    @property
    def seconds_left(self) -> float | None:
        """By the time that each unit took until the last was done: it falls until the next one is done.

        None until the first unit is done that the cache did not answer; below 0 where the next one takes
        longer than all that are open were to take, so that nothing is known.
        """
        done = self.done - self.from_earlier_run
        if self.started is None or self.last_done is None:
            return None
        seconds_each = (self.last_done - self.started) / done
        return seconds_each * self.open - (time.monotonic() - self.last_done)
