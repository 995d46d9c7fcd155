"""The units of other programs' logs, as every reader yields them, and reading JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import json_document, parse_foreign_json, read_file
from triathlon_runner.grading import NO_VERDICT, TheirVerdict


@dataclass(frozen=True, slots=True)
class ForeignSample:
    """One answer to one task: a reply, or a program that is graded as it is."""

    task_id: str
    """As the log has it: an id, a folder, a number or a position."""
    text: str
    """A reply, from which the program or answer is extracted as in a run."""
    prompt: str = ""
    is_program: bool = False
    """Whether the text is the program."""
    completes: bool = False
    """Whether the program continues the problem's prompt, and is executed behind it."""
    about: str = ""
    """What the log has of the task beside the prompt, such as its row of the data set."""
    subset: str = ""
    """The data set that the row names, where a log holds several."""
    theirs: TheirVerdict = NO_VERDICT
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
Foreign = ForeignSample | ForeignLoop | ForeignAnswers


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the objects of a JSONL file or an array, each with the words for its place: `s.jsonl, line 3`.

    Raises:
        UserError: a line that is no JSON object; names the line.
    """
    content = read_file(path)
    document = json_document(content)
    if isinstance(document, list):
        yield from (
            (where, object_of(row, where))
            for where, row in ((f"{path}, entry {n}", row) for n, row in enumerate(document, start=1))
        )
        return
    if isinstance(document, dict) and b"\n" in content.strip():
        keys = ", ".join(sorted(document)[:6])
        raise UserError(
            f"{path}: expected an object a line, got one JSON document with the keys {keys}; name the file of"
            " the samples (lm-evaluation-harness: samples_*.jsonl)"
        )
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, as_object(line, where)


def as_object(text: bytes, where: str) -> dict[str, Any]:
    """Parses one JSON object."""
    try:
        document = parse_foreign_json(text)
    except ValueError as error:
        raise UserError(f"{where}: expected JSON, {error}; got {text[:80]!r}") from None
    if not isinstance(document, dict):
        raise UserError(f"{where}: expected a JSON object, got {text[:80]!r}")
    return document


def task_name(value: Any) -> str | None:
    """Returns a task's id or number as a text; None for no id."""
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else None


def object_of(value: Any, where: str) -> dict[str, Any]:
    """Returns a value that is an object; an empty object for None."""
    if value is not None and not isinstance(value, dict):
        raise UserError(f"{where}: expected an object, got {value!r:.80}; is this the right format?")
    return value or {}


def text_of(row: Any, key: str, where: str) -> str:
    """Returns a text field of an object."""
    value = object_of(row, where).get(key)
    if not isinstance(value, str):
        raise UserError(f"{where}: expected the text {key!r}, got {value!r:.80}; is this the right format?")
    return value
