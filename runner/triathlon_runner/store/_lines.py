"""Reading and writing JSON lines so that a line is complete or not there, and their faults in words."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, TypeVar

from pydantic import ConfigDict, ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.json_text import in_words
from triathlon_runner.records import SCHEMA_VERSION, UnitRecord

Unit = tuple[str, int]
"""(task_id, sample): what one line of a file stands for."""

R = TypeVar("R", bound=UnitRecord)

RUN_AGAIN: Final = (
    "delete the line, and the next run makes its unit again: replies in the cache are graded again, without"
    " asking the model (to have it asked, `triathlon cache prune --model MODEL` first)"
)
"""What to do about a line that cannot be used."""
MAKE_MISSING: Final = "`triathlon run`, or `import` of an imported log, makes what is missing"
"""What to do about lines that were lost."""
_SHOWN: Final = 60
"""Characters of a damaged line that its error shows."""
_NO_OBJECT: Final = frozenset({"json_invalid", "model_type", "model_attributes_type"})
"""Pydantic's names for a text that is no JSON object."""


class DamagedLineError(UserError):
    """A line of a results file that is no record, or that stands for a unit that another line has already."""


class ContradictingLineError(DamagedLineError):
    """A line that is a record whose outcome or numbers contradict its own evidence."""


class Head(UnitRecord):
    """The fields that all kinds of record share; others in a line are ignored."""

    model_config = ConfigDict(extra="ignore")


def read_records(path: Path, record: type[R]) -> Iterator[R]:
    """Yields the records of one file, in its order; a torn last line is skipped, no file has no lines."""
    for number, _, parsed in parsed_lines(path, record):
        if isinstance(parsed, str):
            raise DamagedLineError(f"{path}, line {number}: {parsed}")
        yield parsed


def read_undamaged_records(
    path: Path, record: type[R], fault_of: Callable[[R], str] = lambda _record: ""
) -> tuple[list[R], dict[int, str]]:
    """Returns the records of one file and, by line number, what is wrong with each line that is none.

    A record in which `fault_of` finds a fault is none; left out, an altered outcome is no fault. A torn last
    line is skipped; no file has no lines.
    """
    records: list[R] = []
    faults: dict[int, str] = {}
    for number, _, parsed in parsed_lines(path, record):
        if isinstance(parsed, str):
            faults[number] = parsed
        elif fault := fault_of(parsed):
            faults[number] = fault
        else:
            records.append(parsed)
    return records, faults


def usable_units(path: Path, record: type[UnitRecord]) -> set[Unit]:
    """Returns the units whose lines count: not the damaged, altered and torn ones; none without a file."""
    return {
        (parsed.task_id, parsed.sample)
        for _, _, parsed in parsed_lines(path, record)
        if not isinstance(parsed, str) and not parsed.fault()
    }


def parsed_lines(path: Path, record: type[R]) -> Iterator[tuple[int, bytes, R | str]]:
    """Yields each whole line with its number, and its record or what is wrong with it."""
    if not path.exists():
        return
    first_lines: dict[Unit, int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                parsed = record.model_validate_json(line)
            except ValidationError as error:
                yield number, line, fault_of_line(line, error)
                continue
            first = first_lines.setdefault((parsed.task_id, parsed.sample), number)
            if first == number:
                yield number, line, parsed
                continue
            unit = f"{parsed.task_id!r}, sample {parsed.sample}: the other is line {first}"
            yield number, line, f"expected one line of each unit, got a second of {unit}; delete one of them"


@dataclass(frozen=True, slots=True)
class Change:
    """A unit with different outcomes in two files; None for a file without the unit."""

    task_id: str
    sample: int
    before: str | None
    after: str | None


def compare_files(first: Path, second: Path) -> list[Change]:
    """Returns the units that differ, in the order of the first file, then of the second."""
    before, after = (
        {(head.task_id, head.sample): head.outcome.value for head in read_records(path, Head)}
        for path in (first, second)
    )
    return [
        Change(*unit, before.get(unit), after.get(unit))
        for unit in {**before, **after}
        if before.get(unit) != after.get(unit)
    ]


def validation_fault(error: ValidationError) -> str:
    """Returns the first fault of a file or line, in words: the field, what is wrong with it, what came."""
    fault = error.errors(include_url=False)[0]
    message, got = in_words(fault), fault["input"]
    if fault["type"] == "enum" or isinstance(got, int | float):
        message += f", got {str(got)[:_SHOWN]!r}" if isinstance(got, str) else f", got {str(got)[:20]}"
    return f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {message}"


def fault_of_line(line: bytes, error: ValueError, remedy: str = RUN_AGAIN) -> str:
    """Returns what is wrong with a line that is no record, with its beginning and the remedy."""
    text = line.decode(errors="replace").strip()
    got = f"{text[:_SHOWN]!r}{'…' if len(text) > _SHOWN else ''}"
    why = str(error).splitlines()[0]
    if isinstance(error, ValidationError):
        if error.errors(include_url=False)[0]["type"] in _NO_OBJECT:
            return f"expected a JSON object, got {got}; {remedy}"
        schema = json.loads(line).get("schema", SCHEMA_VERSION)
        if schema != SCHEMA_VERSION:
            expected = f"expected schema {SCHEMA_VERSION}, got {schema!r}"
            return f"{expected}: another version wrote it; update the program"
        why = validation_fault(error)
    return f"expected a record of one unit, got {got} ({why}); {remedy}"


def count_lines(path: Path) -> tuple[int, bool]:
    """Returns how many whole lines a file has, and whether a torn one follows; (0, False) without a file."""
    count, last = 0, b"\n"
    if path.exists():
        with path.open("rb") as lines:
            for line in lines:
                last = line
                count += line.endswith(b"\n")
    return count, not last.endswith(b"\n")


def set_torn_line_aside(path: Path) -> Path | None:
    """Moves a last line without newline (a power cut) to `<file>.torn`; returns that path, else None."""
    if not path.exists():
        return None
    with path.open("r+b") as file:
        start = sum(len(line) for line in file if line.endswith(b"\n"))
        file.seek(start)
        torn_line = file.read()
        if not torn_line:
            return None
        torn = path.with_name(path.name + ".torn")
        with torn.open("ab") as torn_file:
            torn_file.write(torn_line + b"\n")
            torn_file.flush()
            os.fsync(torn_file.fileno())
        file.truncate(start)
    return torn


def replace_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    rewrite_file(path, lambda file: file.write(text.encode()))


def rewrite_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Writes a file whole or not at all; `write` writes its content into a draft.

    A pipe, and what stands in /dev (such as /dev/stdout), is written into and never replaced.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_fifo() or path.absolute().is_relative_to("/dev"):
            with path.open("ab") as file:
                write(file)
            return
        with draft.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):  # as where the folder is a file
            draft.unlink()
        raise UserError(
            f"cannot write {str(path)!r} ({error.strerror}); make room or make it writable and run again,"
            " nothing is lost"
        ) from None
