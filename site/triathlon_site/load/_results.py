"""Everything under `results/runs/`, aggregated."""

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

from triathlon_runner.records import UnitRecord
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load._aggregate import (
    FileAggregate,
    Notice,
    SourceFile,
    aggregate,
    current_protocol,
    read_manifest,
)
from triathlon_site.load._cache import AggregateCache, cache_key
from triathlon_site.load._checks import contradictions, readable
from triathlon_site.load._files import RUNS, RunFile, find_files
from triathlon_site.load._lines import read_lines
from triathlon_site.workers import workers

WORTH_A_PROCESS: Final = 4 << 20
"""Bytes of results below which starting more processes takes longer than reading."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A model that could not run where the results were made, and why."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Results:
    """All that `results/runs/` says."""

    files: tuple[FileAggregate, ...]
    skipped: tuple[Skipped, ...]
    notices: tuple[Notice, ...]

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(sorted({file.model for file in self.files}))

    def of_suite(self, suite: str) -> dict[str, FileAggregate]:
        return {file.model: file for file in self.files if file.suite == suite}

    def of_models(self, models: Sequence[str]) -> dict[str, list[FileAggregate]]:
        """By model, in the order of the suites."""
        found: dict[str, list[FileAggregate]] = {model: [] for model in models}
        for file in self.files:
            if file.model in found:
                found[file.model].append(file)
        return found


class Extractor(Protocol):
    """What makes texts of the records of one file, so that pages need not read them again."""

    def __call__(
        self, records: Sequence[UnitRecord], model: str, suite: str, parents: Mapping[str, UnitRecord]
    ) -> Mapping[str, str]:
        """Texts by the names of the files that keep them.

        Args:
            records: of one file.
            model: whose they are.
            suite: whose they are.
            parents: by task_id what the model did with the problems that these were evolved from.
        """
        ...

    def fingerprint(self, model: str) -> str:
        """Of everything that shapes the texts of a model beside the records."""
        ...


@dataclass(frozen=True, slots=True)
class _Reader:
    """What a file is read with."""

    entries: Mapping[str, SuiteEntry]
    extractor: Extractor
    cache: AggregateCache


_reader: _Reader | None = None
"""For the forked workers: a suite's metrics are functions, which do not travel between processes."""


def read_results(
    root: Path,
    catalogue: Sequence[SuiteEntry],
    cache: AggregateCache,
    extractor: Extractor,
    *,
    processes: int = 2,
) -> Results:
    """Reads what changed since the last build, takes the rest from the cache."""
    with reading(root, catalogue, cache, extractor, processes=processes) as finish:
        return finish()


@contextmanager
def reading(
    root: Path,
    catalogue: Sequence[SuiteEntry],
    cache: AggregateCache,
    extractor: Extractor,
    *,
    processes: int = 2,
) -> Iterator[Callable[[], Results]]:
    """Has other processes begin to read what changed since the last build, if that is much; what is given
    reads the rest and waits for them. One at a time.
    """
    global _reader  # noqa: PLW0603 (set before forking, so that the workers have it)
    entries = {entry.id: entry for entry in catalogue}
    files, notices = find_files(root, entries)
    _reader = _Reader(entries, extractor, cache)
    keys = {file: _key(file, _reader) for file in files}
    changed = {file: key for file, key in keys.items() if key not in cache}
    enough = sum(os.path.getsize(file.path) for file in changed) >= WORTH_A_PROCESS
    with workers(processes if enough else 1, at_a_time=4, nice=8) as together:
        read = together(_read, changed, changed.values())

        def finish() -> Results:
            """In order."""
            known = {file: cache.get(key) for file, key in keys.items() if file not in changed}
            found = [
                next(read) if file in changed else known[file] or _read(file, key)
                for file, key in keys.items()
            ]
            said = [notice for file in found for notice in file.notices]
            return Results(tuple(found), tuple(_skipped(root)), (*notices, *said))

        yield finish


def _key(file: RunFile, reader: _Reader) -> str:
    sources = [file, *_seeds_of(file, reader)]
    hashes = [reader.cache.hashes.sha256(path) for one in sources for path in (one.path, one.manifest)]
    return cache_key(file.name, *hashes, reader.extractor.fingerprint(file.model))


def _seeds_of(file: RunFile, reader: _Reader) -> list[RunFile]:
    """The same model's file on the problems that this suite's were evolved from, if there is one."""
    seeds = reader.entries[file.suite].seeds
    if seeds is None or seeds == file.suite or seeds not in reader.entries:
        return []
    found = replace(file, suite=seeds)
    return [found] if os.path.exists(found.path) else []


def _read(file: RunFile, key: str) -> FileAggregate:
    assert _reader is not None
    if not gc.isenabled():  # as in a build: what the file before left is searched, not this one's records
        gc.collect()
        gc.freeze()
    entry = _reader.entries[file.suite]
    records, notices = _records(file, entry)
    manifest, faults = read_manifest(Path(file.manifest), file.name, file.model, file.suite)
    if manifest:
        said = contradictions(manifest, records, len(records) + len(notices))
        faults = [Notice(file=file.name, message=message) for message in said]
    protocol = current_protocol(records, manifest)
    current = [record for record in records if record.protocol == protocol]
    extracts = _reader.extractor(current, file.model, file.suite, _parents(file, current))
    result = aggregate(
        entry,
        SourceFile(file.model, file.name, _reader.cache.hashes.sha256(file.path)),
        records=records,
        manifest=manifest,
        notices=(*notices, *faults),
    )
    return _reader.cache.put(key, result, extracts)


def _records(file: RunFile, entry: SuiteEntry) -> tuple[list[UnitRecord], list[Notice]]:
    records: list[UnitRecord] = []
    notices: list[Notice] = []
    for line in read_lines(Path(file.path), entry.record, file=file.name, model=file.model, suite=file.suite):
        if isinstance(line, Notice):
            notices.append(line)
        else:
            records.append(line)
    return records, notices


def _parents(file: RunFile, records: Sequence[UnitRecord]) -> dict[str, UnitRecord]:
    """First samples of the parents of these records; faults of their file are its own page's matter."""
    assert _reader is not None
    wanted = {parent for record in records for parent in getattr(record, "parents", ())}
    if not wanted:
        return {}
    found: dict[str, UnitRecord] = {}
    for seeds in _seeds_of(file, _reader):
        hashes = _reader.cache.hashes
        content = hashes.sha256(seeds.path) + hashes.sha256(seeds.manifest)
        found |= _first_samples(seeds, content)
    return {task: found[task] for task in wanted if task in found}


@lru_cache(maxsize=2)
def _first_samples(file: RunFile, content: str) -> dict[str, UnitRecord]:  # noqa: ARG001 (of the memory)
    """By task; kept for the next file, as a model's evolved sets have the same seeds. `content`: its hash."""
    assert _reader is not None
    records, _ = _records(file, _reader.entries[file.suite])
    manifest, _ = read_manifest(Path(file.manifest), file.name, file.model, file.suite)
    protocol = current_protocol(records, manifest)
    return {record.task_id: record for record in records if not record.sample and record.protocol == protocol}


def _skipped(root: Path) -> Iterator[Skipped]:
    for path in filter(Path.is_file, sorted((root / RUNS).glob("*/skipped.txt"))):
        yield Skipped(readable(path.parent.name), path.read_text(encoding="utf-8", errors="replace").strip())
