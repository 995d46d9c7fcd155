"""`--log-json`: one JSON object a line for every event of a run, for machines."""

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from triathlon_runner.errors import UserError
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._stop import Account


class JsonLog:
    """Implements `Progress`. Every line has `time` (ISO 8601, UTC) and `event`; lines are appended whole."""

    def __init__(self, path: Path) -> None:
        """Opens the file for appending.

        Raises:
            UserError: it cannot be written.
        """
        self._path = path
        self._accounts: dict[str, Account] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise self._unwritable(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def plan(self, model: str, suite: str, *, planned: int, done: int) -> None:
        self.write("plan", model=model, suite=suite, planned=planned, done=done)

    def attach(self, account: Account) -> None:
        self._accounts[account.model] = account
        self.write("model", model=account.model)

    def start(self, model: str, suite: str) -> None:
        self.write("start", model=model, suite=suite)

    def finished(self, record: UnitRecord, *, from_earlier_run: bool) -> None:
        self.write(
            "unit",
            model=record.model,
            suite=record.suite,
            task_id=record.task_id,
            sample=record.sample,
            outcome=record.outcome.value,
            usage=record.usage.model_dump(),
            seconds=round(record.seconds, 3),
            from_earlier_run=from_earlier_run,
        )

    def failed(self, model: str, suite: str, reason: str) -> None:
        self.write("open", model=model, suite=suite, reason=reason)

    def say(self, message: str) -> None:
        self.write("message", text=message)

    def end(self, **facts: Any) -> None:
        """The run is over; each model's counters, then `facts`."""
        for model, account in self._accounts.items():
            stats = account.stats
            self.write(
                "model_end",
                model=model,
                answered=stats.answered,
                from_cache=stats.from_cache,
                failed=stats.failed,
                retries=stats.retries,
                throttled=stats.throttled,
                truncated=stats.truncated,
                input_tokens=stats.input_tokens,
                output_tokens=stats.output_tokens,
                uncounted=stats.uncounted,
                lost=stats.lost,
                limit=stats.limit,
                usd=round(account.usd, 6),
                usd_estimated=round(account.usd_estimated, 6),
                last_error=stats.last_error,
            )
        self.write("end", **facts)

    def write(self, event: str, **facts: Any) -> None:
        """One line.

        Raises:
            UserError: the disk is full.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **facts}, ensure_ascii=False) + "\n"
        try:
            os.write(self._file, line.encode("utf-8", "replace"))
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> UserError:
        return UserError(
            f"cannot write the log {str(self._path)!r} ({error.strerror}); name another file with --log-json"
        )


@contextmanager
def logged_errors(path: Path, log: JsonLog | None = None) -> Iterator[None]:
    """Puts the tracebacks of errors in this program to the end of a file, and into `log` as `error` events.

    A person sees one line for such an error; who mends it needs the rest.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace", delay=True)
    file.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    handlers: list[logging.Handler] = [file, *([_JsonHandler(log)] if log is not None else [])]
    logger = logging.getLogger("triathlon_runner")
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


class _JsonHandler(logging.Handler):
    def __init__(self, log: JsonLog) -> None:
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        self._log.write("error", text=record.getMessage(), traceback=trace)
