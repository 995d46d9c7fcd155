"""Everything under `results/runs/` and `results/recorded/`, aggregated, and kept between builds."""

import gzip
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

import triathlon_runner
import triathlon_site
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.errors import UserError
from triathlon_runner.records import Manifest, RecordedManifest, UnitRecord, Usage
from triathlon_runner.store import VERIFIED, ResultsFolder, how_to_grade_again, read_graded_again
from triathlon_runner.suites import SuiteEntry
from triathlon_site.evidence import INDEX, LINES, PACKED, EvidenceExtractor, outcomes_of
from triathlon_site.load._aggregate import (
    NO_PROTOCOL,
    Extracts,
    FileAggregate,
    columns_of,
    metric_values,
    parents_of,
    repeats,
)
from triathlon_site.load._files import (
    RUNS,
    Notice,
    RunFile,
    archive_command,
    contradictions,
    find_files,
    not_writable,
    read_manifest,
    read_records,
)
from triathlon_site.workers import PROCESSES, run_all

AGGREGATE: Final = "aggregate.pickle"
DIGEST_BYTES: Final = hashlib.sha256().digest_size
"""At the beginning of the file: the hash of what follows."""
KEPT_SECONDS: Final = 30 * 24 * 3600
WORTH_A_PROCESS: Final = 4 << 20
"""Bytes of results below which starting more processes takes longer than reading."""
_HIDDEN: Final = (
    "this line cannot be used; why is not shown, since it may repeat a text and the tasks are private:"
    " `triathlon verify` says it, and what to do"
)


@dataclass(frozen=True)
class AggregateCache:
    """A folder an aggregate, named by a hash of everything that shapes it, with its extracts beside it."""

    folder: Path

    def get(self, key: str) -> FileAggregate | None:
        """The aggregate of this key; None where it is not there, or was not whole and is removed."""
        folder = self.folder / key[:2] / key
        try:
            states = {entry.name: file_state(entry) for entry in os.scandir(folder)}
            content = (folder / AGGREGATE).read_bytes() if AGGREGATE in states else b""
            os.utime(folder)
        except OSError:
            return None
        aggregate: FileAggregate | None = None
        digest, pickled = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        if digest == hashlib.sha256(pickled).digest():  # else unpickling could fail in any way
            aggregate = pickle.loads(pickled)  # noqa: S301 (`put` wrote exactly this)
        if aggregate is None or any(states.get(name) != of for name, of in aggregate.extracts.states.items()):
            shutil.rmtree(folder, ignore_errors=True)  # half of one, or somebody edited a page of the site
            return None
        return aggregate.with_extracts(replace(aggregate.extracts, folder=folder))

    def put(self, key: str, aggregate: FileAggregate, extracts: Mapping[str, str | bytes]) -> None:
        """Stores an aggregate and its extracts at once, so that builds beside this one find all or nothing.

        Raises:
            UserError: the cache cannot be written.
        """
        folder = self.folder / key[:2] / key
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
                draft = Path(temporary, key)
                draft.mkdir()
                for name, content in extracts.items():
                    _write(draft / name, content.encode() if isinstance(content, str) else content)
                states = {name: file_state(draft / name) for name in extracts}
                pickled = pickle.dumps(aggregate.with_extracts(Extracts(states=states)))
                _write(draft / AGGREGATE, hashlib.sha256(pickled).digest() + pickled)
                try:
                    draft.rename(folder)
                except OSError:
                    if not folder.exists():  # else another build was faster
                        raise
        except OSError as error:
            raise not_writable(self.folder, error) from None

    def prune(self) -> None:
        """Removes what no build has used for a month."""
        oldest = time.time() - KEPT_SECONDS
        for path in self.folder.glob("??/*"):
            with suppress(FileNotFoundError):  # the draft of a build beside this one
                if path.stat().st_mtime < oldest:
                    shutil.rmtree(path, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    """Writes a file that nobody edits by mistake: a page of evidence is a file of the site, too."""
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o444)) as file:
        file.write(content)


def file_state(path: Path | os.DirEntry[str]) -> str:
    """Size and time of the last change; empty where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


@cache
def code_fingerprint() -> str:
    """Hash of both packages' files, tables and prompts too: after any change, everything is read again."""
    digest = hashlib.sha256()
    for package in (triathlon_runner, triathlon_site):
        for path in sorted(Path(package.__path__[0]).rglob("*")):
            if path.suffix != ".pyc" and path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Results:
    """All that `results/runs/` and `results/recorded/` say."""

    files: tuple[FileAggregate, ...]
    notices: tuple[Notice, ...]
    beside: tuple[FileAggregate, ...] = ()
    """Recordings of what was measured here, too: shown beside the measurement, and not counted."""

    @cached_property
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


