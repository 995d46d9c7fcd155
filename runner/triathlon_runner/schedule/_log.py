"""`--log-json`: one JSON object a line for every event of a run, for machines."""

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from triathlon_runner.errors import UserError
from triathlon_runner.schedule._stop import Account

_COUNTERS: Final = (
    "answered",
    "from_cache",
    "failed",
    "retries",
    "throttled",
    "truncated",
    "input_tokens",
    "output_tokens",
    "uncounted",
    "lost",
    "limit",
    "last_error",
)
"""Fields of `EndpointStats` that stand in a model's last event."""


class JsonLog:
    """Every line has `time` (ISO 8601, UTC) and `event`; lines are appended whole."""

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
            counters = {name: getattr(account.stats, name) for name in _COUNTERS}
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


@contextmanager
def logged_errors(path: Path, log: JsonLog | None = None) -> Iterator[None]:
    """Puts the tracebacks of errors in this program to the end of a file, and into `log` as `error` events.

    A person sees one line for such an error; who fixes it needs the rest.
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
