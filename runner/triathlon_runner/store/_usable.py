"""Reads the lines of a results file that count, where others are damaged, and compares two files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from triathlon_runner.records import UnitRecord
from triathlon_runner.store._faults import fault_of_record, impossible_number
from triathlon_runner.store._lines import R, Unit, fault_of_line, fault_of_second, read_heads, whole_lines


def usable_units(path: Path, record: type[UnitRecord]) -> set[Unit]:
    """Returns the units whose lines count: not the damaged, altered and torn ones; none without a file."""
    return {
        (parsed.task_id, parsed.sample)
        for _, parsed in _parsed_lines(path, record)
        if not isinstance(parsed, str) and not fault_of_record(parsed)
    }


def read_undamaged_records(path: Path, record: type[R]) -> tuple[list[R], dict[int, str]]:
    """Returns the records of one file and, by line number, what is wrong with each line that is none.

    Lines with an altered outcome are records, those with an impossible number are not. A torn last line is
    skipped; no file has no lines.
    """
    records: list[R] = []
    faults: dict[int, str] = {}
    first_lines: dict[Unit, int] = {}
    for number, parsed in _parsed_lines(path, record):
        if isinstance(parsed, str):
            faults[number] = parsed
            continue
        unit = (parsed.task_id, parsed.sample)
        if first_lines.setdefault(unit, number) != number:
            faults[number] = fault_of_second(unit, first_lines[unit])
        elif fault := impossible_number(parsed):
            faults[number] = fault
        else:
            records.append(parsed)
    return records, faults


def _parsed_lines(path: Path, record: type[R]) -> Iterator[tuple[int, R | str]]:
    """Yields the number of each line and its record, or what is wrong with the line."""
    for number, line in whole_lines(path):
        try:
            yield number, record.model_validate_json(line)
        except ValidationError as error:
            yield number, fault_of_line(line, error)


@dataclass(frozen=True, slots=True)
class Change:
    """A unit with different outcomes in two files; None for a file without the unit."""

    task_id: str
    sample: int
    before: str | None
    after: str | None


def compare_files(first: Path, second: Path) -> list[Change]:
    """Returns the units that differ, in the order of the first file, then of the second.

    Raises:
        DamagedLineError: a line that is no record; names file and line.
    """
    before, after = _outcomes(first), _outcomes(second)
    return [
        Change(*unit, before.get(unit), after.get(unit))
        for unit in {**before, **after}
        if before.get(unit) != after.get(unit)
    ]


def _outcomes(path: Path) -> dict[Unit, str]:
    return {(head.task_id, head.sample): head.outcome.value for head in read_heads(path)}
