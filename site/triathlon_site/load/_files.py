"""Which results files there are, and what is wrong with each; lines and manifests with a notice a fault."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import LINK, why_not_plain
from triathlon_runner.records import MEASURED_HERE, RECORDED, Manifest, Strict, UnitRecord
from triathlon_runner.store import (
    MAKE_MISSING,
    RUN_AGAIN,
    RecordedFile,
    ResultsFolder,
    manifest_or_fault,
    read_undamaged_records,
    recorded_files,
)
from triathlon_runner.suites import SuiteEntry

RUNS: Final = "runs"
LINES: Final = ".jsonl"
MANIFEST: Final = ".manifest.json"
_MEASURED: Final = ("", MEASURED_HERE)
"""`RunFile.source` of what this program measured, with texts and without."""


class Notice(Strict):
    """A fault in the results: what it is, and what became of it."""

    file: str
    """Relative to the results folder."""
    line: int | None = None
    message: str

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f', line {self.line}'}: {self.message}"


@dataclass(frozen=True)
class RunFile:
    """One model on one suite."""

    root: Path
    """The results folder."""
    model: str
    suite: str
    source: str = ""
    """Of outcomes that are kept without texts; empty for whole results."""

    @property
    def recorded(self) -> RecordedFile | None:
        """The file as one of outcomes without texts; None for whole results."""
        return RecordedFile(self.root, self.source, self.model, self.suite) if self.source else None

    @cached_property
    def path(self) -> Path:
        """The file of the lines."""
        recorded = self.recorded
        return recorded.lines if recorded else ResultsFolder(self.root).lines(self.model, self.suite)

    @cached_property
    def manifest(self) -> Path:
        """The file of the manifest beside them."""
        return self.path.with_name(self.path.name.removesuffix(LINES) + MANIFEST)

    @cached_property
    def name(self) -> str:
        """Relative to the results folder."""
        return self.path.relative_to(self.root).as_posix()


def suite_ids(root: Path) -> set[str]:
    """Every suite with a results file, whether the catalogue lists it or not."""
    return {file.suite for file in _run_files(root)}


def find_files(
    root: Path, entries: Mapping[str, SuiteEntry]
) -> tuple[list[RunFile], list[RunFile], list[Notice]]:
    """The files that count; recordings of what was measured here, too; a notice for each other file.

    Of each model and suite the first file counts that is not empty, as a run leaves one that was stopped at
    once. No link is followed: it could lead to any file here.
    """
    beside: list[RunFile] = []
    counted: dict[tuple[str, str], RunFile] = {}
    files = list(_run_files(root))
    links = [path for folder in (RUNS, RECORDED) for path in (root / folder).rglob("*") if path.is_symlink()]
    notices = [
        Notice(
            file=readable(path.relative_to(root).as_posix()),
            message="a link, which is not followed; not counted",
        )
        for path in sorted(links)
    ]
    notices += _manifests_without_results(root, files)
    for file in files:
        fault = _fault(file, entries)
        if fault is None:
            continue  # named above
        first = counted.get((file.model, file.suite))
        if first and not fault and first.path.stat().st_size:
            if first.source in _MEASURED and file.source not in _MEASURED:
                beside.append(file)
                continue
            fault = f"{readable(first.name)!r} has results of this model and suite"
        if fault:
            notices.append(Notice(file=readable(file.name), message=f"{fault}; not counted"))
        else:
            counted[file.model, file.suite] = file
    return list(counted.values()), beside, notices


def _fault(file: RunFile, entries: Mapping[str, SuiteEntry]) -> str | None:
    """Why a file does not count, in words; empty where it does, None for a link."""
    fault = unreadable(file.path, file.root)
    if fault.startswith(f"expected a plain file, got {LINK}"):
        return None
    if readable(file.name) != file.name:
        return "its name is not UTF-8"
    if file.suite not in entries:
        return f"suite {file.suite!r} is unknown: no suites.yaml beside models.yaml lists its data set"
    return fault


def _run_files(root: Path) -> Iterator[RunFile]:
    """All that there are, the measured ones first."""
    for model, suite in _with_suffix(root, LINES):
        yield RunFile(root, model, suite)
    for file in sorted(recorded_files(root), key=lambda file: file.source not in _MEASURED):
        yield RunFile(root, file.model, file.suite, file.source)


def _with_suffix(root: Path, suffix: str) -> Iterator[tuple[str, str]]:
    """Model and suite of each path in the models' folders with this suffix, in order."""
    for path in sorted((root / RUNS).glob(f"*/**/*{suffix}")):
        model, *suite = path.relative_to(root / RUNS).parts
        yield model, "/".join(suite).removesuffix(suffix)


