"""Which results files there are, before any of them is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.records import Manifest
from triathlon_runner.store import RecordedFile, ResultsFolder, archived, recorded_files
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load._notice import Notice, readable, unreadable
from triathlon_site.load._read_file import read_manifest

RUNS: Final = "runs"
LINES: Final = ".jsonl"
MANIFEST: Final = ".manifest.json"


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

    @property
    def folder(self) -> str:
        """Where the models' folders lie, relative to the results folder."""
        return self.recorded.folder if self.recorded else RUNS

    @property
    def name(self) -> str:
        """Relative to the results folder."""
        return f"{self.folder}/{self.model}/{self.suite}{LINES}"

    @property
    def path(self) -> Path:
        """The file of the lines."""
        return self.root / self.name

    @property
    def manifest(self) -> Path:
        """The file of the manifest beside them."""
        return self.root / self.folder / self.model / f"{self.suite}{MANIFEST}"


def suite_ids(root: Path) -> set[str]:
    """Every suite with a results file, whether the catalogue lists it or not."""
    recorded = {file.suite for file in recorded_files(root)}
    return {suite for _, suite in _with_suffix(_names(root), LINES)} | recorded


def find_files(root: Path, entries: Mapping[str, SuiteEntry]) -> tuple[list[RunFile], list[Notice]]:
    """The files that count, in order, and a notice for each of the others."""
    names = _names(root)
    measured = [RunFile(root, model, suite) for model, suite in _with_suffix(names, LINES)]
    recorded = [RunFile(root, file.model, file.suite, file.source) for file in recorded_files(root)]
    counted: dict[tuple[str, str], RunFile] = {}
    notices = list(_manifests_without_results(names))
    for file in (*measured, *recorded):
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
        return f"suite {file.suite!r} is unknown"
    if counted is not None:
        return f"{readable(counted.name)!r} has results of this model and suite"
    return unreadable(file.path)


def _names(root: Path) -> list[tuple[str, str]]:
    """Model and path within its folder, for everything in the models' folders; sorted by the paths' parts."""
    models = (root / RUNS).iterdir() if (root / RUNS).is_dir() else ()
    paths = sorted(path.relative_to(root / RUNS).parts for model in models for path in model.rglob("*"))
    return [(model, "/".join(parts)) for model, *parts in paths]


def _with_suffix(names: Sequence[tuple[str, str]], suffix: str) -> Iterator[tuple[str, str]]:
    """Model and suite of the files with this suffix."""
    return ((model, name.removesuffix(suffix)) for model, name in names if name.endswith(suffix))


def _manifests_without_results(names: Sequence[tuple[str, str]]) -> Iterator[Notice]:
    """Manifests whose results are gone: a run leaves at least an empty file beside its manifest."""
    files = set(names)
    for model, suite in _with_suffix(names, MANIFEST):
        if (model, f"{suite}{LINES}") not in files:
            lines = f"{suite.rpartition('/')[2]}{LINES}"
            yield Notice(
                file=readable(f"{RUNS}/{model}/{suite}{MANIFEST}"),
                message=f"{readable(lines)!r} is not beside it: its results are missing",
            )


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
