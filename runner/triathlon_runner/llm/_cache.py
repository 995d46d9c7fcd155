"""Cache of replies: a SQLite file that several processes may use at once."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import stamina

from triathlon_runner.errors import UserError
from triathlon_runner.llm._api import Answer
from triathlon_runner.records import Finish, Reply, Usage

_VERSION: Final = 1
_LOCK_SECONDS: Final = 30.0
"""How long to wait for another process that is writing."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    model TEXT NOT NULL,
    asked TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    answer TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS replies_by_model ON replies (model);
"""
_UNREADABLE: Final = "cannot be read; where it is damaged, move it away"
_DELETE_OLDEST = "DELETE FROM replies WHERE id IN (SELECT id FROM replies ORDER BY id LIMIT 50)"


def reply_key(settings: Mapping[str, Any]) -> bytes:
    """Returns the key of a reply: a hash of the request's `body` and of all else that shaped it."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class CacheError(UserError):
    """The cache of replies cannot be opened or written."""


class ReplyCache:
    """Answers by key. An answer that `put` has returned survives `kill -9`, and is never asked for again.

    Reading and writing take microseconds and happen in place; where the file does not allow them, they raise
    a `CacheError`.
    """

    def __init__(self, path: Path) -> None:
        """Opens or creates the file.

        Raises:
            CacheError: it cannot be opened, or is no cache.
        """
        self.path = path
        with self._named("cannot be used; make it writable, move it away, or name another folder"):
            self._db = _open(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @contextmanager
    def _named(self, what: str) -> Iterator[None]:
        """Context in which an error of the file or its data base becomes a `CacheError` that names it."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise CacheError(f"the cache of replies {str(self.path)!r} {what}: {error}") from error

    def get(self, key: bytes) -> Answer | None:
        """Returns the stored answer, with the usage and seconds of the original request."""
        with self._named(_UNREADABLE):
            row = self._db.execute("SELECT answer FROM replies WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        stored = json.loads(row[0])
        reply = Reply(text=stored["text"], reasoning=stored["reasoning"], finish=Finish(stored["finish"]))
        return Answer(reply, Usage(**stored["usage"]), stored["seconds"], stored["served_model"])

    def put(self, key: bytes, model: str, answer: Answer) -> Answer:
        """Stores an answer and returns the stored one: an earlier one, if another process was faster.

        What `is_passing` is not stored: the server is asked again in the next run.
        """
        if answer.is_passing:
            return answer
        more = {"usage": dict(answer.usage), "seconds": answer.seconds, "served_model": answer.served_model}
        insert = "INSERT OR IGNORE INTO replies (key, model, answer) VALUES (?, ?, ?)"
        with self._named("cannot be written; make room, or remove replies with `triathlon cache prune`"):
            made = self._db.execute(insert, (key, model, json.dumps({**dict(answer.reply), **more})))
        return answer if made.rowcount == 1 else self.get(key) or answer

    def replies_by_model(self) -> dict[str, int]:
        """Returns how many replies it holds of each model."""
        with self._named(_UNREADABLE):
            counts = self._db.execute("SELECT model, count(*) FROM replies GROUP BY model ORDER BY model")
            return {str(model): int(count) for model, count in counts}

    @property
    def size_bytes(self) -> int:
        """Of its files."""
        files = [self.path, self.path.with_name(self.path.name + "-wal")]
        return sum(file.stat().st_size for file in files if file.exists())

    def prune(self, *, max_bytes: int | None = None, model: str | None = None) -> int:
        """Drops the replies of a model, or the oldest ones until the file is no larger than `max_bytes`.

        Returns:
            How many were dropped.
        """
        with self._named("cannot be changed"):
            with self._db:  # commits, or rolls back
                self._db.execute("BEGIN IMMEDIATE")
                dropped = 0
                if model is not None:
                    dropped = self._db.execute("DELETE FROM replies WHERE model = ?", (model,)).rowcount
                while max_bytes is not None and self._used_bytes() > max_bytes:
                    oldest = self._db.execute(_DELETE_OLDEST).rowcount
                    if not oldest:
                        break
                    dropped += oldest
            self._db.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page of the file
            return dropped

    def _used_bytes(self) -> int:
        names = ("page_count", "freelist_count", "page_size")
        pages, free, size = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        return int((pages - free) * size)


def _is_locked(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


# Switching to WAL does not wait for another process that does the same.
@stamina.retry(on=_is_locked, attempts=None, timeout=_LOCK_SECONDS, wait_max=0.1)
def _open(path: Path) -> sqlite3.Connection:
    """Opens or creates the file; commits survive `kill -9`, and a power cut loses at most the last ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None, timeout=_LOCK_SECONDS)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise CacheError(
                f"expected the cache of replies {str(path)!r} to have format {_VERSION}, got {version}: "
                "it was made by another version of Triathlon; move it away, or use that version"
            )
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA journal_size_limit=67108864")
        if version == 0:
            db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={_VERSION}; COMMIT;")
    except BaseException:
        db.close()
        raise
    return db
