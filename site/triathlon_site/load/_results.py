"""Everything under `results/runs/` and `results/recorded/`, aggregated."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final, Protocol

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.errors import UserError
from triathlon_runner.records import Manifest, UnitRecord
from triathlon_runner.store import RUN_AGAIN, RecordedFile
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load._aggregate import (
    FileAggregate,
    current_protocol,
    parents_of,
    parts,
    repeats,
    unit_frame,
)
from triathlon_site.load._cache import AggregateCache, cache_key, file_state
from triathlon_site.load._files import RUNS, RunFile, find_files
from triathlon_site.load._judged import mark_judged_again
from triathlon_site.load._notice import Notice, readable
from triathlon_site.load._read_file import contradictions, read_lines, read_manifest
from triathlon_site.workers import run_all

WORTH_A_PROCESS: Final = 4 << 20
"""Bytes of results below which starting more processes takes longer than reading."""
PROCESSES: Final = 2
_HIDDEN: Final = (
    "this line cannot be used; why is not shown, since it may repeat a text and the tasks are private:"
    f" `triathlon verify` says it; {RUN_AGAIN}"
)


@dataclass(frozen=True)
class Skipped:
    """A model that could not run where the results were made, and why."""

    model: str
    reason: str


@dataclass(frozen=True, eq=False)
class Results:
    """All that `results/runs/` and `results/recorded/` say."""

    files: tuple[FileAggregate, ...]
    skipped: tuple[Skipped, ...]
    notices: tuple[Notice, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Their ids, in order."""
        return tuple(sorted({file.model for file in self.files}))

    def of_suite(self, suite: str) -> dict[str, FileAggregate]:
        """By model."""
        return {file.model: file for file in self.files if file.suite == suite}

    def of_models(self, models: Sequence[str]) -> dict[str, list[FileAggregate]]:
        """By model, in the order of the suites."""
        by_model: dict[str, list[FileAggregate]] = {model: [] for model in models}
        for file in self.files:
            if file.model in by_model:
                by_model[file.model].append(file)
        return by_model


class Extractor(Protocol):
    """Makes texts from the records of one file, so that pages need not read them again."""

    def __call__(
        self,
        records: Sequence[UnitRecord],
        model: str,
        suite: str,
        parents: Mapping[str, UnitRecord],
        *,
        private: bool = False,
    ) -> Mapping[str, str]:
        """Texts by the names of the files that keep them; none of the tasks and replies where `private`.

        `parents`: by task_id, what the model did with the problems that these were evolved from.
        """
        ...

    def fingerprint(self, model: str) -> str:
        """Of everything that shapes the texts of a model beside the records."""
        ...


def read_results(
    root: Path, catalogue: Sequence[SuiteEntry], cache: AggregateCache, extractor: Extractor
) -> Results:
    """Reads what changed since the last build, takes the rest from the cache."""
    reader = _Reader({entry.id: entry for entry in catalogue}, extractor, cache)
    files, notices = find_files(root, reader.entries)
    keys = {file: reader.key(file) for file in files}
    cached = {file: cache.get(key) for file, key in keys.items()}
    changed = [file for file, aggregate in cached.items() if aggregate is None]
    by_model = groupby(sorted(changed, key=attrgetter("model")), attrgetter("model"))
    jobs = [partial(reader.read_model, list(of_model), keys) for _, of_model in by_model]
    changed_bytes = sum(file.path.stat().st_size for file in changed)
    run_all(jobs, PROCESSES if changed_bytes >= WORTH_A_PROCESS else 1)
    read = [cached[file] or cache.read(keys[file]) for file in files]
    aggregates, statement_notices = mark_judged_again(root, read)
    file_notices = [notice for file in aggregates for notice in file.notices]
    return Results(aggregates, tuple(_skipped(root)), (*notices, *statement_notices, *file_notices))


