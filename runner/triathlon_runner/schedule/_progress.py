"""Progress of a run: for people a live panel on a terminal, plain lines elsewhere; for machines a log."""

import asyncio
import json
import math
import os
import re
import time
import traceback
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import Progress, Task
from rich.table import Table
from rich.text import Text

from triathlon_runner.errors import UserError
from triathlon_runner.llm import EndpointStats
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._stop import Account
from triathlon_runner.terminal import duration, indented, visible

_REFRESH_SECONDS: Final = 0.5
_LINE_SECONDS: Final = 15.0
"""Between two lines about finished units, where no panel is shown; a suite's last unit always has one."""
_RATE_SECONDS: Final = 3600.0
"""The time that is left is estimated from the units of so many seconds."""
_STATUS_SECONDS: Final = 5.0
"""Between two lines about preparations, where no panel is shown."""
_ERRORS_PER_MODEL: Final = 10
"""Different errors of one model that are printed; a line says that there are more."""
_COUNTERS: Final = (
    "answered from_cache failed retries throttled truncated input_tokens output_tokens uncounted lost limit"
    " last_error"
)
"""Fields of `EndpointStats` that stand in a model's last event."""
_UNKNOWN: Final = "–"
_PANEL: Final = {
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
_FINAL: Final = {
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


class JsonLog:
    """`--log-json`: one JSON object a line for every event of a run, with `time` (ISO 8601) and `event`."""

    def __init__(self, path: Path) -> None:
        """Opens the file for appending.

        Raises:
            UserError: it cannot be written.
        """
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise self._unwritable(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def end(self, accounts: Iterable[Account], **facts: Any) -> None:
        """The run is over; each model's counters, then `facts`."""
        for account in accounts:
            counters = {name: getattr(account.stats, name) for name in _COUNTERS.split()}
            usd, estimated = round(account.usd, 6), round(account.usd_estimated, 6)
            self.write("model_end", model=account.model, usd=usd, usd_estimated=estimated, **counters)
        self.write("end", **facts)

    def write(self, event: str, **facts: Any) -> None:
        """One line.

        Raises:
            UserError: the disk is full.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **facts}, ensure_ascii=False) + "\n"
        try:
            self._file.write(line.encode("utf-8", "replace"))
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> UserError:
        return UserError(
            f"cannot write the log {str(self._path)!r} ({error.strerror}); name another file with --log-json"
        )


class ConsoleProgress:
    """A live panel where the output is a terminal; a line every 15 seconds where it is not.

    A terminal that cannot move its cursor (`TERM=dumb`) and one whose user wants plain text (`NO_COLOR`) get
    lines, too.
    """

    log: JsonLog | None = None
    """Gets each event."""
    errors: Path | None = None
    """The file that gets the tracebacks of errors in this program: who fixes one needs more than a line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last_line = time.monotonic()
        self._last_status = -math.inf
        self._bars = Progress(console=console, disable=True, speed_estimate_period=_RATE_SECONDS)
        """Counts units and estimates the time that is left; the panel is our own."""
        self._suites: dict[str, dict[str, Task]] = defaultdict(dict)
        """By model and suite."""
        self._accounts: dict[str, Account] = {}
        self._errors: dict[str, set[str]] = defaultdict(set)
        """By model: those of its errors that were printed, without the numbers."""
        self._said: set[str] = set()
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
        self._say_errors_of_servers()
        if self._live:
            self._live.stop()

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Redraws in the event loop, not in a thread: the counters change there."""
        self._say_errors_of_servers()
        if self._live:
            self._live.refresh()
        self._timer = loop.call_later(_REFRESH_SECONDS, self._tick, loop)

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None:
        """A suite was opened of which so many units are done."""
        self._log("plan", model=model, suite=suite, planned=planned, done=done)
        self._bars.add_task(suite, start=False, total=planned, completed=done, failed=0, cached=0)
        self._suites[model][suite] = self._bars.tasks[-1]

    def attach(self, account: Account) -> None:
        """A model answers; its counters can be read from now on."""
        self._log("model", model=account.model)
        self._accounts[account.model] = account

    def start(self, model: str, suite: str) -> None:
        """The first units of a suite are about to be asked."""
        self._log("start", model=model, suite=suite)
        self._bars.start_task(self._suites[model][suite].id)

    def finished(self, record: UnitRecord, *, from_earlier_run: bool) -> None:
        """A unit is done; `from_earlier_run`: all its replies were in the cache before."""
        shown = {"model", "suite", "task_id", "sample", "outcome", "usage"}
        facts = record.model_dump(mode="json", include=shown)
        seconds = round(record.seconds, 3)
        self._log("unit", **facts, seconds=seconds, from_earlier_run=from_earlier_run)
        suite = self._suites[record.model][record.suite]
        if from_earlier_run:  # it says nothing of the server's speed: the clock starts again
            suite.fields["cached"] += 1
            self._bars.reset(suite.id, completed=int(suite.completed) + 1)
        else:
            self._bars.advance(suite.id)
        if not self._live and (not suite.remaining or time.monotonic() - self._last_line > _LINE_SECONDS):
            self._print_line(record.model, suite)

    def failed(self, model: str, suite: str, reason: str) -> None:
        """A unit stays open: its infrastructure failed."""
        self._log("open", model=model, suite=suite, reason=reason)
        self._suites[model][suite].fields["failed"] += 1
        self._say_error(model, reason, f"{model} {suite}: stays open: {reason}")

    def broke(self, unit: str, error: Exception) -> None:
        """A unit met an error in this program."""
        trace = "".join(traceback.format_exception(error))
        self._log("error", text=unit, traceback=trace)
        if self.errors is not None:
            self.errors.parent.mkdir(parents=True, exist_ok=True)
            with self.errors.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {unit}\n{trace}")

    def say(self, message: str) -> None:
        """Prints a message with the time, unless it is an error of a model that was printed before."""
        self._log("message", text=message)
        name, _, error = message.partition(": ")
        if _without_numbers(error) not in self._errors[name]:
            self._said.add(_without_numbers(message))
            self._print(message)

    def _say_error(self, name: str, error: str, message: str) -> None:
        """Prints a model's error the first time that it comes; at most ten different ones of a model."""
        errors, key = self._errors[name], _without_numbers(error)
        if key in errors or _without_numbers(f"{name}: {error}") in self._said:
            return
        if len(errors) > _ERRORS_PER_MODEL:
            return
        if len(errors) == _ERRORS_PER_MODEL:
            message = f"{name}: and other errors, which are not printed"
        errors.add(key)
        self._print(message)

    def _say_errors_of_servers(self) -> None:
        """Prints what servers answered to requests that are tried again, and why models were stopped."""
        for name, account in self._accounts.items():
            stats = account.stats
            if error := stats.stopped or stats.last_error:
                is_retried = not stats.stopped and stats.retried_error == error
                self._say_error(name, error, f"{name}: {error}{'; trying again' if is_retried else ''}")

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

    def final(self, *, all_planned: bool = True) -> Table:
        """Returns a table of what each model did and what that cost.

        A gate stops as soon as it is decided: without `all_planned` what was not asked is not called open.
        """
        rows = [(name, cells) for name, cells in self._rows() if name in self._accounts]
        if not all_planned:
            for _, cells in rows:
                cells |= {"done": cells.get("done", "").partition("/")[0], "open": ""}
        return _table_of(rows, _FINAL, self._console.width, {"cached", "retries", "cut", "too long"})

    def panel(self) -> RenderableType:
        """What is being prepared; then each model, those that are done last: the window may be too small."""
        if self._status:
            return Text(visible(self._status), overflow="ellipsis", no_wrap=True)
        rows = sorted(self._rows(), key=lambda row: row[1].get("open") == "0")
        return _table_of(rows, _PANEL, self._console.width, {"too long"}) if rows else ""

    def _rows(self) -> list[tuple[str, dict[str, str]]]:
        """Of the models, and of the judge: name and cells by columns."""
        return [
            (name, _cells_of_model(list(self._suites.get(name, {}).values()), self._accounts.get(name)))
            for name in dict.fromkeys([*self._suites, *self._accounts])
        ]

    def _print_line(self, model: str, suite: Task) -> None:
        self._last_line = time.monotonic()
        cells = _cells_of_suites([suite]) | {"cached": f"{suite.fields['cached'] or ''}"}
        line = "  ".join((f"{model} {suite.description}", *_named(cells)))
        if account := self._accounts.get(model):
            cells = _cells_of_server(account.stats) if account.stats.answered else {}
            usd = [f"{account.usd:.2f} USD"] if account.price else []
            so_far = "  ".join((*_named(cells | {"cached": ""}), f"limit {account.stats.limit}", *usd))
            line += f"; all of {model} so far: {so_far}"
        self._print(line)

    def _print(self, message: str) -> None:
        is_terminal = self._console.is_terminal
        room = self._console.width - len("^C")  # a terminal prints that in front of what follows Ctrl-C
        self._console.print(
            f"{datetime.now():%H:%M:%S} {indented(visible(message))}",
            width=room if is_terminal else None,
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=not is_terminal,  # a terminal would break it inside a number
        )


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def _named(cells: Mapping[str, str]) -> Iterator[str]:
    """`3/3 done`, `0 open`, …: what is not empty."""
    return (f"{cell} {name}" for name, cell in cells.items() if cell)


def _cells_of_suites(suites: Sequence[Task]) -> dict[str, str]:
    """Returns, by columns, how far one suite or several together are; the time left is the slowest one's."""
    done = sum(int(suite.completed) for suite in suites)
    planned = sum(int(suite.total or 0) for suite in suites)
    seconds = [suite.time_remaining for suite in suites if suite.remaining and suite.time_remaining]
    return {
        "done": f"{done}/{planned}",
        "open": f"{planned - done}",
        "failed": f"{sum(suite.fields['failed'] for suite in suites) or ''}",
        "time left": "" if done == planned else duration(max(seconds)) if seconds else "?",
    }


def _cells_of_model(suites: Sequence[Task], account: Account | None) -> dict[str, str]:
    cells = {"tokens/s": _UNKNOWN}  # from the start, so that no column appears when its server answers
    if suites:
        cells |= _cells_of_suites(suites)
    if account is None:
        return cells
    stats = account.stats
    cells |= _cells_of_server(stats)
    cells |= {
        "in flight": f"{stats.in_flight}",
        "limit": f"{stats.limit}",
        "most in flight": f"{stats.most_in_flight}",
        "replies": f"{stats.answered}",
        "retries": f"{stats.retries}",
        "cut": f"{stats.truncated}",
        "too long": f"{stats.too_long + stats.cut_by_context}",
        "USD": "" if account.price is None else f"{account.usd:.4f}",
    }
    return cells | ({"time left": "stopped"} if stats.stopped else {})


def _cells_of_server(stats: EndpointStats) -> dict[str, str]:
    """What the server has sent, and how many questions the cache answered: their tokens were sent before.

    `?` stands for the tokens of replies that the server did not count.
    """
    tokens, speed = f"{stats.output_tokens}", _UNKNOWN
    if stats.tokens_per_second is not None:
        speed = f"{stats.tokens_per_second:.0f}"
    if stats.uncounted:
        tokens, speed = f"{tokens} + ?" if stats.output_tokens else "?", "?"
    return {"tokens": tokens, "tokens/s": speed, "cached": f"{stats.from_cache}"}


def _table_of(
    rows: Sequence[tuple[str, Mapping[str, str]]],
    columns: Mapping[str, int],
    width: int,
    only_if_any: Collection[str],
) -> Table:
    """Returns a table of names and cells with the columns that fit into the width and have a value.

    Those of `only_if_any` are left out, too, where all their values are 0.
    """
    names = []
    for name, from_width in columns.items():
        values = {cells.get(name, "") for _, cells in rows}
        if from_width <= width and values - ({"", "0"} if name in only_if_any else {""}):
            names.append(name)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("model", overflow="fold")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for label, cells in rows:
        table.add_row(visible(label), *(cells.get(name, "") for name in names))
    return table
