"""Reading and writing JSON lines so that a line is complete or not there."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeVar

from pydantic import ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.records import UnitRecord

Unit = tuple[str, int]
"""(task_id, sample): what one line of a file stands for."""

R = TypeVar("R", bound=UnitRecord)


class DamagedLineError(UserError):
    """A line of a results file that is no record, or that stands for a unit that another line has already."""


class ContradictingLineError(DamagedLineError):
    """A line that is a record whose outcome or numbers contradict its own evidence."""


def read_records(path: Path, record: type[R]) -> Iterator[R]:
    """The records of one file, in its order; none where there is no file.

    Raises:
        DamagedLineError: a line that is no record, or a unit that stands twice; names file and line.
    """
    for _, parsed in read_lines(path, record):
        yield parsed


def read_lines(path: Path, record: type[R]) -> Iterator[tuple[bytes, R]]:
    """Yields each line with its record; a torn last line is skipped.

    Raises:
        DamagedLineError: a line that is no record, or a unit that stands twice; names file and line.
    """
    if not path.exists():
        return
    seen: dict[Unit, int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            parsed = parse_line(line, record, path, number)
            unit = (parsed.task_id, parsed.sample)
            if unit in seen:
                raise DamagedLineError(
                    f"{path}: {unit!r} stands in line {seen[unit]} and in line {number}; keep one"
                )
            seen[unit] = number
            yield line, parsed


def parse_line(line: bytes, record: type[R], path: Path, number: int) -> R:
    """One line as a record.

    Raises:
        DamagedLineError: the line is no record; names file and line.
    """
    try:
        return record.model_validate_json(line)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"]) or "the line"
        raise damaged(path, number, f"{where}: {fault['msg']}", line) from None


def damaged(path: Path, number: int, fault: str, line: bytes) -> DamagedLineError:
    """The error for a line that is no record."""
    return DamagedLineError(
        f"{path}, line {number}: {fault}, got {line[:80]!r}; mend the line or move the file away"
    )


def count_lines(path: Path) -> tuple[int, bool]:
    """How many whole lines a file has, and whether a torn one follows; (0, False) where there is no file."""
    count, last = 0, b"\n"
    if path.exists():
        with path.open("rb") as lines:
            for line in lines:
                last = line
                count += line.endswith(b"\n")
    return count, not last.endswith(b"\n")


def set_torn_line_aside(path: Path) -> bytes:
    """Moves a last line without its newline (a power cut) to `<file>.torn`; returns what was moved."""
    if not path.exists():
        return b""
    with path.open("r+b") as file:
        content_end = file.seek(0, os.SEEK_END)
        start = _start_of_last_line(path)
        if start == content_end:
            return b""
        file.seek(start)
        torn = file.read()
        with path.with_name(path.name + ".torn").open("ab") as aside:
            aside.write(torn + b"\n")
            aside.flush()
            os.fsync(aside.fileno())
        file.truncate(start)
    return torn


def _start_of_last_line(path: Path, block: int = 1 << 16) -> int:
    """Offset behind the last newline of a file."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(0, end - block)
            file.seek(begin)
            newline = file.read(end - begin).rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
            end = begin
    return 0


def replace_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all.

    Raises:
        UserError: the disk is full or the folder cannot be written; the old file stays as it was.
    """
    rewrite_file(path, lambda file: file.write(text.encode()))


def rewrite_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Writes a file whole or not at all, by what `write` puts into it.

    Raises:
        UserError: the disk is full or the folder cannot be written; the old file stays as it was.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UserError(
            f"cannot write {str(path)!r} ({error.strerror}); make room or make it writable and run again,"
            " nothing is lost"
        ) from None
