"""Events of a run, and their listeners."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from triathlon_runner.records import Outcome, UnitRecord, Usage
from triathlon_runner.schedule._stop import Account


class Progress(Protocol):
    """Gets the events of a run."""

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None: ...
    def attach(self, account: Account) -> None:
        """A model answers; its counters can be read from now on."""
        ...

    def start(self, model: str, suite: str) -> None: ...
    def finished(self, record: UnitRecord) -> None: ...
    def failed(self, model: str, suite: str, reason: str) -> None: ...
    def say(self, message: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ProgressFanout:
    """Implements `Progress`: passes every event on to several listeners."""

    listeners: Sequence[Progress]

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None:
        for each in self.listeners:
            each.plan(model, suite, planned=planned, done=done)

    def attach(self, account: Account) -> None:
        for each in self.listeners:
            each.attach(account)

    def start(self, model: str, suite: str) -> None:
        for each in self.listeners:
            each.start(model, suite)

    def finished(self, record: UnitRecord) -> None:
        for each in self.listeners:
            each.finished(record)

    def failed(self, model: str, suite: str, reason: str) -> None:
        for each in self.listeners:
            each.failed(model, suite, reason)

    def say(self, message: str) -> None:
        for each in self.listeners:
            each.say(message)


@dataclass(slots=True)
class Tally:
    """How far one model is with one suite."""

    planned: int
    done_before: int
    done: int = 0
    passed: int = 0
    truncated: int = 0
    failed: int = 0
    """Units whose infrastructure failed in this run; they stay open."""
    from_cache: int = 0
    """Of the units done, those before the server's first reply: they say nothing about its speed."""
    usage: Usage = field(default_factory=Usage)
    started: float | None = None

    @property
    def open(self) -> int:
        return self.planned - self.done_before - self.done

    def add(self, record: UnitRecord, *, from_cache: bool = False) -> None:
        self.done += 1
        if from_cache:
            self.from_cache += 1
            self.started = time.monotonic()
        self.passed += record.outcome is Outcome.PASSED
        self.truncated += record.outcome is Outcome.TRUNCATED
        self.usage += record.usage

    @property
    def tokens_per_second(self) -> float:
        if self.started is None or not self.usage.output_tokens:
            return 0.0
        return self.usage.output_tokens / max(time.monotonic() - self.started, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """None until the first unit is done that the cache did not answer."""
        done = self.done - self.from_cache
        if self.started is None or not done:
            return None
        return (time.monotonic() - self.started) / done * self.open
