"""Users' problem files in the formats of HumanEval, MBPP, EvalPlus, EvoEval and ClassEval."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from triathlon_runner.datasets import AnyProblem, FunctionProblem, TestedProblem
from triathlon_runner.datasets.official._assertions import tested_function
from triathlon_runner.datasets.official._catalogue import EVOEVAL_SETS, EvoEvalSet
from triathlon_runner.datasets.official._evalplus import _mbpp_problem, humaneval_problem
from triathlon_runner.datasets.official._evoeval import _problem, evolved_problem
from triathlon_runner.datasets.official._raw import Row, class_problem
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import UnreadableFileError, read_file

ACCEPTED: Final = "accepted"
"""The field of a line in which a person decides whether an evolved problem becomes a task."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem with its file and line."""

    place: str
    """`mine.jsonl, line 3`."""
    problem: AnyProblem
    tests: str = ""
    """Tests that stand beside the inputs of a `Problem`; programs are not graded by them."""


def problem_file(path: Path) -> tuple[AnyProblem, ...]:
    """The problems of a JSONL file (or one JSON array), compressed or not; each row's fields tell its format.

    Raises:
        UserError: the file can't be read, a row is in none of the formats, or two have the same task_id.
    """
    return tuple(row.problem for row in file_problems(path))


def file_problems(path: Path) -> Iterator[FileProblem]:
    """As `problem_file`, with the line of each problem.

    Problems with `"accepted": false` or `null` are left out: a person refused them or has not decided yet.

    Raises:
        UserError: the file can't be read, a row is in none of the formats, two have the same task_id, or no
            problem is accepted.
    """
    try:
        text = problem_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise UserError(f"expected a problem file in JSON lines at {str(path)!r}: {error}") from None
    lines = [(number, line) for number, line in enumerate(_rows(text), start=1) if line.strip()]
    if not lines:
        raise UserError(f"expected problems in {str(path)!r}, it has none")
    places: dict[str, str] = {}
    decisions: list[bool | None] = []
    for number, line in lines:
        row, accepted = _read(line, f"{path.name}, line {number}", path.name)
        task_id = row.problem.task_id
        if task_id in places:
            raise UserError(
                f"{row.place}: expected a task_id of its own, got {task_id!r}, which {places[task_id]} has,"
                " too; rename one"
            )
        places[task_id] = row.place
        decisions.append(accepted)
        if accepted:
            yield row
    if not any(decisions):
        raise UserError(
            f"expected accepted problems in {str(path)!r}, got none: {decisions.count(None)} await a"
            f" decision, {decisions.count(False)} are refused; set {ACCEPTED!r} to true in the lines that are"
            " to be tasks"
        )


def problem_bytes(path: Path) -> bytes:
    """The content of a problem file, decompressed.

    Raises:
        UserError: the file can't be read.
    """
    try:
        return read_file(path)
    except UnreadableFileError as error:
        raise UserError(f"expected a problem file in JSON lines: {error}") from None


def _rows(text: str) -> list[str]:
    """One text a problem: the lines, or the items of an array (ClassEval's own file)."""
    if text.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            return [json.dumps(row) for row in json.loads(text)]
    return text.split("\n")


def _read(line: str, place: str, name: str) -> tuple[FileProblem, bool | None]:
    """The problem of a line, and what a person decided about it; without the field it is accepted."""
    try:
        row = json.loads(line)
        tests, accepted = row.get("test", ""), row.get(ACCEPTED, True)
        problem = FileProblem(place, _problem_of_row(row, name), tests if isinstance(tests, str) else "")
    except (AttributeError, LookupError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        raise UserError(
            f"{place}: expected a problem in the format of HumanEval (prompt, test), MBPP (text, code, "
            "test_list), EvalPlus (base_input, plus_input), EvoEval (inputs), `triathlon evolve` (inputs,"
            " reference) or ClassEval (class_name, solution_code, test), got"
            f" {line[:80]!r}… ({_error_text(error)})"
        ) from None
    if not isinstance(accepted, bool | None):
        raise UserError(f"{place}: expected {ACCEPTED!r} to be true, false or null, got {accepted!r}")
    return problem, accepted


def _error_text(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


def _problem_of_row(row: Row, name: str) -> AnyProblem:
    if "solution_code" in row:
        return class_problem(row)
    problem = _function_of_row(row, name)
    return replace(problem, parents=tuple(row["parents"])) if "parents" in row else problem


def _function_of_row(row: Row, name: str) -> FunctionProblem:
    if "reference" in row:
        return evolved_problem(row)
    if "test_list" in row:
        return _mbpp_of(row)
    if "base_input" in row:
        return (
            _mbpp_problem(row)
            if row["task_id"].startswith("Mbpp/")
            else humaneval_problem(_with_defaults(row))
        )
    if "inputs" in row:
        return _problem(_with_defaults(row), _set_of(row, name))
    solution = row.get("canonical_solution", "")
    reference = f"{row['prompt']}{solution}" if solution else ""
    return TestedProblem(row["task_id"], row["entry_point"], row["prompt"], row["test"], reference)


def _mbpp_of(row: Row) -> TestedProblem:
    """A row of MBPP's own release, asked as EvalPlus asks MBPP+: the text and the first test."""
    tests = "\n".join([row.get("test_setup_code", ""), *row["test_list"]]).strip()
    prompt = f'"""\n{(row["text"] if "text" in row else row["prompt"]).strip()}\n{row["test_list"][0]}\n"""\n'
    entry_point = tested_function(row["code"], tests)
    return TestedProblem(
        f"Mbpp/{row['task_id']}" if isinstance(row["task_id"], int) else row["task_id"],
        entry_point,
        prompt,
        tests,
        row["code"],
        assertion=row["test_list"][0],
    )


def _with_defaults(row: Row) -> Row:
    """The row with defaults for the fields that grading does not need and that a file may leave out."""
    defaults: dict[str, Any] = {"plus_input": [], "atol": 0, "test": "", "parent": "", "p1": "", "p2": ""}
    return {**defaults, **row}


def _set_of(row: Row, name: str) -> EvoEvalSet:
    """The EvoEval set of a row: the oracle depends on it, and the row's number does not tell it."""
    named: tuple[EvoEvalSet, ...] = tuple(set_name for set_name in EVOEVAL_SETS if set_name in name)
    return named[0] if named else "combine" if "p1" in row else "tool_use"
