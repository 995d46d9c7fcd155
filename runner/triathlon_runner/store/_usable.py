"""Which lines of a results file count, also where others are damaged."""

from pathlib import Path

from pydantic import ValidationError

from triathlon_runner.records import UnitRecord
from triathlon_runner.store._faults import fault_of_record
from triathlon_runner.store._lines import Unit


def usable_units(path: Path, record: type[UnitRecord]) -> set[Unit]:
    """Returns the units whose lines count: damaged, altered and torn ones are left out; no file has none."""
    if not path.exists():
        return set()
    units: set[Unit] = set()
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            try:
                parsed = record.model_validate_json(line)
            except ValidationError:
                continue
            if not fault_of_record(parsed):
                units.add((parsed.task_id, parsed.sample))
    return units
