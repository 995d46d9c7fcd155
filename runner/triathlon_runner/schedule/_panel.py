"""Progress that a person can read: a live panel on a terminal, plain lines elsewhere."""

import asyncio
import math
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from rich.console import Console, ConsoleRenderable, Group, RenderableType
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

from triathlon_runner.endpoints import EndpointStats
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._columns import FINAL, PANEL, Column
from triathlon_runner.schedule._messages import Messages, Printed, time_of_day
from triathlon_runner.schedule._progress import Tally
from triathlon_runner.schedule._stop import Account
from triathlon_runner.terminal import indented, visible

_REFRESH_SECONDS: Final = 0.5
_STATUS_SECONDS: Final = 5.0
"""Between two lines about preparations, where the output is no terminal."""
_LONG_SECONDS: Final = 60.0
"""Age of a request in flight from which on a line says that a reply is waited for."""
_UNKNOWN: Final = "–"
_LAST_LINES: Final = 20
"""Messages that are printed again where a narrower window made the terminal wrap the panel's lines."""


@dataclass(slots=True)
class _Model:
    """How far one model is with its suites, and its counters."""

    suites: dict[str, Tally] = field(default_factory=dict)
    account: Account | None = None

    @property
    def total(self) -> Tally:
        """All suites as one."""
        total = Tally(0, 0)
        for tally in self.suites.values():
            total.planned += tally.planned
            total.done_before += tally.done_before
            total.done += tally.done
            total.failed += tally.failed
            total.from_earlier_run += tally.from_earlier_run
            total.slowest = max(total.slowest, tally.slowest)
            if tally.started is not None:
                total.started = min(tally.started, total.started or tally.started)
            if tally.last_done is not None:
                total.last_done = max(tally.last_done, total.last_done or tally.last_done)
        return total

    def busy(self) -> list[tuple[str, Tally]]:
        """The suites under way, where the model has several."""
        if len(self.suites) < 2 or self.stopped:
            return []
        return [(name, tally) for name, tally in self.suites.items() if tally.open and tally.started]

    @property
    def seconds_left(self) -> float | None:
        """By the rate of all suites, and no less than the slowest suite takes by its own.

        No more than the requests in flight leave: each open unit takes as long as the slowest one before, and
        as many are asked at once as are in flight. Below 0 where that or the rate turned out too low.
        """
        tallies = [self.total, *(tally for tally in self.suites.values() if tally.open)]
        by_rate = max((left for tally in tallies if (left := tally.seconds_left) is not None), default=None)
        age = self.oldest_seconds
        if by_rate is None or age is None or self.account is None:
            return by_rate
        rounds = math.ceil(self.total.open / self.account.stats.in_flight)
        return min(by_rate, rounds * self.total.slowest - age)

    @property
    def oldest_seconds(self) -> float | None:
        """How long the oldest request has been in flight; None where none is."""
        sent = self.account.stats.oldest_sent if self.account else None
        return None if sent is None else time.monotonic() - sent

    def add(self, record: UnitRecord, *, from_earlier_run: bool) -> Tally:
        """Counts a unit that is done, and returns its suite's counts."""
        tally = self.suites[record.suite]
        only_cache = self.account is not None and not self.account.stats.answered
        tally.add(record.seconds, from_earlier_run=from_earlier_run, server_answered=not only_cache)
        return tally

    @property
    def stopped(self) -> bool:
        return self.account is not None and bool(self.account.stats.stopped)

    def cells(self) -> dict[str, str]:
        """By the names of columns."""
        total = self.total
        cells = {"tokens/s": _UNKNOWN}  # from the start, so that no column appears when its server answers
        if self.suites:
            cells |= {**_tally_cells(total), "time left": _time_left(total, self.seconds_left)}
        if self.account is None:
            return cells
        stats = self.account.stats
        return {
            **cells,
            **({"time left": "stopped"} if self.stopped else {}),
            **_server_cells(stats),
            "in flight": f"{stats.in_flight}",
            "limit": f"{stats.limit}",
            "most in flight": f"{stats.most_in_flight}",
            "replies": f"{stats.answered}",
            "retries": f"{stats.retries}",
            "cut": f"{stats.truncated}",
            "USD": "" if self.account.price is None else f"{self.account.usd:.4f}",
        }


