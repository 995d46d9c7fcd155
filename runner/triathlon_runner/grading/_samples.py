"""Samples made elsewhere: a folder `<task>/<n>.py`, or JSON lines with task_id and solution or completion.

What is wrong with a sample is reported about that sample and never ends the command.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.datasets import AnyProblem, ClassProblem, unpacked
from triathlon_runner.errors import UserError


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
class Samples:
    """What the file holds."""

    samples: list[Sample]
    """In the order of the folder's names or of the file's lines."""
    broken: list[str]
    """Lines without a readable task or program: their numbers, and what is wrong with them."""


@dataclass(frozen=True, slots=True)
class _Broken:
    why: str


def read_samples(path: Path, problems: Mapping[str, AnyProblem]) -> Samples:
    """All samples of a folder or a file.

    Raises:
        UserError: there is neither a folder nor a readable file, or nothing in it.
    """
    if not path.exists():
        raise UserError(f"expected samples (a folder or a .jsonl file) at {str(path)!r}, there is nothing")
    rows = list(_in_folder(path, problems) if path.is_dir() else _in_lines(path, problems))
    if not rows:
        raise UserError(f"expected samples in {str(path)!r}: folders `<task>/<n>.py` or JSON lines, got none")
    samples = [row for row in rows if isinstance(row, Sample)]
    return Samples(samples, [row.why for row in rows if isinstance(row, _Broken)])


def _in_folder(folder: Path, problems: Mapping[str, AnyProblem]) -> Iterator[Sample]:
    """EvalPlus writes a task's id as a folder's name, with `_` for `/`."""
    names = {task_id.replace("/", "_"): task_id for task_id in problems}
    files = [file for file in folder.rglob("*.py") if file.is_file()]
    samples: Counter[str] = Counter()
    for file in sorted(files, key=lambda path: (path.parent.as_posix(), _number(path), path.name)):
        name = file.parent.relative_to(folder).as_posix()
        task_id = names.get(name.replace("/", "_"), name)
        yield _sample_of_bytes(task_id, samples[task_id], file.read_bytes())
        samples[task_id] += 1


def _number(file: Path) -> int:
    """By which the samples of a task are ordered: `10.py` comes behind `9.py`."""
    return int(file.stem) if file.stem.isdecimal() else 0


def _sample_of_bytes(task_id: str, number: int, data: bytes) -> Sample:
    try:
        return _sample(task_id, number, data.decode())
    except UnicodeDecodeError as error:
        return Sample(task_id, number, "", f"not UTF-8: {error}")


def _in_lines(file: Path, problems: Mapping[str, AnyProblem]) -> Iterator[Sample | _Broken]:
    try:
        data = unpacked(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read the samples in {str(file)!r}: {error}") from None
    numbers: dict[str, int] = {}
    for place, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        sample = _sample_of_line(line, place, problems)
        if isinstance(sample, _Broken):
            yield sample
            continue
        number = numbers.get(sample.task_id, 0)
        numbers[sample.task_id] = number + 1
        yield Sample(sample.task_id, number, sample.program, sample.fault)


def _sample_of_line(line: bytes, place: int, problems: Mapping[str, AnyProblem]) -> Sample | _Broken:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _Broken(f"line {place}: not JSON: {error}")
    if not isinstance(row, dict) or not isinstance(row.get("task_id"), str | int):
        return _Broken(f"line {place}: expected an object with task_id, got {line[:60]!r}")
    return _sample_of_row(row, place, problems)


def _sample_of_row(row: dict[str, Any], place: int, problems: Mapping[str, AnyProblem]) -> Sample | _Broken:
    task_id = str(row["task_id"])
    if isinstance(row.get("solution"), str):
        return _sample(task_id, 0, row["solution"])
    if isinstance(row.get("completion"), str):
        problem = problems.get(task_id)
        return _sample(task_id, 0, row["completion"], _prompt(problem))
    fields = {key: row[key] for key in ("solution", "completion") if key in row}
    got = ", ".join(f"{key} {value!r:.60}" for key, value in fields.items()) or "neither"
    return _Broken(
        f"line {place}: expected the program of {task_id!r:.60} as text in `solution` or `completion`, got"
        f" {got}; write it there, or remove the line"
    )


def _prompt(problem: AnyProblem | None) -> str:
    """The prompt that a completion continues; a class is always written whole."""
    return "" if problem is None or isinstance(problem, ClassProblem) else problem.prompt


def _sample(task_id: str, number: int, text: str, prompt: str = "") -> Sample:
    if not text.strip():
        return Sample(task_id, number, "", "empty")
    return Sample(task_id, number, prompt + text)


def by_id(problems: Sequence[AnyProblem]) -> dict[str, AnyProblem]:
    """The problems by task_id."""
    return {problem.task_id: problem for problem in problems}