def _manifests_without_results(root: Path, files: Sequence[RunFile]) -> Iterator[Notice]:
    """Manifests whose results are gone: a run leaves at least an empty file beside its manifest."""
    measured = {(file.model, file.suite) for file in files if not file.source}
    for model, suite in _with_suffix(root, MANIFEST):
        if (model, suite) not in measured:
            lines = readable(f"{suite.rpartition('/')[2]}{LINES}")
            message = f"{lines!r} is not beside it: its results are missing"
            yield Notice(file=readable(f"{RUNS}/{model}/{suite}{MANIFEST}"), message=message)


def readable(name: str) -> str:
    """A file's name as UTF-8: bytes that are none become question marks in a square."""
    return os.fsencode(name).decode("utf-8", errors="replace")


def unreadable(path: Path, root: Path) -> str:
    """Why this is no file to read, such as a pipe that would be waited for; empty where it is one."""
    if why := why_not_plain(path, root):
        return f"expected a plain file, got {why}"
    if not path.is_file():
        return "is no plain file"
    return "" if os.access(path, os.R_OK) else "cannot be read (Permission denied)"


def not_writable(cache: Path, error: OSError) -> UserError:
    """The error that says so, and what to do."""
    place = f"{str(cache)!r} ({error.strerror or error})"
    return UserError(f"cannot write to the cache {place}; make room, or name another in TRIATHLON_CACHE")


def read_records(file: RunFile, record: type[UnitRecord]) -> tuple[list[UnitRecord], list[Notice]]:
    """The records that count, and a notice for each line that does not."""

    def fault_of(record: UnitRecord) -> str:
        if record.model != file.model:
            return (
                f"a line of model {record.model!r} in the folder of {file.model!r}, where it does not count:"
                " move it back. Results keep the id that they were made under; the `name` of a model's row is"
                " what pages show"
            )
        if record.suite != file.suite:
            return f"a line of suite {record.suite!r} in the file of {file.suite!r}"
        rest = "`triathlon verify` shows what the rest of the line says"
        fault = record.fault()
        return fault and f"{fault}; it does not count; {RUN_AGAIN}; {rest}"

    records, faults = read_undamaged_records(file.path, record, fault_of)
    content = file.path.read_bytes()
    if content and not content.endswith(b"\n"):
        faults[content.count(b"\n") + 1] = (
            "the line was cut before its end; the next run makes its unit again"
        )
    return records, [Notice(file=file.name, line=line, message=fault) for line, fault in faults.items()]


def read_manifest(file: RunFile) -> tuple[Manifest | None, list[Notice]]:
    """The manifest, or a notice of what is wrong with it."""
    found = manifest_or_fault(file.manifest, file.model, file.suite)
    if isinstance(found, Manifest):
        return found, []
    unknown = "lines without a fault count, under conditions that are unknown"
    archive = f"{archive_command(file.model, file.suite)} puts them aside"
    if found is None:
        message = f"no manifest beside it: {unknown}; `triathlon run` writes a new one, {archive}"
    else:
        message = f"its manifest cannot be used: {found}; {unknown}: fix the manifest, or {archive}"
    return None, [Notice(file=file.name, message=message)]


def archive_command(model: str, suite: str) -> str:
    """The command that puts results aside, for notices, which name no folder of this machine."""
    return ResultsFolder(Path("results")).archive_command(model, suite)


def contradictions(manifest: Manifest, records: Sequence[UnitRecord], lines: int) -> Iterator[str]:
    """What the manifest says and the lines do not bear out, in words."""
    counted = sum(manifest.outcomes.values())
    if counted > lines:
        missing = f"lines in the file: {lines}; some were lost; {MAKE_MISSING}"
        yield f"its manifest counts {counted} units, {missing}"
    tasks = len({record.task_id for record in records})
    if tasks > manifest.tasks_in_suite:
        yield f"{tasks} tasks, but its manifest says that the suite has {manifest.tasks_in_suite}"
    if records and (engine := graded_otherwise(manifest.engine_versions)):
        yield engine
