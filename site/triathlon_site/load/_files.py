"""Which results files there are, before any of them is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.suites import SuiteEntry
from triathlon_site.load._checks import readable, unreadable
from triathlon_site.load._notice import Notice

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

    @property
    def name(self) -> str:
        """Relative to the results folder."""
        return f"{RUNS}/{self.model}/{self.suite}{LINES}"

    @property
    def path(self) -> Path:
        """Of the lines."""
        return self.root / self.name

    @property
    def manifest(self) -> Path:
        """Of the manifest beside them."""
        return self.root / RUNS / self.model / f"{self.suite}{MANIFEST}"


def suite_ids(root: Path) -> set[str]:
    """Every suite that there is a results file of, known or not."""
    return {suite for _, suite in _ending(_names(root), LINES)}


def find_files(root: Path, entries: Mapping[str, SuiteEntry]) -> tuple[list[RunFile], list[Notice]]:
    """Those that can be read, in order, and what is wrong with the others."""
    names = _names(root)
    found, notices = [], [*_alone(names)]
    for model, suite in _ending(names, LINES):
        file = RunFile(root, model, suite)
        unknown = f"suite {suite!r} is unknown" if suite not in entries else ""
        unnamed = "its name is not UTF-8" if readable(file.name) != file.name else ""
        if fault := unnamed or unknown or unreadable(file.path):
            notices.append(Notice(file=readable(file.name), message=f"{fault}; not counted"))
        else:
            found.append(file)
    return found, notices


def _names(root: Path) -> list[tuple[str, str]]:
    """Model and the rest of the path of everything in the models' folders, in order of the paths' parts."""
    models = (root / RUNS).iterdir() if (root / RUNS).is_dir() else ()
    paths = sorted(path.relative_to(root / RUNS).parts for model in models for path in model.rglob("*"))
    return [(model, "/".join(rest)) for model, *rest in paths]


def _ending(names: Sequence[tuple[str, str]], suffix: str) -> Iterator[tuple[str, str]]:
    """Model and suite of the files of one kind."""
    return ((model, name.removesuffix(suffix)) for model, name in names if name.endswith(suffix))


def _alone(names: Sequence[tuple[str, str]]) -> Iterator[Notice]:
    """Manifests whose results are gone: a run leaves at least an empty file beside its manifest."""
    known = set(names)
    for model, suite in _ending(names, MANIFEST):
        if (model, f"{suite}{LINES}") not in known:
            lines = f"{suite.rpartition('/')[2]}{LINES}"
            yield Notice(
                file=readable(f"{RUNS}/{model}/{suite}{MANIFEST}"),
                message=f"{readable(lines)!r} is not beside it: its results are missing",
            )
