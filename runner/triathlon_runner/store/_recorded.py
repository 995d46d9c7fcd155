"""Recorded results: `recorded/<source>/<model>/<suite>.jsonl` with a manifest that is their receipt."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.records import (
    RECORDED,
    RecordedLine,
    RecordedManifest,
    RecordedTask,
    RecordedUnit,
)
from triathlon_runner.store._folder import read_manifest_file
from triathlon_runner.store._lines import DamagedLineError, parsed_lines, replace_file

_LINES: Final = ".jsonl"
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
        return self.root / RECORDED / self.source / self.model / f"{self.suite}{_LINES}"

    @property
    def manifest(self) -> Path:
        return self.lines.with_suffix(".manifest.json")

    def write(self, manifest: RecordedManifest, lines: Sequence[RecordedLine | RecordedTask]) -> None:
        """Replaces both files; the same lines and manifest give the same bytes."""
        receipt = {
            "schema_version": manifest.schema_version,
            **manifest.model_dump(mode="json", exclude_defaults=True),
            "receipt": manifest.receipt.model_dump(mode="json"),
        }
        replace_file(self.lines, "".join(map(_text, lines)))
        replace_file(self.manifest, json.dumps(receipt, indent=1, ensure_ascii=False) + "\n")

    def read_manifest(self) -> RecordedManifest:
        """Returns the receipt."""
        manifest = read_manifest_file(self.manifest, self.root, self.model, self.suite, RecordedManifest)
        if isinstance(manifest, str):
            raise UserError(f"{self.manifest}: {manifest}; {_IMPORT_ANEW}")
        return manifest

    def read(self) -> list[RecordedUnit]:
        """Returns the units of all lines, as metrics read them."""
        return [unit for record in self.read_lines() for unit in record.apart()]

    def read_lines(self) -> list[RecordedUnit]:
        """Returns the record of each line, which may hold all samples of a task."""
        manifest = self.read_manifest()
        records: list[RecordedUnit] = []
        for number, _, parsed in parsed_lines(self.lines, manifest.unit, _IMPORT_ANEW):
            if isinstance(parsed, str):
                raise DamagedLineError(f"{self.lines}, line {number}: {parsed}")
            if fault := parsed.fault():
                raise DamagedLineError(f"{self.lines}, line {number}: {fault}; {_IMPORT_ANEW}")
            records.append(parsed)
        counts = Counter(outcome for record in records for outcome in record.outcomes)
        counted = {outcome.value: counts[outcome] for outcome in sorted(counts)}
        if counted != manifest.outcomes:
            raise UserError(
                f"{self.manifest}: expected the outcomes of the lines, {counted}, got {manifest.outcomes};"
                f" {_IMPORT_ANEW}"
            )
        return records


def recorded_files(root: Path) -> Iterator[RecordedFile]:
    """Yields every file of recorded results in a results folder, in order."""
    folder = root / RECORDED
    for path in sorted(folder.glob(f"*/*/**/*{_LINES}")):
        source, model, *suite = path.relative_to(folder).parts
        yield RecordedFile(root, source, model, "/".join(suite).removesuffix(_LINES))


def _text(line: RecordedLine | RecordedTask) -> str:
    """Returns a line as short as possible: all fields with default values but `sample` are left out."""
    fields = type(line).model_fields.items()
    left_out = {name for name, field in fields if name != "sample" and getattr(line, name) == field.default}
    return line.model_dump_json(exclude=left_out) + "\n"
