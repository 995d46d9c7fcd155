"""Samples made elsewhere, as `grade` and `import` read them: folders of programs, and files in JSON.

A folder holds `<task>/<n>.py`; a file holds a line a sample, an array of samples, or EvalPlus' results. What
is wrong with a sample is reported about that sample and never ends the command.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triathlon_runner.datasets import AnyProblem, ClassProblem
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import files_below, parse_foreign_json, read_file

_TASK_FOLDER = re.compile(r"(.+)_(\d+)")
"""EvalPlus and EvoEval write a task's id as a folder's name, with `_` for `/`."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One program for one task, or the outcome of a sample without one."""

    task_id: str
    number: int
    """Its position among the task's samples, from 0."""
    program: str
    fault: str = ""
    """Why there is nothing to execute: shown as the detail of the outcome `no_answer`."""


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample as it lies on disk."""

    task_id: str
    """Of a folder its path, below the folder of the samples."""
    text: str
    completes: bool = False
    """Whether the text continues the problem's prompt."""
    fault: str = ""
    """Why the text cannot be read; empty where it can."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """All of its object, in a file."""


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A place that holds no sample."""

    where: str
    """Such as `line 3`."""
    fault: str
    """What was expected, and what came."""


def read_samples(path: Path, problems: Mapping[str, AnyProblem]) -> tuple[list[Sample], list[str]]:
    """All samples of a folder or a file in its order, and what is wrong with places that hold none.

    Raises:
        UserError: there is neither a folder nor a readable file, or nothing in it.
    """
    if not path.exists():
        raise UserError(f"expected samples (a folder or a .jsonl file) at {str(path)!r}, there is nothing")
    broken: list[str] = []
    names = {task_id.replace("/", "_"): task_id for task_id in problems}
    numbers: Counter[str] = Counter()
    samples = []
    for row in sample_rows(path):
        if isinstance(row, BrokenRow):
            broken.append(f"{row.where}: {row.fault}")
            continue
        task_id = _id_of(row.task_id, problems, names)
        problem = problems.get(task_id)
        # A completion continues the prompt; a class is always written whole.
        prompt = problem.prompt if row.completes and problem and not isinstance(problem, ClassProblem) else ""
        fault = row.fault or ("" if row.text.strip() else "empty")
        samples.append(Sample(task_id, numbers[task_id], "" if fault else prompt + row.text, fault))
        numbers[task_id] += 1
    if not samples and not broken:
        raise UserError(f"expected samples in {str(path)!r}: folders `<task>/<n>.py` or JSON lines, got none")
    return samples, broken


def _id_of(name: str, problems: Collection[str], names: Mapping[str, str]) -> str:
    """The task that a name stands for: a folder has `_` for `/`, MBPP's problems are known by number, too."""
    if name in problems:
        return name
    if f"Mbpp/{name}" in problems:
        return f"Mbpp/{name}"
    return names.get(name.replace("/", "_"), names.get(name.rpartition("/")[2], name))


def sample_rows(path: Path) -> Iterator[SampleRow | BrokenRow]:
    """Yields what a folder or a file holds, in its order.

    Raises:
        UserError: it cannot be read, or holds something else than samples, which is named.
    """
    return _in_folder(path) if path.is_dir() else _in_file(path)


def _in_folder(folder: Path) -> Iterator[SampleRow]:
    files = sorted(files_below(folder, "*.py"), key=_order)
    tops = {file.parent.parent.relative_to(folder) for file in files}
    if len(tops) > 1 and all(_TASK_FOLDER.fullmatch(file.parent.name) for file in files):
        names = ", ".join(sorted(str(top) for top in tops)[:5])
        raise UserError(
            f"expected the samples of one model in {str(folder)!r}, got {names}; name one of them"
        )
    for file in files:
        task_id = file.parent.relative_to(folder).as_posix()
        try:
            yield SampleRow(task_id, read_file(file).decode())
        except UnicodeDecodeError as error:
            yield SampleRow(task_id, "", fault=f"not UTF-8: {error}")


def task_of_folder(name: str) -> str:
    """The task that a folder of programs is called after: `HumanEval/0` for `HumanEval_0`."""
    named = _TASK_FOLDER.fullmatch(name.rpartition("/")[2])
    return f"{named[1]}/{named[2]}" if named else name


def _order(file: Path) -> tuple[str, int, str]:
    """By which files are ordered: `10.py` comes behind `9.py`."""
    return file.parent.as_posix(), int(file.stem) if file.stem.isdecimal() else 0, file.name


def _in_file(path: Path) -> Iterator[SampleRow | BrokenRow]:
    content = read_file(path)
    document = _document(content)
    if isinstance(document, dict) and isinstance(document.get("eval"), dict):
        rows = [(f"eval, {task}", row) for task, found in document["eval"].items() for row in _list(found)]
    elif isinstance(document, dict) and "task_id" in document:
        rows = [("the sample", document)]
    elif isinstance(document, dict):
        keys = ", ".join(sorted(document)[:6])
        raise UserError(f"{path}: expected a line a sample, got one JSON document with the keys {keys}")
    elif isinstance(document, list) and document and all(isinstance(row, list) for row in document):
        raise UserError(
            f"{path}: expected samples with a task_id, got lists of programs by position, such as bigcode's"
            " generations.json; write a line for each, with the task_id of the problem at its position"
        )
    elif isinstance(document, list):
        rows = [(f"sample {number}", row) for number, row in enumerate(document, start=1)]
    else:
        yield from _in_lines(content)
        return
    yield from (_row(row, where, repr(row)[:60]) for where, row in rows)


def _document(content: bytes) -> Any:
    """The value of a file that is one JSON document; None for lines, one of which is a document itself."""
    start, _, rest = content.strip().partition(b"\n")
    if rest and _parsed(start) is not None:
        return None
    return _parsed(content) if content.lstrip()[:1] in {b"[", b"{"} else None


def _parsed(text: bytes) -> Any:
    try:
        return parse_foreign_json(text)
    except ValueError:
        return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _in_lines(content: bytes) -> Iterator[SampleRow | BrokenRow]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = parse_foreign_json(line)
        except ValueError as error:
            yield BrokenRow(f"line {number}", f"not JSON: {error}")
        else:
            yield _row(row, f"line {number}", repr(line[:60]))


def _row(row: Any, where: str, shown: str) -> SampleRow | BrokenRow:
    """The sample of one object, or what is wrong with it."""
    if not isinstance(row, dict) or not isinstance(row.get("task_id"), str | int):
        return BrokenRow(where, f"expected an object with task_id, got {shown}")
    task_id = str(row["task_id"])
    for key in ("solution", "completion"):
        if isinstance(row.get(key), str):
            return SampleRow(task_id, row[key], completes=key == "completion", fields=row)
    fields = {key: row[key] for key in ("solution", "completion") if key in row}
    got = ", ".join(f"{key} {value!r:.60}" for key, value in fields.items()) or "neither"
    return BrokenRow(
        where,
        f"expected the program of {task_id!r:.60} as text in `solution` or `completion`, got {got};"
        " write it there, or remove the line",
    )
