"""Aggregates kept between builds, found by content: a file that did not change is not read again."""

import hashlib
import os
import shutil
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import triathlon_runner
import triathlon_site
from triathlon_runner.store import replace_file
from triathlon_site.load._aggregate import FileAggregate

KEPT_SECONDS: Final = 30 * 24 * 3600


class AggregateCache:
    """A folder an aggregate, named by the hash of everything that shapes it: its sums and its evidence."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> FileAggregate | None:
        path = self.place(key) / "aggregate.json"
        try:
            found = FileAggregate.model_validate_json(path.read_bytes())
            os.utime(path)
        except (OSError, ValueError):
            return None  # not there, or of another version: the results are read instead
        return found

    def put(self, key: str, value: FileAggregate, evidence: Sequence[str]) -> None:
        """Evidence first: an aggregate that is there has all its pages."""
        for number, page in enumerate(evidence, start=1):
            replace_file(self.place(key) / f"{number}.html", page)
        replace_file(self.place(key) / "aggregate.json", value.model_dump_json(by_alias=True))

    def place(self, key: str) -> Path:
        return self.folder / key[:2] / key

    def prune(self) -> None:
        """Forgets what no build has used for a month."""
        oldest = time.time() - KEPT_SECONDS
        for path in self.folder.glob("??/*/aggregate.json"):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path.parent, ignore_errors=True)


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


def file_sha256(path: Path) -> str:
    """Hash of a file, read in pieces; of nothing where there is no file."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