class ConsoleProgress:
    """A live panel where the output is a terminal; a line every `interval` seconds where it is not.

    A terminal that cannot move its cursor (`TERM=dumb`) and one whose user wants plain text (`NO_COLOR`) get
    lines, too.
    """

    def __init__(self, console: Console, interval: float = 15.0) -> None:
        self._console = console
        self._interval = interval
        self._last_line = time.monotonic()
        self._models: dict[str, _Model] = {}
        self._messages = Messages(self._print)
        self._status = ""
        self._last_status = -math.inf
        self._timer: asyncio.TimerHandle | None = None
        plain = bool(os.environ.get("NO_COLOR")) or not console.is_interactive
        self._live = None if plain else _Panel(self, console)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start(refresh=True)
        loop = None
        with suppress(RuntimeError):  # no event loop: the panel is drawn with each message
            loop = asyncio.get_running_loop()
        if loop:
            self._tick(loop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status = ""
        if self._timer:
            self._timer.cancel()
        self._messages.say_errors_of_servers()
        if self._live:
            self._live.stop()

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Redraws in the event loop, not in a thread: the counters change there."""
        self._messages.say_errors_of_servers()
        if self._live:
            self._live.refresh()
        self._timer = loop.call_later(_REFRESH_SECONDS, self._tick, loop)

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None:
        self._model(model).suites[suite] = Tally(planned, done)

    def attach(self, account: Account) -> None:
        self._model(account.model).account = account
        self._messages.attach(account)

    def start(self, model: str, suite: str) -> None:
        self._models[model].suites[suite].started = time.monotonic()

    def finished(self, record: UnitRecord, *, from_earlier_run: bool) -> None:
        tally = self._models[record.model].add(record, from_earlier_run=from_earlier_run)
        if tally.open == 0 or (not self._live and time.monotonic() - self._last_line > self._interval):
            self._line(record.model, record.suite)

    def failed(self, model: str, suite: str, reason: str) -> None:
        self._models[model].suites[suite].failed += 1
        self._messages.say_error(model, reason, f"{model} {suite}: stays open: {reason}")

    def status(self, text: str) -> None:
        """Shows what is done before models are asked: in the panel, or as a line every few seconds."""
        self._status = text
        if self._live:
            self._live.refresh()
        elif time.monotonic() - self._last_status > _STATUS_SECONDS:
            self._last_status = time.monotonic()
            self._print(text)

    def say(self, message: str) -> None:
        """Prints a message with the time; an error of a model is not printed twice."""
        self._messages.say(message)

    def printed_at(self, message: str) -> Printed | None:
        """Where a model's error was printed; `message` is the error, or the model, a colon and the error."""
        return self._messages.printed_at(message)

    @property
    def has_accounts(self) -> bool:
        """Whether any model was asked."""
        return any(model.account for model in self._models.values())

    def final(self, *, all_planned: bool = True) -> Table:
        """Returns a table of what each model did and what that cost.

        Args:
            all_planned: Whether all that was planned was to be asked. A gate stops as soon as it is decided,
                and what it did not ask is not open.
        """
        rows = {name: model.cells() for name, model in self._models.items() if model.account}
        if not all_planned:
            rows = {
                name: {**cells, "done": cells["done"].partition("/")[0], "open": ""}
                for name, cells in rows.items()
            }
        table, columns = self._table(FINAL, list(rows.values()))
        for name, cells in rows.items():
            table.add_row(visible(name), *_row(cells, columns))
        return table

    def panel(self) -> RenderableType:
        """What is being prepared; then each model and its suites under way, where the window has room."""
        if self._status:
            return Text(visible(self._status), overflow="ellipsis", no_wrap=True)
        return self._progress() if self._models else ""

    def _progress(self) -> RenderableType:
        waiting = self._waiting()
        table, columns = self._table(PANEL, [model.cells() for model in self._models.values()])
        # Without the heading, the line of those left out, that of the oldest request, and the cursor.
        room = max(self._console.height - 3 - bool(waiting), 2)
        rows = list(self._rows(room))
        for name, cells, style in rows:
            table.add_row(visible(name), *_row(cells, columns), style=style)
        if hidden := len(self._models) - sum(not name.startswith(" ") for name, *_ in rows):
            done = sum(not model.total.open for model in self._models.values())
            table.add_row(f"and {hidden} more models; {done} of {len(self._models)} are done", style="dim")
        return Group(table, Text(visible(waiting), overflow="ellipsis", no_wrap=True)) if waiting else table

    def _waiting(self) -> str:
        """How long the oldest request has been in flight, where that is long; else empty."""
        in_flight = ((age, name) for name, model in self._models.items() if (age := model.oldest_seconds))
        age, name = max(in_flight, default=(0.0, ""))
        if age < _LONG_SECONDS:
            return ""
        return f"the oldest request in flight was sent {duration(age)} ago, to {name}"

    def _rows(self, room: int) -> Iterator[tuple[str, dict[str, str], str]]:
        """Models with something open come first where there is no room for all."""
        models = list(self._models.items())
        if len(models) > room:
            models = sorted(models, key=lambda item: not item[1].total.open)[:room]
        busy = {name: model.busy() for name, model in models}
        shows_suites = sum(map(len, busy.values())) <= room - len(models)
        for name, model in models:
            yield name, model.cells(), ""
            if shows_suites:
                for suite, tally in busy[name]:
                    yield f"  {suite}", _tally_cells(tally), "dim"

    def _table(
        self, columns: Sequence[Column], rows: Sequence[dict[str, str]]
    ) -> tuple[Table, tuple[str, ...]]:
        """An empty table, and its columns behind the name: those that fit and that a row has a value for."""
        names = tuple(
            column.name
            for column in columns
            if column.from_width <= self._console.width
            and any(row.get(column.name, "") not in (("", "0") if column.if_any else ("",)) for row in rows)
        )
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("model", overflow="fold")
        for name in names:
            table.add_column(name, justify="right", no_wrap=True)
        return table, names

    def _model(self, name: str) -> _Model:
        self._messages.add_model(name)
        return self._models.setdefault(name, _Model())

    def _line(self, model: str, suite: str) -> None:
        if self._live:
            return
        self._last_line = time.monotonic()
        account = self._models[model].account
        cells = _tally_cells(self._models[model].suites[suite])
        if account:
            cells |= _server_cells(account.stats) if account.stats.answered else {}
            cells["cached"] = f"{account.stats.from_cache or ''}"
        parts = [f"{cell} {name}" for name, cell in cells.items() if cell]
        if account:
            parts += [f"limit {account.stats.limit}", *([f"{account.usd:.2f} USD"] if account.price else [])]
        self._print("  ".join((f"{model} {suite}", *parts)))

    def _print(self, message: str) -> None:
        text = indented(visible(message))
        if self._live is None:
            self._console.print(
                f"{time_of_day()} {text}",
                markup=False,
                highlight=False,
                emoji=False,
                soft_wrap=not self._console.is_terminal,  # a terminal would break it inside a number
            )
            return
        line = Table.grid(padding=(0, 1, 0, 0))  # breaks long messages between words, behind the time
        line.add_row(Text(time_of_day()), Text(text, overflow="fold"))
        self._live.lines.append(line)
        self._console.print(line)


class _Panel(Live):
    """Rich's live display, erased at its end, also where the window got narrower meanwhile."""

    def __init__(self, progress: ConsoleProgress, console: Console) -> None:
        self.lines: deque[Table] = deque(maxlen=_LAST_LINES)
        self._width = console.width
        super().__init__(get_renderable=progress.panel, console=console, auto_refresh=False, transient=True)

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Puts what is printed above the panel.

        Where the window got narrower, some terminals break the panel's lines in two: the cursor's place is
        not known, so that all is cleared and the last messages are printed again.
        """
        narrower, self._width = self.console.width < self._width, self.console.width
        drawn = super().process_renderables(renderables)
        if not narrower:
            return drawn
        return [_cleared(self.console.height), *self.lines, *drawn[1:]]


def _cleared(height: int) -> Control:
    """Erases the window line by line: what is cleared as a whole, many terminals keep above their window."""
    down = [(ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_DOWN, 1)] * height
    return Control(ControlType.HOME, *down, ControlType.HOME)


def _row(cells: dict[str, str], columns: Sequence[str]) -> Iterator[str]:
    return (cells.get(column, "") for column in columns)


def _tally_cells(tally: Tally) -> dict[str, str]:
    return {
        "done": f"{tally.done_before + tally.done}/{tally.planned}",
        "open": f"{tally.open}",
        "failed": f"{tally.failed or ''}",
        "time left": _time_left(tally, tally.seconds_left),
    }


def _time_left(tally: Tally, seconds: float | None) -> str:
    if seconds is None or not tally.open:
        return ""
    return "?" if seconds < 0 else duration(seconds)


def _server_cells(stats: EndpointStats) -> dict[str, str]:
    """What the server has sent, and how many questions the cache answered: their tokens were sent before."""
    return {
        "tokens": _tokens(stats.output_tokens, stats.uncounted),
        "tokens/s": _speed(stats.tokens_per_second, stats.uncounted),
        "cached": f"{stats.from_cache}",
    }


def _tokens(counted: int, uncounted: int) -> str:
    """Tokens of the replies that the server counted; `?` for those of the others."""
    if not uncounted:
        return f"{counted}"
    return f"{counted} + ?" if counted else "?"


def _speed(tokens_per_second: float | None, uncounted: int) -> str:
    if uncounted:
        return "?"
    return _UNKNOWN if tokens_per_second is None else f"{tokens_per_second:.0f}"


def duration(seconds: float) -> str:
    """Hours and minutes, or minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
