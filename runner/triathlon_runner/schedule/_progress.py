"""Progress that a person can read: a live table on a terminal, plain lines elsewhere."""

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from triathlon_runner.records import Outcome, UnitRecord, Usage


@dataclass(slots=True)
class Tally:
    """How far one model is with one suite."""

    planned: int
    done_before: int
    done: int = 0
    passed: int = 0
    failed: int = 0
    """Units whose infrastructure failed in this run; they stay open."""
    usage: Usage = field(default_factory=Usage)
    started: float | None = None

    @property
    def open(self) -> int:
        return self.planned - self.done_before - self.done

    def add(self, record: UnitRecord) -> None:
        self.done += 1
        self.passed += record.outcome is Outcome.PASSED
        self.usage += record.usage

    @property
    def tokens_per_second(self) -> float:
        if self.started is None or not self.usage.output_tokens:
            return 0.0
        return self.usage.output_tokens / max(time.monotonic() - self.started, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """None until the first unit is done."""
        if self.started is None or not self.done:
            return None
        return (time.monotonic() - self.started) / self.done * self.open


class Progress(Protocol):
    """Where the schedule tells how far it is."""

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None: ...
    def start(self, model: str, suite: str) -> None: ...
    def finished(self, record: UnitRecord) -> None: ...
    def failed(self, model: str, suite: str, reason: str) -> None: ...
    def say(self, message: str) -> None: ...


class ConsoleProgress:
    """Rich's live table where the output is a terminal; a line every `interval` seconds where not."""

    def __init__(self, console: Console, interval: float = 15.0) -> None:
        self._console = console
        self._interval = interval
        self._last_line = time.monotonic()
        self._live = (
            Live(get_renderable=self._table, console=console, refresh_per_second=2)
            if console.is_terminal
            else None
        )
        self.tallies: dict[tuple[str, str], Tally] = {}

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None:
        self.tallies[model, suite] = Tally(planned, done)

    def start(self, model: str, suite: str) -> None:
        self.tallies[model, suite].started = time.monotonic()

    def finished(self, record: UnitRecord) -> None:
        tally = self.tallies[record.model, record.suite]
        tally.add(record)
        if tally.open == 0 or (not self._live and time.monotonic() - self._last_line > self._interval):
            self._line(record.model, record.suite)

    def failed(self, model: str, suite: str, reason: str) -> None:
        tally = self.tallies[model, suite]
        tally.failed += 1
        if tally.failed == 1:
            self.say(f"{model} {suite}: stays open: {reason}")

    def say(self, message: str) -> None:
        self._console.print(message, markup=False, highlight=False, soft_wrap=True)

    def _line(self, model: str, suite: str) -> None:
        if self._live:
            return
        self._last_line = time.monotonic()
        self.say("  ".join((f"{model} {suite}", *self._cells(self.tallies[model, suite]))))

    @staticmethod
    def _cells(tally: Tally) -> tuple[str, ...]:
        left = tally.seconds_left
        return (
            f"{tally.done_before + tally.done}/{tally.planned} done",
            f"{tally.open} open",
            f"{tally.failed} failed",
            f"{tally.usage.output_tokens} tokens",
            f"{tally.tokens_per_second:.0f} tokens/s",
            "" if left is None or not tally.open else f"{_duration(left)} left",
        )

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("model", "suite", "done", "open", "failed", "tokens", "tokens/s", "time left"):
            table.add_column(name, justify="left" if name in {"model", "suite"} else "right", no_wrap=True)
        for (model, suite), tally in self.tallies.items():
            cells = (cell.removesuffix(unit) for cell, unit in zip(self._cells(tally), _UNITS, strict=True))
            table.add_row(model, suite, *cells, style=None if tally.open else "dim")
        return table


_UNITS = (" done", " open", " failed", " tokens", " tokens/s", " left")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
