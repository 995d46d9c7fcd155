"""Progress that a person can read: a live panel on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._progress import Tally
from triathlon_runner.schedule._stop import Account

_ERROR_WIDTH = 60
_LINES_AROUND = 8
"""Headings and the lines of models that a panel needs besides its suites."""


class ConsoleProgress:
    """Rich's live panel where the output is a terminal; a line every `interval` seconds where not."""

    def __init__(self, console: Console, interval: float = 15.0) -> None:
        self._console = console
        self._interval = interval
        self._last_line = time.monotonic()
        # Before the panel: Live asks for its first picture while it is made.
        self.tallies: dict[tuple[str, str], Tally] = {}
        self.accounts: dict[str, Account] = {}
        self._live = (
            Live(get_renderable=self.panel, console=console, refresh_per_second=2)
            if console.is_terminal
            else None
        )

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

    def attach(self, account: Account) -> None:
        self.accounts[account.model] = account

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

    def panel(self) -> Group:
        """Models × suites, then each model's endpoint."""
        return Group(self._suites(), *([self.endpoints()] if self.accounts else []))

    def endpoints(self) -> Table:
        """What each model's endpoint does and has cost."""
        table = _table(
            "model", "in flight", "limit", "tokens/s", "replies", "cached", "retries", "cut", "USD"
        )
        table.add_column("last error", overflow="ellipsis", no_wrap=True, max_width=_ERROR_WIDTH)
        for model, account in self.accounts.items():
            table.add_row(model, *_endpoint_cells(account))
        return table

    def _suites(self) -> Table:
        table = _table("model", "suite", "done", "open", "failed", "tokens", "tokens/s", "time left")
        busy = [(key, tally) for key, tally in self.tallies.items() if tally.open]
        room = max(4, self._console.height - _LINES_AROUND - len(self.accounts))
        for (model, suite), tally in busy[:room]:
            table.add_row(model, suite, *_cells(tally))
        hidden = len(self.tallies) - len(busy[:room])
        if hidden:
            done = len(self.tallies) - len(busy)
            table.add_row("", f"and {hidden} more, {done} of them done", style="dim")
        return table

    def _line(self, model: str, suite: str) -> None:
        if self._live:
            return
        self._last_line = time.monotonic()
        cells = zip(_cells(self.tallies[model, suite]), _UNITS, strict=True)
        parts = [f"{cell}{unit}" for cell, unit in cells if cell]
        if account := self.accounts.get(model):
            stats = account.stats
            parts += (
                [f"limit {stats.limit}", f"{account.usd:.2f} USD"]
                if account.price
                else [f"limit {stats.limit}"]
            )
        self.say("  ".join((f"{model} {suite}", *parts)))


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, justify="left" if name in {"model", "suite"} else "right", no_wrap=True)
    return table


def _cells(tally: Tally) -> tuple[str, ...]:
    left = tally.seconds_left
    return (
        f"{tally.done_before + tally.done}/{tally.planned}",
        f"{tally.open}",
        f"{tally.failed}",
        f"{tally.usage.output_tokens}",
        f"{tally.tokens_per_second:.0f}",
        "" if left is None or not tally.open else duration(left),
    )


_UNITS = (" done", " open", " failed", " tokens", " tokens/s", " left")


def _endpoint_cells(account: Account) -> Iterator[str]:
    stats = account.stats
    yield f"{stats.in_flight}"
    yield f"{stats.limit}"
    yield f"{stats.tokens_per_second:.0f}"
    yield f"{stats.answered}"
    yield f"{stats.from_cache}"
    yield f"{stats.retries}"
    yield f"{stats.truncated}"
    yield "" if account.price is None else f"{account.usd:.4f}"
    yield stats.stopped or stats.last_error


def duration(seconds: float) -> str:
    """Hours and minutes, or minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
