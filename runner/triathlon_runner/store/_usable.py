"""Which lines of a results file count, also where others are damaged."""

from pathlib import Path

from pydantic import ValidationError

from triathlon_runner.records import UnitRecord
from triathlon_runner.store._faults import fault_of_record
from triathlon_runner.store._lines import R, Unit, fault_of_line, fault_of_second


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


def read_undamaged_records(path: Path, record: type[R]) -> tuple[list[R], dict[int, str]]:
    """Returns the records of one file and, by line number, what is wrong with each line that is none.

    Altered lines are records. A torn last line is skipped; no file has no lines.
    """
    records: list[R] = []
    faults: dict[int, str] = {}
    first: dict[Unit, int] = {}
    if not path.exists():
        return records, faults
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                parsed = record.model_validate_json(line)
            except ValidationError as error:
                faults[number] = fault_of_line(line, error)
                continue
            unit = (parsed.task_id, parsed.sample)
            if first.setdefault(unit, number) != number:
                faults[number] = fault_of_second(unit, first[unit])
            else:
                records.append(parsed)
    return records, faults