def read_results(
    root: Path, catalogue: Sequence[SuiteEntry], cache: AggregateCache, extractor: EvidenceExtractor
) -> Results:
    """Reads what changed since the last build, takes the rest from the cache.

    Raises:
        UserError: the cache cannot be written, or was changed during the build.
    """
    entries = {entry.id: entry for entry in catalogue}
    files, beside, notices = find_files(root, entries)
    reader = _Reader(entries, extractor, cache, frozenset(files))
    keys = {file: reader.key(file) for file in (*files, *beside)}
    aggregates = {file: aggregate for file, key in keys.items() if (aggregate := cache.get(key))}
    missing = [file for file in keys if file not in aggregates]
    together: dict[tuple[str, str], list[RunFile]] = {}
    for file in missing:  # the seeds of a suite are of its own discipline
        together.setdefault((file.model, file.suite.partition("/")[0]), []).append(file)
    jobs = [partial(reader.read_together, some, keys) for some in together.values()]
    size = sum(file.path.stat().st_size for file in missing)
    run_all(jobs, PROCESSES if size >= WORTH_A_PROCESS else 1)
    for file in missing:
        aggregate = cache.get(keys[file])
        if aggregate is None:
            raise UserError(f"the cache {str(cache.folder)!r} was changed during the build; build again")
        aggregates[file] = aggregate
    marked, statement_notices = _marked(root, [aggregates[file] for file in files], entries)
    notices += [*statement_notices, *(notice for file in marked for notice in file.notices)]
    recordings = tuple(aggregates[file] for file in beside)
    return Results(tuple(marked), tuple(notices), recordings)


class _Content(NamedTuple):
    """What one file of results says, and what is wrong with its lines and its manifest."""

    counted: list[UnitRecord]
    """The records of its protocol: the manifest's; without a manifest, that of the last line."""
    manifest: Manifest | None
    of_lines: list[Notice]
    of_manifest: list[Notice]


