"""Everything under `results/runs/`, aggregated."""

import gc
import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
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
from triathlon_site.load._checks import contradictions, readable, unreadable
from triathlon_site.load._lines import read_lines

WORTH_A_PROCESS: Final = 32 << 20
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

    def of_model(self, model: str) -> dict[str, FileAggregate]:
        return {file.suite: file for file in self.files if file.model == model}


@dataclass(frozen=True, slots=True)
class _Job:
    root: Path
    path: Path
    model: str
    suite: str
    key: str = ""
    """Under which its aggregate is kept."""

    @property
    def file(self) -> str:
        return self.path.relative_to(self.root).as_posix()

    @property
    def manifest(self) -> Path:
        return self.path.with_name(self.path.name.removesuffix(".jsonl") + ".manifest.json")


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
    entries = {entry.id: entry for entry in catalogue}
    jobs, notices = _find(root, entries)
    files = tuple(_run(jobs, _Reader(entries, extractor, cache), processes))
    found = [notice for file in files for notice in file.notices]
    return Results(files, tuple(_skipped(root)), (*notices, *found))


def suite_ids(root: Path) -> set[str]:
    """Every suite that there is a results file of, known or not."""
    return {job.suite for job in _jobs(root)}


def _jobs(root: Path) -> Iterator[_Job]:
    for path in sorted((root / "runs").glob("*/**/*.jsonl")):
        model, *rest = path.relative_to(root / "runs").parts
        yield _Job(root, path, model, "/".join(rest).removesuffix(".jsonl"))


def _find(root: Path, entries: Mapping[str, SuiteEntry]) -> tuple[list[_Job], list[Notice]]:
    jobs, notices = [], [*_alone(root)]
    for job in _jobs(root):
        unknown = f"suite {job.suite!r} is unknown" if job.suite not in entries else ""
        unnamed = "its name is not UTF-8" if readable(job.file) != job.file else ""
        if fault := unnamed or unknown or unreadable(job.path):
            notices.append(Notice(file=readable(job.file), message=f"{fault}; not counted"))
        else:
            jobs.append(job)
    return jobs, notices


def _alone(root: Path) -> Iterator[Notice]:
    """Manifests whose results are gone: a run leaves at least an empty file beside its manifest."""
    for path in sorted((root / "runs").glob("*/**/*.manifest.json")):
        lines = path.with_name(path.name.removesuffix(".manifest.json") + ".jsonl")
        if not os.path.lexists(lines):
            message = f"{readable(lines.name)!r} is not beside it: its results are missing"
            yield Notice(file=readable(path.relative_to(root).as_posix()), message=message)


def _run(jobs: Sequence[_Job], reader: _Reader, processes: int) -> Iterator[FileAggregate]:
    keyed = [replace(job, key=_key(job, reader)) for job in jobs]
    reader.cache.hashes.save()
    known = {job.key: reader.cache.get(job.key) for job in keyed}
    fresh = iter(_read_all([job for job in keyed if known[job.key] is None], reader, processes))
    for job in keyed:
        yield known[job.key] or next(fresh)


def _key(job: _Job, reader: _Reader) -> str:
    files = [job, *_seeds_of(job, reader)]
    hashes = [reader.cache.hashes.sha256(path) for one in files for path in (one.path, one.manifest)]
    return cache_key(job.file, *hashes, reader.extractor.fingerprint(job.model))


def _seeds_of(job: _Job, reader: _Reader) -> list[_Job]:
    """The same model's file on the problems that this suite's were evolved from, if there is one."""
    seeds = reader.entries[job.suite].seeds
    if seeds is None or seeds == job.suite:
        return []
    path = job.root / "runs" / job.model / f"{seeds}.jsonl"
    return [replace(job, path=path, suite=seeds)] if seeds in reader.entries and path.exists() else []


def _read_all(jobs: Sequence[_Job], reader: _Reader, processes: int) -> Iterator[FileAggregate]:
    """In order. More than one process where there is enough to read and the system can fork."""
    global _reader  # noqa: PLW0603 (set before forking, so that the workers have it)
    _reader = reader
    enough = sum(job.path.stat().st_size for job in jobs) >= WORTH_A_PROCESS
    if not enough or processes < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(_read, jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
        yield from pool.map(_read, jobs, chunksize=4)


def _read(job: _Job) -> FileAggregate:
    assert _reader is not None
    entry = _reader.entries[job.suite]
    records, notices = _records(job, entry)
    manifest, faults = read_manifest(job.manifest, job.file, job.model, job.suite)
    if manifest:
        said = contradictions(manifest, records, len(records) + len(notices))
        faults = [Notice(file=job.file, message=message) for message in said]
    protocol = current_protocol(records, manifest)
    current = [record for record in records if record.protocol == protocol]
    extracts = _reader.extractor(current, job.model, job.suite, _parents(job, current))
    result = aggregate(
        entry,
        SourceFile(job.model, job.file, _reader.cache.hashes.sha256(job.path)),
        records=records,
        manifest=manifest,
        notices=(*notices, *faults),
    )
    kept = _reader.cache.put(job.key, result, extracts)
    if not gc.isenabled():  # as in a build
        gc.collect()
    return kept


def _records(job: _Job, entry: SuiteEntry) -> tuple[list[UnitRecord], list[Notice]]:
    records: list[UnitRecord] = []
    notices: list[Notice] = []
    for line in read_lines(job.path, entry.record, file=job.file, model=job.model, suite=job.suite):
        if isinstance(line, Notice):
            notices.append(line)
        else:
            records.append(line)
    return records, notices


def _parents(job: _Job, records: Sequence[UnitRecord]) -> dict[str, UnitRecord]:
    """First samples of the parents of these records; faults of their file are its own page's matter."""
    assert _reader is not None
    wanted = {parent for record in records for parent in getattr(record, "parents", ())}
    if not wanted:
        return {}
    found: dict[str, UnitRecord] = {}
    for seeds in _seeds_of(job, _reader):
        hashes = _reader.cache.hashes
        content = hashes.sha256(seeds.path) + hashes.sha256(seeds.manifest)
        found |= _first_samples(replace(seeds, key=content))
    return {task: found[task] for task in wanted if task in found}


@lru_cache(maxsize=2)
def _first_samples(job: _Job) -> dict[str, UnitRecord]:
    """By task; kept for the next file, as a model's evolved sets have the same seeds. `key`: the content."""
    assert _reader is not None
    records, _ = _records(job, _reader.entries[job.suite])
    protocol = current_protocol(records, read_manifest(job.manifest, job.file, job.model, job.suite)[0])
    return {record.task_id: record for record in records if not record.sample and record.protocol == protocol}


def _skipped(root: Path) -> Iterator[Skipped]:
    for path in filter(Path.is_file, sorted((root / "runs").glob("*/skipped.txt"))):
        yield Skipped(readable(path.parent.name), path.read_text(encoding="utf-8", errors="replace").strip())
