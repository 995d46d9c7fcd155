"""Aggregates kept between builds: a file whose size and time did not change is not read again."""

import hashlib
import os
import pickle
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

import triathlon_runner
import triathlon_site
from triathlon_runner.errors import UserError
from triathlon_site.load._aggregate import Extracts, FileAggregate

AGGREGATE: Final = "aggregate.pickle"
DIGEST_BYTES: Final = hashlib.sha256().digest_size
"""At the beginning of the file: the hash of what follows."""
KEPT_SECONDS: Final = 30 * 24 * 3600


@dataclass(frozen=True)
class AggregateCache:
    """A folder an aggregate, named by a hash of everything that shapes it, with its extracts beside it."""

    folder: Path

    def get(self, key: str) -> FileAggregate | None:
        """The aggregate of this key; None where it is not there or not whole."""
        folder = self._entry(key)
        try:
            content = (folder / AGGREGATE).read_bytes()
            os.utime(folder / AGGREGATE)
        except OSError:
            return None
        digest, pickled = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        if digest != hashlib.sha256(pickled).digest():
            return None  # damaged: unpickling could fail in any way, or give other numbers
        aggregate: FileAggregate = pickle.loads(pickled)  # noqa: S301 (`put` wrote exactly this)
        states = aggregate.extracts.states
        if any(file_state(folder / name) != state for name, state in states.items()):
            return None  # a power cut left half of one, or somebody edited a page of the site
        return replace(aggregate, extracts=Extracts(folder, states))

    def put(self, key: str, aggregate: FileAggregate, extracts: Mapping[str, str | bytes]) -> None:
        """Stores an aggregate and its extracts, the extracts first: no aggregate lacks some of its own.

        Raises:
            UserError: the cache cannot be written.
        """
        folder = self._entry(key)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in extracts.items():
                _write(folder / name, content.encode() if isinstance(content, str) else content)
            states = {name: file_state(folder / name) for name in extracts}
            pickled = pickle.dumps(replace(aggregate, extracts=Extracts(states=states)))
            _write(folder / AGGREGATE, hashlib.sha256(pickled).digest() + pickled)
        except OSError as error:
            place = f"{str(self.folder)!r} ({error.strerror or error})"
            raise UserError(
                f"cannot write to the cache {place}; make room, or name another in TRIATHLON_CACHE"
            ) from None

    def _entry(self, key: str) -> Path:
        return self.folder / key[:2] / key

    def prune(self) -> None:
        """Removes what no build has used for a month."""
        oldest = time.time() - KEPT_SECONDS
        for path in self.folder.glob(f"??/*/{AGGREGATE}"):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path.parent, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    """Writes a file that nobody edits by mistake: a page of evidence is a file of the site, too."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")  # a build beside this one never reads half a file
    draft.write_bytes(content)
    draft.chmod(draft.stat().st_mode & 0o444)
    draft.replace(path)


def file_state(path: Path) -> str:
    """Size and time of the last change; empty where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


def cache_key(*parts: str) -> str:
    """Hash of these parts and of the code that turns them into an aggregate, which holds a DataFrame."""
    versions = sys.version, np.__version__, pd.__version__
    return hashlib.sha256("\0".join((code_fingerprint(), *versions, *parts)).encode()).hexdigest()


@cache
def code_fingerprint() -> str:
    """Hash of both packages' sources: after any change of the code, everything is read again."""
    digest = hashlib.sha256()
    for package in (triathlon_runner, triathlon_site):
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