@dataclass(frozen=True)
class _Reader:
    """What files are read with."""

    entries: Mapping[str, SuiteEntry]
    extractor: EvidenceExtractor
    cache: AggregateCache
    files: frozenset[RunFile]
    """Those that count."""

    def key(self, file: RunFile) -> str:
        """Hash of everything that shapes the aggregate: code, the file, its manifest, those of its seeds."""
        sources = (file, *self._seeds_of(file))
        parts = (
            code_fingerprint(),
            *(sys.version, np.__version__),
            str(file.root.resolve()),
            file.name,
            *(file_state(path) for source in sources for path in (source.path, source.manifest)),
            str(self.entries[file.suite].private),
            self.extractor.fingerprint(),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def read_together(self, files: Sequence[RunFile], keys: Mapping[RunFile, str]) -> None:
        """Reads files of one model into the cache; those of its seeds, which serve several others, once."""
        seeds_of = {file: tuple(self._seeds_of(file)) for file in files}
        contents = {seeds: self._content(seeds) for seeds in set().union(*seeds_of.values())}
        seeds = {
            of_files: {
                record.task_id: record
                for of_file in reversed(of_files)
                for record in contents[of_file].counted
                if not record.sample
            }
            for of_files in set(seeds_of.values())
        }
        for file in files:
            content = contents.get(file) or self._content(file)
            self.cache.put(keys[file], *self._aggregate(file, content, seeds[seeds_of[file]]))

    def _aggregate(
        self, file: RunFile, content: _Content, seeds: Mapping[str, UnitRecord]
    ) -> tuple[FileAggregate, Mapping[str, str | bytes]]:
        """The aggregate and the extracts; `seeds` has the model's first sample of each seed."""
        entry = self.entries[file.suite]
        records, manifest, of_lines, of_manifest = content
        named = {parent for record in records for parent in parents_of(record)} if seeds else set()
        parents = {name: record for name, record in seeds.items() if name in named}
        private = _is_private(entry, manifest)
        if private:
            of_lines = [notice.model_copy(update={"message": _HIDDEN}) for notice in of_lines]
        if private and manifest:  # reasons may repeat a server's words, and so a task
            count = sum(manifest.open_reasons.values())
            reasons = {"not shown: the tasks are private": count} if count else {}
            manifest = manifest.model_copy(update={"open_reasons": reasons})
        evidence = self.extractor(records, file.model, file.suite, parents, private=private)
        extracts: dict[str, str | bytes] = {**evidence.files}
        lines = file.path.read_bytes()
        if INDEX in extracts:
            extracts[LINES] = gzip.compress(lines, PACKED, mtime=0)
        values, clusters = metric_values(entry.metrics, records)
        aggregate = FileAggregate(
            model=file.model,
            suite=entry.id,
            file=file.name,
            sha256=hashlib.sha256(lines).hexdigest(),
            protocol=manifest.protocol if manifest else records[-1].protocol if records else NO_PROTOCOL,
            manifest=manifest,
            columns=columns_of(records, values),
            usage=_usage_of(records, manifest),
            seconds=float(np.sum([record.seconds for record in records])),
            metrics=clusters,
            repeats=repeats(entry.metrics, records),
            notices=(*of_lines, *of_manifest),
            attempts=evidence.attempts,
            summary=evidence.summary,
        )
        return aggregate, extracts

    def _content(self, file: RunFile) -> _Content:
        records: Sequence[UnitRecord]
        manifest: Manifest | None
        of_lines: list[Notice] = []
        of_manifest: list[Notice] = []
        if file.recorded is None:
            records, of_lines = read_records(file, self.entries[file.suite].record)
            manifest, of_manifest = read_manifest(file)
        else:
            try:
                records, manifest = file.recorded.read_lines(), file.recorded.read_manifest()
            except UserError as error:
                return _Content(
                    [], None, [Notice(file=file.name, message=f"{error}; none of its lines counts")], []
                )
        if manifest:
            units = sum(len(outcomes_of(record)) for record in records)
            messages = contradictions(manifest, records, units + len(of_lines))
            of_manifest = [Notice(file=file.name, message=message) for message in messages]
        protocol = manifest.protocol if manifest else records[-1].protocol if records else NO_PROTOCOL
        wanted = protocol.asked, protocol.graded  # comparing tuples is faster than comparing objects
        counted = [one for one in records if (one.protocol.asked, one.protocol.graded) == wanted]
        if excluded := len(records) - len(counted):
            message = (
                f"{excluded} lines were made under another protocol than '{protocol}' and are not counted"
            )
            of_manifest.append(Notice(file=file.name, message=message))
        return _Content(counted, manifest, of_lines, of_manifest)

    def _seeds_of(self, file: RunFile) -> list[RunFile]:
        """The same model's files on the problems that this suite's were evolved from, its seeds first."""
        entry = self.entries[file.suite]
        if entry.seeds == file.suite or file.source:  # nothing that was written is shown of outcomes alone
            return []
        files = (replace(file, suite=suite) for suite in entry.seed_suites if suite != file.suite)
        return [seeds for seeds in files if seeds in self.files]


def _usage_of(records: Sequence[UnitRecord], manifest: Manifest | None) -> Usage:
    """The usage of all units together; of outcomes without texts the manifest says it."""
    if isinstance(manifest, RecordedManifest):
        return manifest.usage
    sums = {name: sum(getattr(one.usage, name) for one in records) for name in Usage.model_fields}
    return Usage.of_sums(sums)


def read_units(root: Path, file: FileAggregate, entry: SuiteEntry) -> Sequence[UnitRecord]:
    """Reads the lines that an aggregate was made from again, as records; lines with faults are left out.

    Raises:
        UserError: recorded lines were damaged since the aggregate was made.
    """
    lines = RunFile(root, file.model, file.suite, file.kept.source if file.kept else "")
    return lines.recorded.read() if lines.recorded else read_records(lines, entry.record)[0]


def _is_private(entry: SuiteEntry, manifest: Manifest | None) -> bool:
    """Whether the tasks are private: as suites.yaml says; of a data set that it no longer lists, as the
    manifest says. Without a manifest, every task that does not come with this program counts as private.
    """
    if entry.user_data:
        return entry.private
    if manifest is None:
        return entry.id.partition("@")[0] not in {built_in.id for built_in in BUILT_IN.entries()}
    return manifest.private


def _marked(
    root: Path, files: Sequence[FileAggregate], entries: Mapping[str, SuiteEntry]
) -> tuple[list[FileAggregate], list[Notice]]:
    """The files, marked where a statement names their present SHA-256, or where suites.yaml names other
    problems than theirs, and what is wrong with statements.
    """
    named = {data for entry in entries.values() if (data := entry.user_data)}
    present = {data: data.sha256 for data in named}  # once each: a file of problems has many results
    statements = {}
    notices: list[Notice] = []
    for model in sorted({file.model for file in files if file.file.startswith(f"{RUNS}/")}):
        try:
            statements[model] = read_graded_again(ResultsFolder(root), model)
        except UserError as error:
            place = f"{RUNS}/{model}/{VERIFIED}"
            notices.append(Notice(file=place, message=f"{error}; until then nothing of it is marked"))
    marked = []
    for read in files:
        file = read
        data = entries[file.suite].user_data
        if data and file.manifest and present[data] not in ("", file.manifest.data.sha256):
            message = (
                "suites.yaml names other problems than these now, so it ranks behind results on them;"
                f" {archive_command(file.model, file.suite)} puts it aside: then a run asks anew, or its log"
                " is imported again"
            )
            notice = () if file.kept else (Notice(file=file.file, message=message),)
            file = replace(file, outdated=True, notices=(*file.notices, *notice))
        statement = statements.get(file.model) if file.file.startswith(f"{RUNS}/") else None
        graded = statement.sha256.get(file.suite) if statement else None
        if statement and graded == file.sha256:
            file = replace(file, judged_again=statement.engine_version)
        elif graded is not None:
            message = (
                f"changed since it was graded again: expected SHA-256 {graded!r} ({VERIFIED}), got"
                f" {file.sha256!r}; it is not marked as graded again; {how_to_grade_again(file.model)}"
            )
            file = replace(file, notices=(*file.notices, Notice(file=file.file, message=message)))
        marked.append(file)
    return marked, notices
