"""Samples made elsewhere: a folder `<task>/<n>.py`, or JSON lines with task_id and solution or completion.

What is wrong with a sample is reported about that sample and never ends the command.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from triathlon_runner.datasets import AnyProblem, ClassProblem
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import files_below, parse_foreign_json, read_file


@dataclass(frozen=True, slots=True)
class Sample:
    """One program for one task, or the outcome of a sample without one."""

    task_id: str
    number: int
    """Its position among the task's samples, from 0."""
    program: str
    fault: str = ""
    """Why there is nothing to execute: shown as the detail of the outcome `no_answer`."""


def read_samples(path: Path, problems: Mapping[str, AnyProblem]) -> tuple[list[Sample], list[str]]:
    """All samples of a folder or a file in its order, and what is wrong with lines that hold none.

    Raises:
        UserError: there is neither a folder nor a readable file, or nothing in it.
    """
    if not path.exists():
        raise UserError(f"expected samples (a folder or a .jsonl file) at {str(path)!r}, there is nothing")
    broken: list[str] = []
    rows = _in_folder(path, problems) if path.is_dir() else _in_lines(path, problems, broken)
    numbers: Counter[str] = Counter()
    samples = []
    for sample in rows:
        samples.append(replace(sample, number=numbers[sample.task_id]))
        numbers[sample.task_id] += 1
    if not samples and not broken:
        raise UserError(f"expected samples in {str(path)!r}: folders `<task>/<n>.py` or JSON lines, got none")
    return samples, broken


def _in_folder(folder: Path, problems: Mapping[str, AnyProblem]) -> Iterator[Sample]:
    """EvalPlus writes a task's id as a folder's name, with `_` for `/`."""
    names = {task_id.replace("/", "_"): task_id for task_id in problems}
    for file in sorted(files_below(folder, "*.py"), key=_order):
        name = file.parent.relative_to(folder).as_posix()
        task_id = names.get(name.replace("/", "_"), name)
        try:
            yield _sample(task_id, read_file(file).decode())
        except UnicodeDecodeError as error:
            yield Sample(task_id, 0, "", f"not UTF-8: {error}")


def _order(file: Path) -> tuple[str, int, str]:
    """By which files are ordered: `10.py` comes behind `9.py`."""
    return file.parent.as_posix(), int(file.stem) if file.stem.isdecimal() else 0, file.name


def _in_lines(file: Path, problems: Mapping[str, AnyProblem], broken: list[str]) -> Iterator[Sample]:
    """`broken` gets what is wrong with lines without a readable task or program."""
    for place, line in enumerate(read_file(file).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield _sample_of_line(line, problems)
        except (ValueError, RecursionError) as error:
            broken.append(f"line {place}: {error}")


def _sample_of_line(line: bytes, problems: Mapping[str, AnyProblem]) -> Sample:
    """The sample of one line; raises ValueError with what is wrong where it holds none."""
    try:
        row = parse_foreign_json(line)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(row, dict) or not isinstance(row.get("task_id"), str | int):
        raise ValueError(f"expected an object with task_id, got {line[:60]!r}")
    task_id = str(row["task_id"])
    if isinstance(row.get("solution"), str):
        return _sample(task_id, row["solution"])
    if isinstance(row.get("completion"), str):
        problem = problems.get(task_id)
        # A completion continues the prompt; a class is always written whole.
        prompt = "" if problem is None or isinstance(problem, ClassProblem) else problem.prompt
        return _sample(task_id, row["completion"], prompt)
    fields = {key: row[key] for key in ("solution", "completion") if key in row}
    got = ", ".join(f"{key} {value!r:.60}" for key, value in fields.items()) or "neither"
    raise ValueError(
        f"expected the program of {task_id!r:.60} as text in `solution` or `completion`, got {got};"
        " write it there, or remove the line"
    )


def _sample(task_id: str, text: str, prompt: str = "") -> Sample:
    return Sample(task_id, 0, prompt + text) if text.strip() else Sample(task_id, 0, "", "empty")
