"""Progress of a run: for people a live panel on a terminal, plain lines elsewhere; for machines a log."""

import asyncio
import math
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self

from rich.console import Console, ConsoleRenderable, Group, RenderableType
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._log import JsonLog
from triathlon_runner.schedule._messages import Messages, time_of_day
from triathlon_runner.schedule._panel_columns import (
    FINAL,
    PANEL,
    Column,
    cells_of_model,
    cells_of_server,
    cells_of_tally,
)
from triathlon_runner.schedule._stop import Account
from triathlon_runner.schedule._tally import ModelProgress, Tally
from triathlon_runner.terminal import duration, indented, visible

_REFRESH_SECONDS: Final = 0.5
_STATUS_SECONDS: Final = 5.0
"""Between two lines about preparations, where the output is no terminal."""
_LONG_SECONDS: Final = 60.0
"""Age of a request in flight from which on a line says that a reply is waited for."""
_LAST_LINES: Final = 20
"""Messages that are printed again where a narrower window made the terminal wrap the panel's lines."""


class ConsoleProgress:
    """A live panel where the output is a terminal; a line every `interval` seconds where it is not.

    A terminal that cannot move its cursor (`TERM=dumb`) and one whose user wants plain text (`NO_COLOR`) get
    lines, too. `log`, where it is set, gets each event.
    """

    log: JsonLog | None = None

    def __init__(self, console: Console, interval: float = 15.0) -> None:
        self._console = console
        self._interval = interval
        self._last_line = time.monotonic()
        self._models: dict[str, ModelProgress] = {}
        self._messages = Messages(self._print)
        self._status = ""
        self._last_status = -math.inf
        self._timer: asyncio.TimerHandle | None = None
        plain = bool(os.environ.get("NO_COLOR")) or not console.is_interactive
        self._live = None if plain else _Panel(self, console)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start(refresh=True)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no event loop: the panel is drawn with each message
            return self
        self._tick(loop)
        return self

    def __exit__(self, *_: object) -> None:
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
        """A suite was opened of which so many units are done."""
        self._log("plan", model=model, suite=suite, planned=planned, done=done)
        self._model(model).suites[suite] = Tally(planned, done)

    def attach(self, account: Account) -> None:
        """A model answers; its counters can be read from now on."""
        self._log("model", model=account.model)
        self._model(account.model).account = account
        self._messages.attach(account)

    def start(self, model: str, suite: str) -> None:
        """The first units of a suite are about to be asked."""
        self._log("start", model=model, suite=suite)
        self._models[model].suites[suite].started = time.monotonic()

    def finished(self, record: UnitRecord, *, from_earlier_run: bool) -> None:
        """A unit is done; `from_earlier_run`: all its replies were in the cache before."""
        shown = {"model", "suite", "task_id", "sample", "outcome", "usage"}
        facts = record.model_dump(mode="json", include=shown)
        seconds = round(record.seconds, 3)
        self._log("unit", **facts, seconds=seconds, from_earlier_run=from_earlier_run)
        progress = self._models[record.model]
        tally = progress.add(record.suite, record.seconds, from_earlier_run=from_earlier_run)
        if tally.open == 0 or (not self._live and time.monotonic() - self._last_line > self._interval):
            self._line(record.model, record.suite)

    def failed(self, model: str, suite: str, reason: str) -> None:
        """A unit stays open: its infrastructure failed."""
        self._log("open", model=model, suite=suite, reason=reason)
        self._models[model].suites[suite].failed += 1
        self._messages.say_error(model, reason, f"{model} {suite}: stays open: {reason}")

    def say(self, message: str) -> None:
        """Prints a message with the time; an error of a model is not printed twice."""
        self._log("message", text=message)
        self._messages.say(message)

    def _log(self, event: str, **facts: Any) -> None:
        if self.log is not None:
            self.log.write(event, **facts)

    def status(self, text: str) -> None:
        """Shows what is done before models are asked: in the panel, or as a line every few seconds."""
        self._status = text
        if self._live:
            self._live.refresh()
        elif time.monotonic() - self._last_status > _STATUS_SECONDS:
            self._last_status = time.monotonic()
            self._print(text)

    def once(self, message: str) -> str:
        """Returns a message or, where its error was printed above, a reference to that."""
        return self._messages.once(message)

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
        rows = {name: cells_of_model(model) for name, model in self._models.items() if model.account}
        if not all_planned:
            for cells in rows.values():
                cells |= {"done": cells["done"].partition("/")[0], "open": ""}
        return self._table(FINAL, [(name, cells, "") for name, cells in rows.items()])

    def panel(self) -> RenderableType:
        """What is being prepared; then each model and its suites under way, where the window has room."""
        if self._status:
            return Text(visible(self._status), overflow="ellipsis", no_wrap=True)
        return self._progress() if self._models else ""

    def _progress(self) -> RenderableType:
        waiting = self._waiting()
        # Without the heading, the line of those left out, that of the oldest request, and the cursor.
        rows = list(self._rows(max(self._console.height - 3 - bool(waiting), 2)))
        table = self._table(PANEL, rows)
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
        busy = {name: model.under_way() for name, model in models}
        shows_suites = sum(map(len, busy.values())) <= room - len(models)
        for name, model in models:
            yield name, cells_of_model(model), ""
            if shows_suites:
                for suite, tally in busy[name]:
                    yield f"  {suite}", cells_of_tally(tally), "dim"

    def _table(self, columns: Sequence[Column], rows: Sequence[tuple[str, dict[str, str], str]]) -> Table:
        """Rows of name, cells and style, with the columns that fit and that a row has a value for."""
        names = []
        for name, from_width, if_any in columns:
            values = {cells.get(name, "") for _, cells, _ in rows}
            if from_width <= self._console.width and values - ({"", "0"} if if_any else {""}):
                names.append(name)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("model", overflow="fold")
        for name in names:
            table.add_column(name, justify="right", no_wrap=True)
        for label, cells, style in rows:
            table.add_row(visible(label), *(cells.get(name, "") for name in names), style=style)
        return table

    def _model(self, name: str) -> ModelProgress:
        return self._models.setdefault(name, ModelProgress())

    def _line(self, model: str, suite: str) -> None:
        if self._live:
            return
        self._last_line = time.monotonic()
        account = self._models[model].account
        tally = self._models[model].suites[suite]
        cells = cells_of_tally(tally) | {"cached": f"{tally.from_earlier_run or ''}"}
        line = "  ".join((f"{model} {suite}", *_named(cells)))
        if account:
            cells = cells_of_server(account.stats) if account.stats.answered else {}
            usd = [f"{account.usd:.2f} USD"] if account.price else []
            so_far = "  ".join((*_named(cells | {"cached": ""}), f"limit {account.stats.limit}", *usd))
            line += f"; all of {model} so far: {so_far}"
        self._print(line)

    def _print(self, message: str) -> None:
        text = indented(visible(message))
        if self._live is None:
            is_terminal = self._console.is_terminal
            room = self._console.width - len("^C")  # a terminal prints that in front of what follows Ctrl-C
            self._console.print(
                f"{time_of_day()} {text}",
                width=room if is_terminal else None,
                markup=False,
                highlight=False,
                emoji=False,
                soft_wrap=not is_terminal,  # a terminal would break it inside a number
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


def _named(cells: Mapping[str, str]) -> Iterator[str]:
    """`3/3 done`, `0 open`, …: what is not empty."""
    return (f"{cell} {name}" for name, cell in cells.items() if cell)


def _cleared(height: int) -> Control:
    """Erases the window line by line: what is cleared as a whole, many terminals keep above their window."""
    down = [(ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_DOWN, 1)] * height
    return Control(ControlType.HOME, *down, ControlType.HOME)
