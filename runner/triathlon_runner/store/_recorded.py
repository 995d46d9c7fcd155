"""Recorded results: `recorded/<source>/<model>/<suite>.jsonl` with a manifest that is their receipt."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import why_not_plain
from triathlon_runner.records import RECORDED, RecordedLine, RecordedManifest, RecordedTask, RecordedUnit
from triathlon_runner.store._faults import fault_of_manifest, fault_of_record, validation_fault
from triathlon_runner.store._lines import damaged, fault_of_line, replace_file

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
    def folder(self) -> str:
        """The source's folder, relative to the results folder."""
        return f"{RECORDED}/{self.source}"

    @property
    def lines(self) -> Path:
        return self.root / self.folder / self.model / f"{self.suite}{_LINES}"

    @property
    def manifest(self) -> Path:
        return self.lines.with_suffix(".manifest.json")

    def write(self, manifest: RecordedManifest, lines: Sequence[RecordedLine | RecordedTask]) -> None:
        """Replaces both files; the same lines and manifest give the same bytes.

        Raises:
            UserError: they cannot be written.
        """
        receipt = {
            "schema_version": manifest.schema_version,
            **manifest.model_dump(mode="json", exclude_defaults=True),
            "receipt": manifest.receipt.model_dump(mode="json"),
        }
        replace_file(self.lines, "".join(map(_text, lines)))
        replace_file(self.manifest, json.dumps(receipt, indent=1, ensure_ascii=False) + "\n")

    def read_manifest(self) -> RecordedManifest:
        """Returns the receipt.

        Raises:
            UserError: it is missing, damaged, or the receipt of other results.
        """
        if why := why_not_plain(self.manifest, self.root):
            raise UserError(
                f"cannot read the receipt {str(self.manifest)!r}: expected a plain file, got {why}"
            )
        try:
            manifest = RecordedManifest.model_validate_json(self.manifest.read_bytes())
        except OSError as error:
            raise UserError(f"cannot read the receipt {str(self.manifest)!r}: {error.strerror}") from None
        except ValidationError as error:
            raise UserError(f"{self.manifest}: {validation_fault(error)}; {_IMPORT_ANEW}") from None
        if reason := fault_of_manifest(manifest, self.model, self.suite):
            raise UserError(f"{self.manifest}: {reason}; {_IMPORT_ANEW}")
        return manifest

    def read(self) -> list[RecordedUnit]:
        """Returns the units of all lines, as metrics read them.

        Raises:
            UserError: a line is damaged or contradicts itself, or the receipt is damaged or does not
                count them.
        """
        manifest = self.read_manifest()
        units: list[RecordedUnit] = []
        for number, line in enumerate(self.lines.read_bytes().splitlines(keepends=True), start=1):
            try:
                units_of_line = manifest.units(line)
            except ValueError as error:
                raise damaged(self.lines, number, fault_of_line(line, error, _IMPORT_ANEW)) from None
            if fault := next(filter(None, map(fault_of_record, units_of_line)), ""):
                raise damaged(self.lines, number, f"{fault}; {_IMPORT_ANEW}")
            units += units_of_line
        counted = dict(sorted(Counter(unit.outcome.value for unit in units).items()))
        if counted != manifest.outcomes:
            raise UserError(
                f"{self.manifest}: expected the outcomes of the lines, {counted}, got {manifest.outcomes};"
                f" {_IMPORT_ANEW}"
            )
        return units


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
