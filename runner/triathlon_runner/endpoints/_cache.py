"""Replies that were paid for once: a SQLite file that several processes may share."""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from triathlon_runner.endpoints._api import Answer
from triathlon_runner.endpoints._cache_file import committed, connect, drop_oldest, size_bytes
from triathlon_runner.endpoints._errors import CacheError
from triathlon_runner.records import Finish, Reply, Usage

GIBIBYTE = 2**30
_ROWS_BETWEEN_SIZE_CHECKS = 500
_SORTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def shape_of(question: Mapping[str, Any]) -> bytes:
    """What shaped a reply around its request, as sorted JSON."""
    return _SORTED(dict(question)).encode("utf-8", "surrogatepass")


def reply_key(shape: bytes, body: bytes = b"{}") -> bytes:
    """The key of everything that shaped a reply: what is around the request, and its body as sorted JSON."""
    return hashlib.sha256(b'{"body":%b,%b' % (body, shape[1:])).digest()


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What `triathlon cache info` shows."""

    path: Path
    replies: int
    size_bytes: int
    replies_by_model: dict[str, int]


class ReplyCache:
    """Answers by key. An answer that `put` has returned survives `kill -9`, and is never asked for again.

    Reading and writing take microseconds and happen in place.
    """

    def __init__(self, path: Path, *, max_bytes: int = 4 * GIBIBYTE) -> None:
        """Opens or creates the file; beyond `max_bytes` the oldest replies make room for new ones.

        Raises:
            CacheError: it cannot be opened, or is no cache.
        """
        self.path = path
        self._db = connect(path)
        self._max_bytes, self._rows_since_check = max_bytes, 0

    def __enter__(self) -> "ReplyCache":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def get(self, key: bytes) -> Answer | None:
        """The stored answer, with the usage and seconds of the day it was asked.

        Raises:
            CacheError: the file cannot be read.
        """
        try:
            row = self._db.execute("SELECT answer FROM replies WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise CacheError(f"the cache of replies {str(self.path)!r} cannot be read: {error}") from error
        answer = None if row is None else _decode(row[0])
        return None if answer is None or is_error_reply(answer) else answer

    def put(self, key: bytes, model: str, answer: Answer) -> Answer:
        """Stores an answer and returns the one that counts: an earlier one, if another process was faster.

        What stands for an error of the server is not stored: the server is asked again another time.

        Raises:
            CacheError: the disk is full or the file cannot be written.
        """
        if is_error_reply(answer):
            return answer
        insert = "INSERT OR IGNORE INTO replies (key, model, answer) VALUES (?, ?, ?)"
        try:
            is_new = self._db.execute(insert, (key, model, _encode(answer))).rowcount == 1
            self._make_room()
        except sqlite3.Error as error:
            raise CacheError(f"a reply could not be stored in {str(self.path)!r}: {error}") from error
        return answer if is_new else self.get(key) or answer

    def _make_room(self) -> None:
        self._rows_since_check += 1
        if self._rows_since_check >= _ROWS_BETWEEN_SIZE_CHECKS:
            self._rows_since_check = 0
            if size_bytes(self._db) > self._max_bytes:
                with committed(self._db):
                    drop_oldest(self._db, self._max_bytes * 9 // 10)

    def info(self) -> CacheInfo:
        """Counts and sizes."""
        counts = self._db.execute("SELECT model, count(*) FROM replies GROUP BY model ORDER BY model")
        by_model = {str(model): int(count) for model, count in counts}
        files = [self.path, self.path.with_name(self.path.name + "-wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
        return CacheInfo(self.path, sum(by_model.values()), size, by_model)

    def prune(self, *, max_bytes: int | None = None, model: str | None = None) -> int:
        """Drops the replies of a model, or the oldest ones until the file is no larger than `max_bytes`.

        Returns:
            How many were dropped.

        Raises:
            CacheError: the file cannot be written.
        """
        dropped = 0
        try:
            with committed(self._db):
                if model is not None:
                    dropped += self._db.execute("DELETE FROM replies WHERE model = ?", (model,)).rowcount
                if max_bytes is not None:
                    dropped += drop_oldest(self._db, max_bytes)
        except sqlite3.Error as error:
            raise CacheError(f"{str(self.path)!r} cannot be changed: {error}") from error
        return dropped


def is_error_reply(answer: Answer) -> bool:
    """Whether this outcome came as an HTTP error and not as a reply: no text, and no tokens were counted."""
    came_as_error = answer.reply.finish in (Finish.CONTEXT_OVERFLOW, Finish.REFUSED)
    usage = answer.usage
    return came_as_error and not (answer.reply.text or usage.input_tokens or usage.output_tokens)


def _encode(answer: Answer) -> str:
    reply, usage = answer.reply, answer.usage
    return json.dumps(
        {
            "text": reply.text,
            "reasoning": reply.reasoning,
            "finish": reply.finish.value,
            "usage": dict(usage),
            "seconds": answer.seconds,
            "served_model": answer.served_model,
        }
    )


def _decode(text: str) -> Answer:
    stored = json.loads(text)
    return Answer(
        reply=Reply(text=stored["text"], reasoning=stored["reasoning"], finish=Finish(stored["finish"])),
        usage=Usage(**stored["usage"]),
        seconds=stored["seconds"],
        served_model=stored["served_model"],
    )


class SingleFlight:
    """The questions in flight, by key."""

    def __init__(self) -> None:
        """None is in flight."""
        self._in_flight: dict[bytes, asyncio.Future[Answer | None] | None] = {}
        """With the future that others wait for, where anybody does."""

    def __contains__(self, key: bytes) -> bool:
        return key in self._in_flight

    async def join(self, key: bytes) -> Answer | None:
        """Waits for the same question where it is in flight; None where it is not, or was given up."""
        if key not in self._in_flight:
            return None
        result = self._in_flight[key]
        if result is None:
            result = self._in_flight[key] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(result)

    async def ask(self, key: bytes, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Asks; those who join get the same answer or error, and None if this caller is cancelled."""
        self._in_flight[key] = None
        answer: Answer | None = None
        try:
            answer = await ask()
        except Exception as error:
            if (result := self._in_flight[key]) is not None:
                result.set_exception(error)
                result.exception()  # marks it as retrieved: who joined may have gone
            raise
        finally:
            result = self._in_flight.pop(key)
            if result is not None and not result.done():
                result.set_result(answer)
        return answer
