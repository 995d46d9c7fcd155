"""Results without texts: `recorded/<source>/<model>/<suite>.jsonl` with a manifest that is their receipt."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import why_no_file
from triathlon_runner.records import RECORDED, RecordedManifest, RecordedUnit
from triathlon_runner.store._folder import read_manifest_file
from triathlon_runner.store._lines import DamagedLineError, read_lines, replace_file

_IMPORT_ANEW: Final = "import the recording anew"


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """The recorded results of one model on one suite, from one source."""

    root: Path
    """The results folder."""
    source: str
    model: str
    suite: str

    @property
    def lines(self) -> Path:
        return self.root / RECORDED / self.source / self.model / f"{self.suite}.jsonl"

    @property
    def manifest(self) -> Path:
        return self.lines.with_suffix(".manifest.json")

    def write(self, manifest: RecordedManifest, lines: Sequence[Mapping[str, Any]]) -> None:
        """Replaces both files; the same lines and manifest give the same bytes."""
        receipt = {
            "schema_version": manifest.schema_version,
            **manifest.model_dump(mode="json", exclude_defaults=True),
            "receipt": manifest.receipt.model_dump(mode="json"),
        }
        texts = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        replace_file(self.lines, "".join(texts))
        replace_file(self.manifest, json.dumps(receipt, indent=1, ensure_ascii=False) + "\n")

    def read_manifest(self) -> RecordedManifest:
        """Returns the receipt of lines that can be read: a link leads anywhere, a pipe waits."""
        if why := why_no_file(self.lines, self.root):
            raise UserError(f"expected a plain file at {str(self.lines)!r}, got {why}; move it away")
        manifest = read_manifest_file(self.manifest, self.root, self.model, self.suite, RecordedManifest)
        if isinstance(manifest, str):
            raise UserError(f"{self.manifest}: {manifest}; {_IMPORT_ANEW}")
        return manifest

    def read(self) -> list[RecordedUnit]:
        """Returns the units of all lines, as metrics read them."""
        return [unit for record in self.read_lines() for unit in record.apart()]

    def read_lines(self) -> list[RecordedUnit]:
        """Returns the record of each line, which may hold all samples of a task."""
        manifest, path = self.read_manifest(), self.lines
        records: list[RecordedUnit] = []
        for number, _, parsed in read_lines(path, manifest.unit, _IMPORT_ANEW):
            if isinstance(parsed, str):
                raise DamagedLineError(f"{path}, line {number}: {parsed}")
            if fault := parsed.fault():
                raise DamagedLineError(f"{path}, line {number}: {fault}; {_IMPORT_ANEW}")
            records.append(parsed)
        outcomes = Counter(outcome.value for record in records for outcome in record.outcomes)
        counted = dict(sorted(outcomes.items()))
        if counted != manifest.outcomes:
            raise UserError(
                f"{self.manifest}: expected the outcomes of the lines, {counted}, got {manifest.outcomes};"
                f" {_IMPORT_ANEW}"
            )
        return records


def recorded_files(root: Path) -> Iterator[RecordedFile]:
    """Yields every file of recorded results in a results folder, in order."""
    folder = root / RECORDED
    for path in sorted(folder.glob("*/*/**/*.jsonl")):
        source, model, *suite = path.relative_to(folder).with_suffix("").parts
        yield RecordedFile(root, source, model, "/".join(suite))
