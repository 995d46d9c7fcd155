"""Which results files there are, and what is wrong with each; lines and manifests with a notice a fault."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.records import Manifest, Strict, UnitRecord
from triathlon_runner.store import (
    MAKE_MISSING,
    RUN_AGAIN,
    RecordedFile,
    ResultsFolder,
    archived,
    fault_of_line,
    fault_of_manifest,
    fault_of_record,
    fault_of_second,
    recorded_files,
)
from triathlon_runner.suites import SuiteEntry

RUNS: Final = "runs"
LINES: Final = ".jsonl"
MANIFEST: Final = ".manifest.json"


class Notice(Strict):
    """A fault in the results: what it is, and what became of it."""

    file: str
    """Relative to the results folder."""
    line: int | None = None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.message}"

    def below(self, results: Path) -> str:
        """With the path of the file, for whoever is to mend it."""
        return str(self.model_copy(update={"file": str(results / self.file)}))


@dataclass(frozen=True)
class RunFile:
    """One model on one suite."""

    root: Path
    """The results folder."""
    model: str
    suite: str
    source: str = ""
    """Of recorded results; empty for what was measured."""

    @property
    def recorded(self) -> RecordedFile | None:
        """The file as one of recorded results; None for what was measured."""
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


def find_files(root: Path, entries: Mapping[str, SuiteEntry]) -> tuple[list[RunFile], list[Notice]]:
    """The files that count, in order, and a notice for each of the others."""
    counted: dict[tuple[str, str], RunFile] = {}
    files = list(_run_files(root))
    notices = list(_manifests_without_results(root, files))
    for file in files:
        if fault := _fault(file, entries, counted.get((file.model, file.suite))):
            notices.append(Notice(file=readable(file.name), message=f"{fault}; not counted"))
        else:
            counted[file.model, file.suite] = file
    return list(counted.values()), notices


def _fault(file: RunFile, entries: Mapping[str, SuiteEntry], counted: RunFile | None) -> str:
    """Why a file does not count, in words; empty where it does.

    `counted`: a file of the same model and suite that counts already.
    """
    if readable(file.name) != file.name:
        return "its name is not UTF-8"
    if file.suite not in entries:
        return f"suite {file.suite!r} is unknown: no suites.yaml beside models.yaml lists its data set"
    if counted is not None:
        return f"{readable(counted.name)!r} has results of this model and suite"
    return _unreadable(file.path)


def _run_files(root: Path) -> Iterator[RunFile]:
    """All that there are, the measured ones first."""
    for model, suite in _with_suffix(root, LINES):
        yield RunFile(root, model, suite)
    for file in recorded_files(root):
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
            yield Notice(
                file=readable(f"{RUNS}/{model}/{suite}{MANIFEST}"),
                message=f"{lines!r} is not beside it: its results are missing",
            )


def readable(name: str) -> str:
    """A file's name as UTF-8: bytes that are none become question marks in a square."""
    return os.fsencode(name).decode("utf-8", errors="replace")


def _unreadable(path: Path) -> str:
    """Why this is no file to read, in words; empty where it is one. A pipe would be waited for for ever."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if not stat.S_ISREG(mode):
        return "is no plain file"
    return "" if os.access(path, os.R_OK) else "cannot be read (Permission denied)"


def read_lines(
    path: Path, record: type[UnitRecord], *, file: str, model: str, suite: str
) -> Iterator[UnitRecord | Notice]:
    """Every line as a record, or as a notice of why it is none. Reads one line at a time."""
    seen: dict[tuple[str, int, str], int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            parsed = _parse(line, record, model, suite)
            if not isinstance(parsed, str):
                unit = (parsed.task_id, parsed.sample, parsed.protocol)
                first = seen.setdefault(unit, number)
                if first == number:
                    yield parsed
                    continue
                parsed = f"{fault_of_second(unit[:2], first)}; not counted"
            yield Notice(file=file, line=number, message=parsed)


def _parse(line: bytes, record: type[UnitRecord], model: str, suite: str) -> UnitRecord | str:
    if not line.endswith(b"\n"):
        return "the line was cut before its end; the next run makes its unit again"
    try:
        parsed = record.model_validate_json(line)
    except ValidationError as error:
        return fault_of_line(line, error)
    if parsed.model != model:
        return f"a line of model {parsed.model!r} in the folder of {model!r}"
    if parsed.suite != suite:
        return f"a line of suite {parsed.suite!r} in the file of {suite!r}"
    fault = fault_of_record(parsed)
    if not fault:
        return parsed
    return f"{fault}; it does not count; {RUN_AGAIN}; `triathlon verify` shows what the rest of the line says"


def read_manifest(path: Path, file: str, model: str, suite: str) -> tuple[Manifest | None, list[Notice]]:
    """The manifest, or a notice of what is wrong with it.

    Args:
        path: of the manifest.
        file: the results file that it belongs to, relative to the results folder.
        model: whose results these are.
        suite: on what.
    """
    archive = f"`triathlon results archive --models {model} --suites {suite}`"
    if not path.exists():
        message = (
            "no manifest beside it: its lines count, under conditions that are unknown; `triathlon run`"
            f" writes a new one, {archive} puts the lines aside"
        )
        return None, [Notice(file=file, message=message)]
    fault = _unreadable(path)
    if not fault:
        try:
            manifest = Manifest.model_validate_json(path.read_bytes())
        except ValidationError as error:
            first = error.errors()[0]
            fault = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        else:
            fault = fault_of_manifest(manifest, model, suite)
            if not fault:
                return manifest, []
    message = (
        f"its manifest cannot be used: {fault}; its lines count, under conditions that are unknown: mend the"
        f" manifest, or put both aside with {archive}"
    )
    return None, [Notice(file=file, message=message)]


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


@dataclass(frozen=True, slots=True)
class Archived:
    """One results file in `archive/`."""

    model: str
    suite: str
    file: str
    """Relative to the results folder."""
    manifest: Manifest | None


def read_archived(root: Path) -> Iterator[Archived]:
    """What was put aside, in order: listed, never counted. Nothing is read but the manifests."""
    for paths in archived(ResultsFolder(root)):
        file = readable(paths.lines.relative_to(root).as_posix())
        manifest, _ = read_manifest(paths.manifest, file, paths.model, paths.suite)
        yield Archived(readable(paths.model), readable(paths.suite), file, manifest)
