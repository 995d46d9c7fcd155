"""How far each model is, how long it will take, and the table that shows it during a run and at its end."""

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.table import Table

from triathlon_runner.llm import EndpointStats
from triathlon_runner.schedule._stop import Account
from triathlon_runner.terminal import duration, visible

_UNKNOWN: Final = "–"
PANEL: Final = {
    "done": 0,
    "open": 50,
    "failed": 80,
    "tokens/s": 60,
    "in flight": 80,
    "time left": 40,
    "USD": 90,
    "limit": 100,
    "replies": 110,
    "cached": 120,
    "retries": 120,
    "cut": 120,
    "too long": 120,
}
"""Columns during a run, each with the narrowest window that shows it."""
FINAL: Final = {
    "done": 0,
    "open": 50,
    "replies": 60,
    "tokens": 60,
    "cached": 60,
    "retries": 70,
    "USD": 40,
    "cut": 90,
    "too long": 80,
    "most in flight": 110,
}
"""Columns at the end of a run."""
Row = tuple[str, Mapping[str, str], str]
"""Name, cells by column, and style."""


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

    def cells(self, seconds_left: float | None) -> dict[str, str]:
        """Returns what stands in its row, by columns."""
        known = "?" if seconds_left is None or seconds_left < 0 else duration(seconds_left)
        return {
            "done": f"{self.done_before + self.done}/{self.planned}",
            "open": f"{self.open}",
            "failed": f"{self.failed or ''}",
            "time left": known if self.open and seconds_left is not None else "",
        }


@dataclass(slots=True)
class ModelProgress:
    """How far one model is with its suites, and its counters."""

    suites: dict[str, Tally] = field(default_factory=dict)
    account: Account | None = None

    def add(self, suite: str, *, from_earlier_run: bool) -> Tally:
        """Counts a unit that is done, and returns its suite's counts.

        The suite's clock starts again until the server has answered any question.
        """
        tally, now = self.suites[suite], time.monotonic()
        tally.done += 1
        if from_earlier_run:
            tally.from_earlier_run += 1
        else:
            tally.last_done = now
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
    def seconds_left(self) -> float | None:
        """By the rate of all suites, and no less than the slowest suite takes by its own."""
        tallies = [self.total, *(tally for tally in self.suites.values() if tally.open)]
        return max((left for tally in tallies if (left := tally.seconds_left) is not None), default=None)

    def cells(self) -> dict[str, str]:
        """Returns what stands in its row, by columns."""
        cells = {"tokens/s": _UNKNOWN}  # from the start, so that no column appears when its server answers
        if self.suites:
            cells |= self.total.cells(self.seconds_left)
        if self.account is not None:
            stats = self.account.stats
            cells |= cells_of_server(stats)
            cells |= {
                "in flight": f"{stats.in_flight}",
                "limit": f"{stats.limit}",
                "most in flight": f"{stats.most_in_flight}",
                "replies": f"{stats.answered}",
                "retries": f"{stats.retries}",
                "cut": f"{stats.truncated}",
                "too long": f"{stats.too_long + stats.cut_by_context}",
                "USD": "" if self.account.price is None else f"{self.account.usd:.4f}",
            }
        if self.is_stopped:
            cells["time left"] = "stopped"
        return cells


def cells_of_server(stats: EndpointStats) -> dict[str, str]:
    """What the server has sent, and how many questions the cache answered: their tokens were sent before.

    `?` stands for the tokens of replies that the server did not count.
    """
    tokens, speed = f"{stats.output_tokens}", _UNKNOWN
    if stats.tokens_per_second is not None:
        speed = f"{stats.tokens_per_second:.0f}"
    if stats.uncounted:
        tokens, speed = f"{tokens} + ?" if stats.output_tokens else "?", "?"
    return {"tokens": tokens, "tokens/s": speed, "cached": f"{stats.from_cache}"}


def table_of(
    rows: Sequence[Row], columns: Mapping[str, int], width: int, only_if_any: Collection[str]
) -> Table:
    """Returns a table with the columns that fit into the width and that a row has a value for.

    Those of `only_if_any` are left out, too, where all their values are 0.
    """
    names = []
    for name, from_width in columns.items():
        values = {cells.get(name, "") for _, cells, _ in rows}
        if from_width <= width and values - ({"", "0"} if name in only_if_any else {""}):
            names.append(name)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("model", overflow="fold")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for label, cells, style in rows:
        table.add_row(visible(label), *(cells.get(name, "") for name in names), style=style)
    return table
