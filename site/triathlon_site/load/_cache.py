"""Aggregates kept between builds, found by content: a file that did not change is not read again."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import triathlon_runner
import triathlon_site
from triathlon_runner.errors import UserError
from triathlon_site.load._aggregate import FileAggregate
from triathlon_site.load._checks import unreadable
from triathlon_site.load._stored import AGGREGATE, load, store

KEPT_SECONDS: Final = 30 * 24 * 3600
PRUNED: Final = "pruned"
PRUNED_SECONDS: Final = 24 * 3600
SETTLED_SECONDS: Final = 2.0
"""A file changed so shortly before it was hashed may change again within one tick of the file system's clock:
its hash is not remembered."""


class AggregateCache:
    """A folder an aggregate, named by the hash of everything that shapes it: its sums and extracts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hashes = FileHashes(folder / "hashes.json")

    def get(self, key: str) -> FileAggregate | None:
        try:
            found = load(self.place(key))
            os.utime(f"{self.place(key)}/{AGGREGATE}")
        except (OSError, ValueError):
            return None  # not there, not whole or of another version: the results are read instead
        return found

    def put(self, key: str, value: FileAggregate, extracts: Mapping[str, str]) -> FileAggregate:
        """What it was given as it is found from then on: its tasks on the disk.

        Raises:
            UserError: the cache cannot be written.
        """
        try:
            store(self.place(key), value, extracts)
            return load(self.place(key))
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def __contains__(self, key: str) -> bool:
        """Whether there is one; whether it is whole, `get` finds out."""
        return os.path.exists(f"{self.place(key)}/{AGGREGATE}")

    def place(self, key: str) -> str:
        return f"{self.folder}/{key[:2]}/{key}"

    def prune(self) -> None:
        """Forgets what no build has used for a month. Once a day: it looks at everything."""
        now, done = time.time(), self.folder / PRUNED
        if done.exists() and done.stat().st_mtime > now - PRUNED_SECONDS:
            return
        for path in self.folder.glob(f"??/*/{AGGREGATE}"):
            if path.stat().st_mtime < now - KEPT_SECONDS:
                shutil.rmtree(path.parent, ignore_errors=True)
        with suppress(OSError):  # no room: the next build looks again
            done.touch()


class FileHashes:
    """Hashes of files, remembered as long as size, inode and both times of a file stay the same."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            found = json.loads(path.read_bytes())
        except (OSError, ValueError):
            found = None  # not there, or not whole
        self._known: dict[str, list[int | str]] = found if isinstance(found, dict) else {}
        self._used: dict[str, list[int | str]] = {}

    def sha256(self, path: str) -> str:
        """Of nothing where there is no file."""
        try:
            found = os.stat(path)
        except OSError:
            return ""
        state = [found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns]
        known = self._used.get(path) or self._known.get(path)
        digest = str(known[4]) if known and len(known) == 5 and known[:4] == state else file_sha256(path)
        if time.time() - max(found.st_mtime, found.st_ctime) > SETTLED_SECONDS:
            self._used[path] = [*state, digest]
        return digest

    def save(self) -> None:
        """Those of the files that were asked for; the others are gone or of another results folder.

        Raises:
            UserError: the cache cannot be written.
        """
        if self._used == self._known:
            return
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps(self._used))
            draft.replace(self._path)
            self._known = dict(self._used)
        except OSError as error:
            raise _unwritable(self._path.parent, error) from None


def _unwritable(folder: Path, error: OSError) -> UserError:
    why = error.strerror or str(error)
    return UserError(
        f"cannot write to the cache {str(folder)!r} ({why}); make room, or name another in TRIATHLON_CACHE"
    )


def cache_key(*parts: str) -> str:
    """Of these parts and of the code that turns them into an aggregate."""
    return hashlib.sha256("\0".join((code_fingerprint(), *parts)).encode()).hexdigest()


@cache
def code_fingerprint() -> str:
    """Hash of both packages' sources: after any change of the code, everything is read again."""
    digest = hashlib.sha256()
    for package in (triathlon_runner, triathlon_site):
        assert package.__file__ is not None
        for path in sorted(Path(package.__file__).parent.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def file_sha256(path: str) -> str:
    """Hash of a file, read in pieces; of nothing where there is no plain file that can be read."""
    if unreadable(path):
        return ""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
