"""Archives results: they stay listed, but no run continues them and no page shows them."""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import why_not_plain
from triathlon_runner.store._folder import ResultsFolder, UnreadableManifestError

_ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class Archived:
    """One results file in the archive."""

    model: str
    suite: str
    lines: Path

    @property
    def manifest(self) -> Path:
        return self.lines.with_suffix(".manifest.json")


def archive(folder: ResultsFolder, model: str, suite: str, *, copy: bool = False) -> Archived:
    """Moves a results file and its manifest to `archive/<model>/<suite>/<protocol>-<number>.jsonl`.

    No file in the archive is replaced. The caller holds the model's lock. `copy`: both files stay in place as
    well.

    Raises:
        UserError: there are no such results, or they cannot be moved.
    """
    source, manifest = folder.lines(model, suite), folder.manifest(model, suite)
    if not source.exists():
        raise UserError(
            f"no results of {model!r} on {suite!r} in {str(folder.root)!r}; see `triathlon results list`"
        )
    target = Archived(model, suite, _unused_path(folder, model, suite))
    try:
        target.lines.parent.mkdir(parents=True, exist_ok=True)
        move_or_copy = shutil.copy2 if copy else os.rename
        if manifest.exists():
            move_or_copy(manifest, target.manifest)
        move_or_copy(source, target.lines)
    except OSError as error:
        raise UserError(f"cannot move {str(source)!r} to {str(target.lines)!r}: {error.strerror}") from None
    return target


def _unused_path(folder: ResultsFolder, model: str, suite: str) -> Path:
    """Returns an unused path in the archive: its number is one above the highest in use."""
    try:
        manifest = folder.read_manifest(model, suite)
    except UnreadableManifestError:
        manifest = None
    stem = str(manifest.protocol) if manifest else "unknown"
    target_folder = folder.root / _ARCHIVE / model / suite
    names = re.compile(re.escape(stem) + r"-(\d+)\.(jsonl|manifest\.json)")
    files = target_folder.iterdir() if target_folder.is_dir() else ()
    numbers = [int(name[1]) for path in files if (name := names.fullmatch(path.name))]
    return target_folder / f"{stem}-{max(numbers, default=0) + 1}.jsonl"


def archived(folder: ResultsFolder) -> Iterator[Archived]:
    """All archived files, in order."""
    root = folder.root / _ARCHIVE
    for path in sorted(root.glob("*/**/*.jsonl")):
        if why_not_plain(path, folder.root):
            continue
        model, *suite = path.relative_to(root).parent.parts
        yield Archived(model, "/".join(suite), path)
