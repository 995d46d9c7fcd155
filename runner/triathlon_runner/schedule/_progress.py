"""Progress of a run: a live panel on a terminal, plain lines elsewhere."""

import asyncio
import contextlib
import math
import os
import re
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import Progress, Task
from rich.table import Table
from rich.text import Text

from triathlon_runner.schedule._stop import Account
from triathlon_runner.terminal import duration, indented, visible

_REFRESH_SECONDS: Final = 0.5
_LINE_SECONDS: Final = 15.0
"""Between two lines about a model's units, where no panel is shown; its last unit always has one."""
_SILENT_SECONDS: Final = 60.0
"""The same while no unit ends: replies may take long."""
_RATE_SECONDS: Final = 3600.0
"""The time that is left is estimated from the units of so many seconds."""
_STATUS_SECONDS: Final = 5.0
"""Between two lines about preparations, where no panel is shown."""
_ERRORS_PER_MODEL: Final = 10
"""Different errors of one model that are printed; a line says that there are more."""
_NEVER: Final = math.inf
_COLUMNS: Final = {
    "done": (0, 0),
    "open": (50, _NEVER),
    "failed": (80, _NEVER),
    "tokens": (_NEVER, 60),
    "tokens/s": (60, _NEVER),
    "in flight": (80, _NEVER),
    "time left": (40, _NEVER),
    "USD": (90, 40),
    "limit": (100, _NEVER),
    "replies": (110, 60),
    "cached": (120, 60),
    "retries": (120, 70),
    "cut": (120, 90),
    "too long": (120, 80),
}
"""Columns, each with the narrowest window that shows it while the run goes on, and at its end."""
_ONLY_IF_ANY: Final = frozenset({"failed", "retries", "cut", "too long"})
"""Columns that are left out where all their values are 0."""
_NOT_IN_LINES: Final = frozenset({"replies", "retries", "cut", "too long"})
"""Columns that a line about a model leaves out, where no panel is shown."""


