"""Replies that were paid for once: a SQLite file that several processes may share."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from triathlon_runner.endpoints._api import Answer
from triathlon_runner.endpoints._errors import CacheError
from triathlon_runner.records import Reply, Usage

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key BLOB PRIMARY KEY, model TEXT NOT NULL, asked REAL NOT NULL, answer TEXT NOT NULL
) WITHOUT ROWID
"""


def reply_key(question: Mapping[str, Any]) -> bytes:
    """The key of everything that shaped a reply."""
    text = json.dumps(question, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What `triathlon cache info` shows."""

    path: Path
    replies: int
    size_bytes: int
    replies_by_model: dict[str, int]


class ReplyCache:
    """Answers by key. A reply that `put` returned from survives `kill -9`."""

    def __init__(self, path: Path) -> None:
        """Opens or creates the file.

        Raises:
            CacheError: it cannot be opened, or is no cache.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise CacheError(f"The cache of replies {str(path)!r} cannot be used: {error}.") from error

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
        """The stored answer, with the usage and seconds of the day it was asked."""
        row = self._db.execute("SELECT answer FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else _decode(row[0])

    async def put(self, key: bytes, model: str, answer: Answer) -> None:
        """Stores an answer.

        Raises:
            CacheError: the disk is full or the file unwritable.
        """
        row = (key, model, time.time(), _encode(answer))
        try:
            self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise CacheError(f"The reply could not be stored in {str(self.path)!r}: {error}.") from error


def _encode(answer: Answer) -> str:
    return json.dumps(
        {
            "reply": answer.reply.model_dump(mode="json"),
            "usage": answer.usage.model_dump(),
            "seconds": answer.seconds,
            "served_model": answer.served_model,
        }
    )


def _decode(text: str) -> Answer:
    stored = json.loads(text)
    return Answer(
        reply=Reply.model_validate_json(json.dumps(stored["reply"])),
        usage=Usage(**stored["usage"]),
        seconds=stored["seconds"],
        served_model=stored["served_model"],
    )
