"""Writing replies in a thread: what waits while one transaction is on its way to the disk shares the next."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from triathlon_runner.endpoints._cache_file import connect, drop_oldest, size_bytes
from triathlon_runner.endpoints._errors import CacheError

Row = tuple[bytes, str, str]
"""Key, model, answer."""
_Work = tuple[Callable[[sqlite3.Connection], int], "Future[int] | asyncio.Future[int]"]
_MOST_AT_ONCE = 256
_ROWS_BETWEEN_LOOKS = 500
"""Rows written between two looks at the size of the file."""


class CacheWriter:
    """The only writer of this process. Its thread ends with `close`, or with the process."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Opens the file once more: a connection belongs to a thread."""
        self._path, self._max_bytes = path, max_bytes
        self._db = connect(path)
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._rows_since_look = 0
        self._thread = Thread(target=self._run, name="reply-cache", daemon=True)
        self._thread.start()

    async def write(self, row: Row) -> int:
        """Stores a row unless its key is there; returns, after the commit, 1 where it was new.

        Raises:
            CacheError: it could not be written.
        """
        insert = "INSERT OR IGNORE INTO replies (key, model, answer) VALUES (?, ?, ?)"
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._queue.put((lambda db: db.execute(insert, row).rowcount, done))
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

        return self._submit(drop)

    def close(self) -> None:
        """Writes what was submitted, then closes the file."""
        self._queue.put(None)
        self._thread.join()

    def _submit(self, work: Callable[[sqlite3.Connection], int]) -> "Future[int]":
        done: Future[int] = Future()
        done.set_running_or_notify_cancel()  # from here on it is written, even if the asker goes away
        self._queue.put((work, done))
        return done

    def _run(self) -> None:
        closing = False
        while not closing:
            batch = [self._queue.get()]
            while len(batch) < _MOST_AT_ONCE:
                try:
                    batch.append(self._queue.get_nowait())
                except Empty:
                    break
            closing = None in batch
            self._commit([work for work in batch if work is not None])
        self._db.close()

    def _commit(self, batch: list[_Work]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            results = [work(self._db) for work, _ in batch]
            self._make_room(len(batch))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            reason = f"a reply could not be stored in {str(self._path)!r}: {error}"
            _land([(done, CacheError(reason)) for _, done in batch])
            return
        _land([(done, result) for (_, done), result in zip(batch, results, strict=True)])

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _make_room(self, rows: int) -> None:
        self._rows_since_look += rows
        if self._rows_since_look >= _ROWS_BETWEEN_LOOKS:
            self._rows_since_look = 0
            if size_bytes(self._db) > self._max_bytes:
                drop_oldest(self._db, self._max_bytes * 9 // 10)


_Landing = tuple["Future[int] | asyncio.Future[int]", int | CacheError]


def _land(batch: list[_Landing]) -> None:
    """Tells everybody how it went; wakes each event loop once, which costs more than writing a row."""
    loops: dict[asyncio.AbstractEventLoop, list[_Landing]] = {}
    for done, result in batch:
        if isinstance(done, asyncio.Future):
            loops.setdefault(done.get_loop(), []).append((done, result))
        else:
            _settle([(done, result)])
    for loop, landings in loops.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, landings)


def _settle(landings: list[_Landing]) -> None:
    for done, result in landings:
        if done.cancelled():
            continue
        if isinstance(result, CacheError):
            done.set_exception(result)
        else:
            done.set_result(result)
