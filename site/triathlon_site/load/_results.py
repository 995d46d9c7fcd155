"""Everything under `results/runs/`, aggregated."""

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.records import UnitRecord
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load._aggregate import FileAggregate, Notice, aggregate, read_manifest
from triathlon_site.load._cache import AggregateCache, cache_key, file_sha256
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

    @property
    def file(self) -> str:
        return self.path.relative_to(self.root).as_posix()

    @property
    def manifest(self) -> Path:
        return self.path.with_name(self.path.name.removesuffix(".jsonl") + ".manifest.json")


_entries: Mapping[str, SuiteEntry] = {}
"""What forked workers read with: a suite's metrics are functions, which do not travel between processes."""


def read_results(
    root: Path, catalogue: Sequence[SuiteEntry], cache: AggregateCache, *, processes: int = 2
) -> Results:
    """Reads what changed since the last build, takes the rest from the cache."""
    entries = {entry.id: entry for entry in catalogue}
    jobs, notices = _find(root, entries)
    files = tuple(_run(jobs, entries, cache, processes))
    found = [notice for file in files for notice in file.notices]
    return Results(files, tuple(_skipped(root)), (*notices, *found))


def _find(root: Path, entries: Mapping[str, SuiteEntry]) -> tuple[list[_Job], list[Notice]]:
    jobs, notices = [], []
    for path in sorted((root / "runs").glob("*/**/*.jsonl")):
        model, *rest = path.relative_to(root / "runs").parts
        job = _Job(root, path, model, "/".join(rest).removesuffix(".jsonl"))
        if job.suite in entries:
            jobs.append(job)
        else:
            notices.append(Notice(file=job.file, message=f"suite {job.suite!r} is unknown; not counted"))
    return jobs, notices


def _run(
    jobs: Sequence[_Job], entries: Mapping[str, SuiteEntry], cache: AggregateCache, processes: int
) -> Iterator[FileAggregate]:
    global _entries  # noqa: PLW0603 (set before forking, so that the workers have it)
    _entries = entries
    keys = [cache_key(str(job.file), file_sha256(job.path), file_sha256(job.manifest)) for job in jobs]
    known = [cache.get(key) for key in keys]
    missing = [job for job, value in zip(jobs, known, strict=True) if value is None]
    fresh = _read_all(missing, processes)
    for key, value in zip(keys, known, strict=True):
        if value is None:
            value = next(fresh)  # noqa: PLW2901 (the cached one is not there)
            cache.put(key, value)
        yield value


def _read_all(jobs: Sequence[_Job], processes: int) -> Iterator[FileAggregate]:
    """In order. More than one process where there is enough to read and the system can fork."""
    enough = sum(job.path.stat().st_size for job in jobs) >= WORTH_A_PROCESS
    if not enough or processes < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(_read, jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
        yield from pool.map(_read, jobs)


def _read(job: _Job) -> FileAggregate:
    entry = _entries[job.suite]
    records: list[UnitRecord] = []
    notices: list[Notice] = []
    for line in read_lines(job.path, entry.record, file=job.file, model=job.model, suite=job.suite):
        if isinstance(line, Notice):
            notices.append(line)
        else:
            records.append(line)
    manifest, faults = read_manifest(job.manifest, job.file)
    result, _ = aggregate(
        entry,
        model=job.model,
        file=job.file,
        sha256=file_sha256(job.path),
        records=records,
        manifest=manifest,
        notices=(*notices, *faults),
    )
    return result


def _skipped(root: Path) -> Iterator[Skipped]:
    for path in sorted((root / "runs").glob("*/skipped.txt")):
        yield Skipped(path.parent.name, path.read_text(encoding="utf-8", errors="replace").strip())
