"""Aggregates kept between builds, found by content: a file that did not change is not read again."""

import hashlib
from functools import cache
from pathlib import Path

import triathlon_runner
import triathlon_site
from triathlon_runner.store import replace_file
from triathlon_site.load._aggregate import FileAggregate


class AggregateCache:
    """One JSON file an aggregate, named by the hash of everything that shapes it."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, key: str) -> FileAggregate | None:
        if self.folder is None:
            return None
        try:
            return FileAggregate.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValueError):
            return None  # not there, or of another version: the results are read instead

    def put(self, key: str, value: FileAggregate) -> None:
        if self.folder is not None:
            replace_file(self._path(key), value.model_dump_json(by_alias=True))

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key}.json"


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