@dataclass(frozen=True)
class _Reader:
    """What files are read with."""

    entries: Mapping[str, SuiteEntry]
    extractor: Extractor
    cache: AggregateCache

    def key(self, file: RunFile) -> str:
        """Of everything that shapes the aggregate: the file, its manifest, and those of its seeds."""
        sources = filter(None, (file, self._seeds_of(file)))
        states = [file_state(path) for source in sources for path in (source.path, source.manifest)]
        root = str(file.root.resolve())
        private = str(self.entries[file.suite].private)
        return cache_key(root, file.name, *states, private, self.extractor.fingerprint(file.model))

    def read_model(self, files: Sequence[RunFile], keys: Mapping[RunFile, str]) -> None:
        """Reads files of one model into the cache; what is read of their seeds serves all of them."""
        seeds: dict[RunFile, dict[str, UnitRecord]] = {}
        for file in files:
            seeds_file = self._seeds_of(file)
            if seeds_file and seeds_file not in seeds:
                seeds[seeds_file] = self._first_samples(seeds_file)
            self._read(file, keys[file], seeds[seeds_file] if seeds_file else {})

    def _read(self, file: RunFile, key: str, seeds: Mapping[str, UnitRecord]) -> None:
        entry = self.entries[file.suite]
        records, notices, manifest, faults = self._content(file)
        if manifest:
            messages = contradictions(manifest, records, len(records) + len(notices))
            faults = [Notice(file=file.name, message=message) for message in messages]
        protocol = current_protocol(records, manifest)
        current = [record for record in records if record.protocol == protocol]
        parent_ids = {parent for record in current for parent in parents_of(record)} if seeds else set()
        parents = {task: record for task, record in seeds.items() if task in parent_ids}
        private = _is_private(entry, manifest)
        if private:
            notices = [notice.model_copy(update={"message": _HIDDEN}) for notice in notices]
            manifest = manifest and _without_reasons(manifest)
        extracts = self.extractor(current, file.model, file.suite, parents, private=private)
        with file.path.open("rb") as lines:
            sha256 = hashlib.file_digest(lines, "sha256").hexdigest()
        if excluded := len(records) - len(current):
            message = (
                f"{excluded} lines were made under another protocol than {protocol!r} and are not counted"
            )
            faults.append(Notice(file=file.name, message=message))
        result = FileAggregate(
            model=file.model,
            suite=entry.id,
            file=file.name,
            sha256=sha256,
            protocol=protocol,
            manifest=manifest,
            frame=unit_frame(entry.metrics, current),
            other_protocols=excluded,
            metrics={metric.id: parts(metric, current) for metric in entry.metrics},
            repeats=repeats(entry.metrics, current),
            notices=(*notices, *faults),
        )
        self.cache.put(key, result, extracts)

    def _content(self, file: RunFile) -> tuple[list[UnitRecord], list[Notice], Manifest | None, list[Notice]]:
        """The records, what is wrong with lines, the manifest, and what is wrong with that."""
        if file.recorded is not None:
            try:
                return list(file.recorded.read()), [], file.recorded.read_manifest(), []
            except UserError as error:
                return [], [Notice(file=file.name, message=f"{error}; none of its lines counts")], None, []
        records: list[UnitRecord] = []
        notices: list[Notice] = []
        schema = self.entries[file.suite].record
        for line in read_lines(file.path, schema, file=file.name, model=file.model, suite=file.suite):
            if isinstance(line, Notice):
                notices.append(line)
            else:
                records.append(line)
        return records, notices, *read_manifest(file.manifest, file.name, file.model, file.suite)

    def _seeds_of(self, file: RunFile) -> RunFile | None:
        """The same model's file on the problems that this suite's were evolved from; None without one."""
        seeds = self.entries[file.suite].seeds
        if seeds is None or seeds == file.suite or seeds not in self.entries:
            return None
        seeds_file = replace(file, suite=seeds)
        return seeds_file if seeds_file.path.exists() else None

    def _first_samples(self, file: RunFile) -> dict[str, UnitRecord]:
        """The first sample's record by task; the notices of this file stand with the file itself."""
        records, _, manifest, _ = self._content(file)
        protocol = current_protocol(records, manifest)
        return {
            record.task_id: record for record in records if not record.sample and record.protocol == protocol
        }


def read_units(root: Path, file: FileAggregate, entry: SuiteEntry) -> Iterator[UnitRecord]:
    """Reads the lines that an aggregate was made from again, as records; lines with faults are left out.

    Args:
        root: the results folder.
        file: the aggregate.
        entry: its suite's.

    Raises:
        UserError: recorded lines were damaged since the aggregate was made.
    """
    if file.receipt is not None:
        yield from RecordedFile(root, file.receipt.source, file.model, file.suite).read()
        return
    for line in read_lines(
        root / file.file, entry.record, file=file.file, model=file.model, suite=file.suite
    ):
        if not isinstance(line, Notice):
            yield line


def _is_private(entry: SuiteEntry, manifest: Manifest | None) -> bool:
    """Whether the tasks are private: as suites.yaml says; of a data set that it no longer lists, as the
    manifest says. Without a manifest, every task that does not come with this program counts as private.
    """
    if entry.user_data:
        return entry.private
    if manifest is None:
        return entry.id.partition("@")[0] not in {built_in.id for built_in in BUILT_IN.entries()}
    return manifest.private


def _without_reasons(manifest: Manifest) -> Manifest:
    """The manifest without the reasons of open units: they may repeat a server's words, and so a task."""
    count = sum(manifest.open_reasons.values())
    hidden = {"not shown: the tasks are private": count} if count else {}
    return manifest.model_copy(update={"open_reasons": hidden})


def _skipped(root: Path) -> Iterator[Skipped]:
    for path in filter(Path.is_file, sorted((root / RUNS).glob("*/skipped.txt"))):
        yield Skipped(readable(path.parent.name), path.read_text(encoding="utf-8", errors="replace").strip())
