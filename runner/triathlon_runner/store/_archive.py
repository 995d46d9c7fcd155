"""Putting results aside: kept and listed, but no longer what a run goes on from or a site shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.errors import UserError
from triathlon_runner.store._folder import ResultsFolder

_ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class Archived:
    """One results file that was put aside."""

    model: str
    suite: str
    lines: Path

    @property
    def manifest(self) -> Path:
        return self.lines.with_suffix(".manifest.json")


def archive(folder: ResultsFolder, model: str, suite: str) -> Archived:
    """Moves a results file and its manifest to `archive/<model>/<suite>/<protocol>-<number>.jsonl`.

    The caller holds the model's lock.

    Raises:
        UserError: there is nothing to move, or it cannot be moved.
    """
    source, beside = folder.lines(model, suite), folder.manifest(model, suite)
    if not source.exists():
        raise UserError(
            f"no results of {model!r} on {suite!r} in {str(folder.root)!r}; see `triathlon results list`"
        )
    manifest = folder.read_manifest(model, suite)
    place = folder.root / _ARCHIVE / model / suite
    stem = manifest.protocol if manifest else "unknown"
    number = 1 + sum(1 for _ in place.glob(f"{stem}-*.jsonl"))
    target = Archived(model, suite, place / f"{stem}-{number}.jsonl")
    try:
        place.mkdir(parents=True, exist_ok=True)
        if beside.exists():
            beside.rename(target.manifest)
        source.rename(target.lines)
    except OSError as error:
        raise UserError(f"cannot move {str(source)!r} to {str(target.lines)!r}: {error.strerror}") from None
    return target


def archived(folder: ResultsFolder) -> Iterator[Archived]:
    """Everything that was put aside, in order."""
    root = folder.root / _ARCHIVE
    for path in sorted(root.glob("*/**/*.jsonl")):
        model, *suite = path.relative_to(root).parent.parts
        yield Archived(model, "/".join(suite), path)