class ConsoleProgress:
    """A live panel where the output is a terminal; a line every 15 seconds, or every minute, where it is not.

    A terminal that cannot move its cursor (`TERM=dumb`) and one whose user wants plain text (`NO_COLOR`) get
    lines, too.
    """

    errors: Path | None = None
    """The file that gets the tracebacks of errors in this program: who fixes one needs more than a line."""
    on_lost_output: Callable[[], object] | None = None
    """Called where nothing can be printed any more: the pipe's reader ended, the disk is full."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last_line: dict[str, float] = {}
        """By model: when it was attached, or had its last line."""
        self._last_status = -math.inf
        self._bars = Progress(console=console, disable=True, speed_estimate_period=_RATE_SECONDS)
        """Counts units and estimates the time that is left; the panel is our own."""
        self._models: dict[str, Task] = {}
        self._accounts: dict[str, Account] = {}
        self._errors: dict[str, set[str]] = defaultdict(set)
        """By model: those of its errors that were printed, without the numbers."""
        self._messages: set[str] = set()
        """Other messages that were printed, without the numbers."""
        self._status = ""
        self._timer: asyncio.TimerHandle | None = None
        self._live = None
        if console.is_interactive and not os.environ.get("NO_COLOR"):
            self._live = Live(get_renderable=self.panel, console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start(refresh=True)
        self._tick(asyncio.get_running_loop())
        return self

    def __exit__(self, *_: object) -> None:
        self._status = ""
        if self._timer:
            self._timer.cancel()
        self._print_errors_of_servers()
        if self._live:
            self._live.stop()

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Redraws in the event loop, not in a thread: the counters change there."""
        self._print_errors_of_servers()
        if self._live:
            with self._printing():
                self._live.refresh()
        for model in self._accounts.keys() & self._models.keys():
            if self._models[model].remaining and not self._accounts[model].stats.stopped:
                self._print_line(model, _SILENT_SECONDS)
        self._timer = loop.call_later(_REFRESH_SECONDS, self._tick, loop)

    def plan(self, model: str, *, planned: int, done: int) -> None:
        """One more suite of a model was opened, of which so many units are done."""
        if model not in self._models:
            self._bars.add_task(model, start=False, total=0, failed=0)
            self._models[model] = self._bars.tasks[-1]
        task = self._models[model]
        task.total = (task.total or 0) + planned
        task.completed += done

    def attach(self, account: Account) -> None:
        """A model answers and is about to be asked; its counters can be read from now on."""
        self._accounts[account.model] = account
        if account.model in self._models:
            self._last_line[account.model] = time.monotonic()
            self._bars.start_task(self._models[account.model].id)

    def finished(self, model: str, *, from_earlier_run: bool) -> None:
        """A unit is done; `from_earlier_run`: all its replies were in the cache before."""
        task = self._models[model]
        if from_earlier_run:  # it says nothing of the server's speed: the clock starts again
            self._bars.reset(task.id, completed=int(task.completed) + 1)
        else:
            self._bars.advance(task.id)
        self._print_line(model, _LINE_SECONDS if task.remaining else 0.0)

    def _print_line(self, model: str, seconds: float) -> None:
        """Prints what a model has done, if no panel shows it and its last line is so many seconds old."""
        if not self._live and time.monotonic() - self._last_line[model] >= seconds:
            self._last_line[model] = time.monotonic()
            cells = self._cells(model)
            names = [name for name in _COLUMNS if name not in _NOT_IN_LINES]
            shown = [f"{cells[name]} {name}" for name in names if cells.get(name, "0") not in ("", "0")]
            self._print("  ".join([model, *shown]))

    def failed(self, model: str, suite: str, reason: str) -> None:
        """A unit stays open: its infrastructure failed."""
        self._models[model].fields["failed"] += 1
        self._print_error(model, reason, f"{model} {suite}: stays open: {reason}")

    def broke(self, unit: str, error: Exception) -> None:
        """A unit met an error in this program."""
        trace = "".join(traceback.format_exception(error))
        if self.errors is None:
            return
        with contextlib.suppress(OSError):  # a full disk: the unit stays open, with the error as its reason
            self.errors.parent.mkdir(parents=True, exist_ok=True)
            with self.errors.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {unit}\n{trace}")

    def say(self, message: str) -> None:
        """Prints a message with the time, unless it is an error of a model that was printed before."""
        name, _, error = message.partition(": ")
        if _without_numbers(error) not in self._errors[name]:
            self._messages.add(_without_numbers(message))
            self._print(message)

    def status(self, text: str) -> None:
        """Shows what is done before models are asked: in the panel, or as a line every few seconds."""
        self._status = text
        if self._live:
            self._live.refresh()
        elif time.monotonic() - self._last_status > _STATUS_SECONDS:
            self._last_status = time.monotonic()
            self._print(text)

    def final(self) -> Table:
        """Returns a table of what each model did and what that cost."""
        rows = {name: self._cells(name) for name in self._names() if name in self._accounts}
        return _table(rows, 1, self._console.width)

    def panel(self) -> RenderableType:
        """What is being prepared; then each model, those that are done last: the window may be too small."""
        if self._status:
            return Text(visible(self._status), overflow="ellipsis", no_wrap=True)
        rows = {name: self._cells(name) for name in self._names()}
        in_order = dict(sorted(rows.items(), key=lambda row: row[1].get("open") == "0"))
        return _table(in_order, 0, self._console.width) if rows else ""

    def _names(self) -> list[str]:
        """Of the models, and of the judge."""
        return list(dict.fromkeys([*self._models, *self._accounts]))

    def _cells(self, model: str) -> dict[str, str]:
        """Returns the cells of a model's row by columns."""
        cells = {"tokens/s": "–"}  # from the start, so that no column appears when its server answers
        if (units := self._models.get(model)) is not None:
            cells |= {
                "done": f"{units.completed:.0f}/{units.total or 0:.0f}",
                "open": f"{units.remaining or 0:.0f}",
                "failed": f"{units.fields['failed'] or ''}",
                "time left": _time_left(units),
            }
        if (account := self._accounts.get(model)) is None:
            return cells
        stats = account.stats
        tokens, speed = f"{stats.output_tokens}", stats.tokens_per_second
        if stats.uncounted:  # `?` stands for the tokens of replies that the server did not count
            tokens = f"{tokens} + ?" if stats.output_tokens else "?"
            cells["tokens/s"] = "?"
        elif speed is not None:
            cells["tokens/s"] = f"{speed:.0f}"
        cells |= {
            "tokens": tokens,
            "in flight": f"{stats.in_flight}",
            "limit": f"{stats.limit}",
            "replies": f"{stats.answered}",
            "cached": f"{stats.from_cache}",
            "retries": f"{stats.retries}",
            "cut": f"{stats.truncated}",
            "too long": f"{stats.too_long + stats.cut_by_context}",
            "USD": "" if account.price is None else f"{account.usd:.4f}",
        }
        return cells | ({"time left": "stopped"} if stats.stopped else {})

    def _print_error(self, name: str, error: str, message: str) -> None:
        """Prints a model's error the first time that it comes; at most ten different ones of a model."""
        errors, key = self._errors[name], _without_numbers(error)
        if key in errors or _without_numbers(f"{name}: {error}") in self._messages:
            return
        if len(errors) > _ERRORS_PER_MODEL:
            return
        if len(errors) == _ERRORS_PER_MODEL:
            message = f"{name}: and other errors, which are not printed"
        errors.add(key)
        self._print(message)

    def _print_errors_of_servers(self) -> None:
        """Prints what servers answered to requests that are tried again, and why models were stopped."""
        for name, account in self._accounts.items():
            stats = account.stats
            if error := stats.stopped or stats.last_error:
                is_retried = not stats.stopped and stats.retried_error == error
                self._print_error(name, error, f"{name}: {error}{'; trying again' if is_retried else ''}")

    def _print(self, message: str) -> None:
        is_terminal = self._console.is_terminal
        room = self._console.width - len("^C")  # a terminal prints that in front of what follows Ctrl-C
        with self._printing():
            self._console.print(
                f"{datetime.now():%H:%M:%S} {indented(visible(message))}",
                width=room if is_terminal else None,
                markup=False,
                highlight=False,
                emoji=False,
                soft_wrap=not is_terminal,  # a terminal would break it inside a number
            )

    @contextlib.contextmanager
    def _printing(self) -> Iterator[None]:
        """Keeps an output that is lost from ending the task that prints."""
        try:
            yield
        except OSError:
            if self.on_lost_output is None:
                raise
            self.on_lost_output()


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def _time_left(units: Task) -> str:
    if not units.remaining:
        return ""
    return "?" if units.time_remaining is None else duration(units.time_remaining)


def _table(rows: dict[str, dict[str, str]], moment: int, width: int) -> Table:
    """Returns the columns that fit into the width and have a value; `moment`: 0 in a run, 1 at its end."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("model", overflow="fold")
    names = []
    for name, narrowest in _COLUMNS.items():
        nothing = {"", "0"} if name in _ONLY_IF_ANY else {""}
        if narrowest[moment] <= width and {cells.get(name, "") for cells in rows.values()} - nothing:
            names.append(name)
            table.add_column(name, justify="right", no_wrap=True)
    for label, cells in rows.items():
        table.add_row(visible(label), *(cells.get(name, "") for name in names))
    return table
