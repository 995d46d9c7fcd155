"""What all readers give: one foreign unit, in our words."""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError


@dataclass(frozen=True, slots=True)
class ForeignProgram:
    """A program, graded as it is."""

    task_id: str
    program: str
    prompt: str = ""
    completes: bool = False
    """Whether it completes the problem's prompt, and is a program only together with it."""
    subset: str = ""
    """The data set that the row names, where a log holds several."""
    base_passed: bool | None = None
    """The authors' verdict on the base inputs; None where the log has none."""
    plus_passed: bool | None = None
    """The same on all inputs."""


@dataclass(frozen=True, slots=True)
class ForeignReply:
    """A reply, out of which the program is taken as out of one of ours."""

    task_id: str
    text: str
    prompt: str = ""
    passed: bool | None = None
    """The authors' verdict; None where the log has none."""
    error: str = ""
    """Why the log has no reply; empty where it has one."""


@dataclass(frozen=True, slots=True)
class ForeignLoop:
    """One task's loops: programs and the sentences behind them."""

    task_id: str
    programs: tuple[str, ...]
    sentences: tuple[str, ...]
    """One for each program; that behind the last is not asked for where the loop ends there."""
    sustained_loops: int | None = None
    """As the log says."""
    replies: bool = False
    """Whether `programs` and `sentences` are whole replies, out of which both are still to be taken."""


@dataclass(frozen=True, slots=True)
class ForeignAnswers:
    """The replies to all questions about one (program, input)."""

    task_id: str
    coverage: tuple[str, ...]
    state: tuple[str, ...]
    path: tuple[str, ...]
    output: str


Foreign = ForeignProgram | ForeignReply | ForeignLoop | ForeignAnswers


def whole(path: Path) -> bytes:
    """A file's bytes, unpacked where it is gzipped.

    Raises:
        UserError: it cannot be read.
    """
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read {str(path)!r}: {error}") from None


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file.

    Raises:
        UserError: a line that is no JSON object; names the line.
    """
    for number, line in enumerate(whole(path).splitlines(), start=1):
        if line.strip():
            yield as_object(line, f"{path}, line {number}")


def as_object(text: bytes, where: str) -> dict[str, Any]:
    """One JSON object.

    Raises:
        UserError: it is none.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: expected JSON, {error}; got {text[:80]!r}") from None
    if not isinstance(document, dict):
        raise UserError(f"{where}: expected a JSON object, got {text[:80]!r}")
    return document


def task_name(found: Any) -> str | None:
    """A task's id as the data sets have it: MBPP's numbers become `Mbpp/2`; None for what is no id."""
    if isinstance(found, int) and not isinstance(found, bool):
        return f"Mbpp/{found}"
    if isinstance(found, str):
        return f"Mbpp/{found}" if found.isdecimal() else found
    return None


def object_of(found: Any, where: str) -> dict[str, Any]:
    """What was read, where it is an object; an empty one where the log has nothing there.

    Raises:
        UserError: it is something else.
    """
    if found is not None and not isinstance(found, dict):
        raise UserError(f"{where}: expected an object, got {found!r:.80}; is this the right format?")
    return found or {}


def text_of(row: Any, key: str, where: str) -> str:
    """A text field of an object.

    Raises:
        UserError: it is missing or no text, or `row` is no object.
    """
    value = object_of(row, where).get(key)
    if not isinstance(value, str):
        raise UserError(f"{where}: expected the text {key!r}, got {value!r:.80}; is this the right format?")
    return value
