"""Problem files of anybody's, in the formats of HumanEval, EvalPlus, EvoEval and ClassEval."""

import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from triathlon_runner.datasets import ClassProblem, Problem, TestedProblem
from triathlon_runner.datasets.official._catalogue import EvoEvalSet
from triathlon_runner.datasets.official._evalplus import _mbpp_problem, humaneval_problem
from triathlon_runner.datasets.official._evoeval import _problem
from triathlon_runner.datasets.official._rows import Row
from triathlon_runner.errors import UserError
from triathlon_runner.syntax import third_party

AnyProblem = Problem | TestedProblem | ClassProblem


def problem_file(path: Path) -> tuple[AnyProblem, ...]:
    """The problems of a JSONL file (or one JSON array), compressed or not; each row's fields tell its format.

    Raises:
        UserError: the file can't be read, or a row is in none of the formats.
    """
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UserError(f"expected a problem file in JSON lines at {str(path)!r}: {error}") from None
    lines = [(number, line) for number, line in enumerate(_rows(text), start=1) if line.strip()]
    problems = tuple(_read(line, f"{path.name}, line {number}", path.name) for number, line in lines)
    if not problems:
        raise UserError(f"expected problems in {str(path)!r}, it has none")
    return problems


def _rows(text: str) -> list[str]:
    """One text a problem: the lines, or the items of an array (ClassEval's own file)."""
    if text.lstrip().startswith("["):
        with suppress(ValueError):
            return [json.dumps(row) for row in json.loads(text)]
    return text.split("\n")


def _read(line: str, place: str, name: str) -> AnyProblem:
    try:
        row = json.loads(line)
        return _of_row(row, name)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{place}: expected a problem in the format of HumanEval (prompt, test), EvalPlus (base_input, "
            f"plus_input), EvoEval (inputs) or ClassEval (class_name, solution_code, test), "
            f"got {line[:80]!r}… ({type(error).__name__}: {error})"
        ) from None


def _of_row(row: Row, name: str) -> AnyProblem:
    if "solution_code" in row:
        return _class_of(row)
    if "base_input" in row:
        return _mbpp_problem(row) if row["task_id"].startswith("Mbpp/") else humaneval_problem(_whole(row))
    if "inputs" in row:
        return _problem(_whole(row), _set_of(row, name))
    solution = row.get("canonical_solution", "")
    reference = f"{row['prompt']}{solution}" if solution else ""
    return TestedProblem(row["task_id"], row["entry_point"], row["prompt"], row["test"], reference)


def _class_of(row: Row) -> ClassProblem:
    reference = "\n".join([*row.get("import_statement", ()), row["solution_code"]])
    libraries = third_party(reference) | third_party(row["test"])
    return ClassProblem(row["task_id"], row["class_name"], reference, row["test"], libraries)


def _whole(row: Row) -> Row:
    """The row with what grading does not need filled in, where a file leaves it out."""
    defaults: dict[str, Any] = {"plus_input": [], "atol": 0, "test": "", "parent": "", "p1": "", "p2": ""}
    return {**defaults, **row}


def _set_of(row: Row, name: str) -> EvoEvalSet:
    """Which EvoEval set a row is of: its number alone does not say which oracle is its own."""
    named: tuple[EvoEvalSet, ...] = tuple(one for one in get_args(EvoEvalSet) if one in name)
    return named[0] if named else "combine" if "p1" in row else "tool_use"
