"""What was put aside: listed, never counted."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.records import Manifest
from triathlon_runner.store import ResultsFolder, archived
from triathlon_site.load._checks import readable
from triathlon_site.load._manifest import read_manifest


@dataclass(frozen=True, slots=True)
class Archived:
    """One results file in `archive/`."""

    model: str
    suite: str
    file: str
    """Relative to the results folder."""
    manifest: Manifest | None


def read_archived(root: Path) -> Iterator[Archived]:
    """In order; nothing is read but the manifests."""
    for one in archived(ResultsFolder(root)):
        file = readable(one.lines.relative_to(root).as_posix())
        yield Archived(
            readable(one.model),
            readable(one.suite),
            file,
            read_manifest(one.manifest, file, one.model, one.suite)[0],
        )
