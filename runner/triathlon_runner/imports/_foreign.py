"""The units of other programs' logs, as every reader yields them, and reading JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import parse_foreign_json, read_file


@dataclass(frozen=True, slots=True)
class ForeignProgram:
    """A program that is graded as it is."""

    task_id: str
    program: str
    prompt: str = ""
    completes: bool = False
    """Whether `program` continues the problem's prompt, and is executed behind it."""
    subset: str = ""
    """The data set that the row names, where a log holds several."""
    base_passed: bool | None = None
    """The authors' verdict on the base inputs; None where the log has none."""
    plus_passed: bool | None = None
    """The same on all inputs."""


@dataclass(frozen=True, slots=True)
class ForeignReply:
    """A reply, from which the program or answer is extracted as in a run."""

    task_id: str
    text: str
    prompt: str = ""
    passed: bool | None = None
    """The authors' verdict; None where the log has none."""
    error: str = ""
    """Why the log has no reply; empty where it has one."""
    cut: bool = False
    """Whether a limit of tokens ended it."""


@dataclass(frozen=True, slots=True)
class ForeignLoop:
    """One task's loops: programs and the sentences behind them."""

    task_id: str
    programs: tuple[str, ...]
    sentences: tuple[str, ...]
    """One for each program; empty for the last where the loop ended with it."""
    sustained_loops: int | None = None
    """By the log; None where it does not say."""
    replies: bool = False
    """Whether `programs` and `sentences` are whole replies, from which both are still to be extracted."""


@dataclass(frozen=True, slots=True)
class ForeignAnswers:
    """The replies to all questions about one (program, input)."""

    task_id: str
    replies: Mapping[str, Sequence[str]]
    """By the kind of question: coverage, state and path have one for each statement, output has one."""


QUESTIONS: Final = ("coverage", "state", "path", "output")
"""REval's four kinds of question."""
Foreign = ForeignProgram | ForeignReply | ForeignLoop | ForeignAnswers


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the objects of a JSONL file, each with the words for its place: `samples.jsonl, line 3`.

    Raises:
        UserError: a line that is no JSON object; names the line.
    """
    for number, line in enumerate(read_file(path).splitlines(), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, as_object(line, where)


def as_object(text: bytes, where: str) -> dict[str, Any]:
    """Parses one JSON object.

    Raises:
        UserError: the text is no JSON object.
    """
    try:
        document = parse_foreign_json(text)
    except ValueError as error:
        raise UserError(f"{where}: expected JSON, {error}; got {text[:80]!r}") from None
    if not isinstance(document, dict):
        raise UserError(f"{where}: expected a JSON object, got {text[:80]!r}")
    return document


def task_name(value: Any) -> str | None:
    """Returns a task's id as the data sets have it: MBPP's number 2 becomes `Mbpp/2`; None for no id."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"Mbpp/{value}"
    if isinstance(value, str):
        return f"Mbpp/{value}" if value.isdecimal() else value
    return None


def object_of(value: Any, where: str) -> dict[str, Any]:
    """Returns a value that is an object; an empty object for None.

    Raises:
        UserError: it is something else.
    """
    if value is not None and not isinstance(value, dict):
        raise UserError(f"{where}: expected an object, got {value!r:.80}; is this the right format?")
    return value or {}


def text_of(row: Any, key: str, where: str) -> str:
    """Returns a text field of an object.

    Raises:
        UserError: it is missing or no text, or `row` is no object.
    """
    value = object_of(row, where).get(key)
    if not isinstance(value, str):
        raise UserError(f"{where}: expected the text {key!r}, got {value!r:.80}; is this the right format?")
    return value
