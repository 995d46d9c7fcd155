"""Writing replies in a thread: what waits while one statement is on its way to the disk shares the next.

The thread gives the interpreter up once a statement and must wait to get it back, and waking either side
costs more than writing a row: so statements and wake-ups are few.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from triathlon_runner.endpoints._cache_file import connect, drop_oldest, size_bytes
from triathlon_runner.endpoints._errors import CacheError

Row = tuple[bytes, str, str]
"""Key, model, answer."""
_Waiting = tuple[Row, "asyncio.Future[bool]"]
_Work = tuple[Callable[[sqlite3.Connection], int], "Future[int]"]
_MOST_AT_ONCE = 256
_INSERT = "INSERT OR IGNORE INTO replies (key, model, answer) VALUES "
_ROWS_BETWEEN_LOOKS = 500
"""Rows written between two looks at the size of the file."""


class CacheWriter:
    """The only writer of this process. Its thread ends with `close`, or with the process."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Opens the file once more: a connection belongs to a thread."""
        self._path, self._max_bytes = path, max_bytes
        self._db = connect(path)
        self._gathered: list[_Waiting] = []
        self._gathering_in: asyncio.AbstractEventLoop | None = None
        self._queue: SimpleQueue[list[_Waiting] | _Work | None] = SimpleQueue()
        self._rows_since_look = 0
        self._thread = Thread(target=self._run, name="reply-cache", daemon=True)
        self._thread.start()

    async def write(self, row: Row) -> bool:
        """Stores a row unless its key is there; says, after the commit, whether it surely was not.

        Raises:
            CacheError: it could not be written.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bool] = loop.create_future()
        self._gathered.append((row, done))
        if self._gathering_in is not loop:
            self._gathering_in = loop
            loop.call_soon(self._submit_rows)
        return await done

    def prune(self, max_bytes: int | None, model: str | None) -> "Future[int]":
        """Drops replies; the result is their number."""

        def drop(db: sqlite3.Connection) -> int:
            dropped = 0
            if model is not None:
                dropped += db.execute("DELETE FROM replies WHERE model = ?", (model,)).rowcount
            if max_bytes is not None:
                dropped += drop_oldest(db, max_bytes)
            return dropped

        done: Future[int] = Future()
        self._queue.put((drop, done))
        return done

    def close(self) -> None:
        """Writes what was submitted, then closes the file."""
        self._submit_rows()
        self._queue.put(None)
        self._thread.join()

    def _submit_rows(self) -> None:
        """From here on they are written, even if the askers go away."""
        self._gathering_in = None
        if self._gathered:
            rows, self._gathered = self._gathered, []
            self._queue.put(rows)

    def _run(self) -> None:
        item = self._queue.get()
        while item is not None:
            if isinstance(item, tuple):
                self._do(*item)
                item = self._queue.get()
            else:
                item = self._store_with_what_follows(item)
        self._db.close()

    def _store_with_what_follows(self, rows: list[_Waiting]) -> "list[_Waiting] | _Work | None":
        """Stores rows, and those that wait behind them; returns what comes next."""
        while len(rows) < _MOST_AT_ONCE and not self._queue.empty():
            following = self._queue.get()
            if not isinstance(following, list):
                self._store(rows)
                return following
            rows += following
        for start in range(0, len(rows), _MOST_AT_ONCE):
            self._store(rows[start : start + _MOST_AT_ONCE])
        return self._queue.get()

    def _do(self, work: Callable[[sqlite3.Connection], int], done: "Future[int]") -> None:
        try:
            done.set_result(self._committed(work))
        except sqlite3.Error as error:
            done.set_exception(CacheError(f"{str(self._path)!r} cannot be changed: {error}"))

    def _committed(self, work: Callable[[sqlite3.Connection], int]) -> int:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            result = work(self._db)
        except sqlite3.Error:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return result

    def _store(self, batch: list[_Waiting]) -> None:
        """One statement, and so one transaction."""
        result: bool | CacheError
        try:
            places = ",".join(["(?,?,?)"] * len(batch))
            values = [value for row, _ in batch for value in row]
            result = self._db.execute(_INSERT + places, values).rowcount == len(batch)
            self._make_room(len(batch))
        except sqlite3.Error as error:
            result = CacheError(f"a reply could not be stored in {str(self._path)!r}: {error}")
        _land([done for _, done in batch], result)

    def _make_room(self, rows: int) -> None:
        self._rows_since_look += rows
        if self._rows_since_look >= _ROWS_BETWEEN_LOOKS:
            self._rows_since_look = 0
            if size_bytes(self._db) > self._max_bytes:
                self._committed(lambda db: drop_oldest(db, self._max_bytes * 9 // 10))


def _land(batch: "list[asyncio.Future[bool]]", result: bool | CacheError) -> None:
    """Tells everybody how it went; wakes each event loop once."""
    for loop in {done.get_loop() for done in batch}:
        here = [done for done in batch if done.get_loop() is loop]
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, here, result)


def _settle(batch: "list[asyncio.Future[bool]]", result: bool | CacheError) -> None:
    for done in batch:
        if done.cancelled():
            continue
        if isinstance(result, CacheError):
            done.set_exception(result)
        else:
            done.set_result(result)
