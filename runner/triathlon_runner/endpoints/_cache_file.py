"""The file behind the cache of replies."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from triathlon_runner.endpoints._errors import CacheError

_VERSION: Final = 1
_PATIENCE_SECONDS: Final = 30.0
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


def connect(path: Path) -> sqlite3.Connection:
    """Opens or creates the file; commits survive `kill -9`, and a power cut loses at most the last ones.

    Raises:
        CacheError: it cannot be opened, or is no cache of ours.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE_SECONDS)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    try:
        _prepare(db, path)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            _create(db)
            break
        except sqlite3.OperationalError as error:
            # Switching to WAL does not wait for another process that does the same.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise _unusable(path, error) from error
            time.sleep(0.05)
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        raise CacheError(
            f"expected the cache of replies {str(path)!r} to have format {_VERSION}, got {version}: "
            "it was made by another version of Triathlon; move it away, or use that version"
        )


def _create(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA auto_vacuum=INCREMENTAL")
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA journal_size_limit=67108864")
    if db.execute("PRAGMA user_version").fetchone()[0] == 0:
        db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={_VERSION}; COMMIT;")


def _unusable(path: Path, error: Exception) -> CacheError:
    return CacheError(
        f"the cache of replies {str(path)!r} cannot be used ({error}): "
        "make it writable, move it away, or name another folder"
    )


@contextmanager
def committed(db: sqlite3.Connection) -> Iterator[None]:
    """Around several statements that are one transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def size_bytes(db: sqlite3.Connection) -> int:
    """Bytes in use, freed pages not counted."""
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def drop_oldest(db: sqlite3.Connection, max_bytes: int) -> int:
    """Drops the oldest replies, a twentieth at a time, until no more than `max_bytes` are in use."""
    dropped = 0
    while size_bytes(db) > max_bytes:
        count = db.execute("SELECT count(*) FROM replies").fetchone()[0]
        if not count:
            break
        oldest = "SELECT id FROM replies ORDER BY id LIMIT ?"
        dropped += db.execute(f"DELETE FROM replies WHERE id IN ({oldest})", (-(-count // 20),)).rowcount  # noqa: S608
    db.execute("PRAGMA incremental_vacuum").fetchall()
    return dropped
