"""Problems in files of the user's own: what `grade --problems` takes, and data sets of suites.yaml."""

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from triathlon_runner.datasets import FunctionProblem, Problem, TestedProblem, rows
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import UnreadableFileError, json_lines, read_file
from triathlon_runner.syntax import is_literal, parse_or_none, third_party
from triathlon_runner.terminal import first_of
from triathlon_runner.yaml_file import id_form

Transformation = Literal[
    "difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise", "decompose"
]
"""EvoEval's seven transformations (section 3) and decompose (section 4.2)."""
USER_VERSION: Final = "of suites.yaml"
"""In place of a release's version: the SHA-256 says which file it is."""
ACCEPTED: Final = "accepted"
"""The field of a line in which a person decides whether an evolved problem becomes a task."""
_CALLED_AS: Final = "candidate"
"""What HumanEval's tests call the function."""
_SHOWN: Final = 5
"""Problems that one error names."""
_TYPES: Final = {
    **dict.fromkeys(("task_id", "entry_point", "prompt", "reference", "code", "text"), (str,)),
    **dict.fromkeys(("canonical_solution", "test"), (str, type(None))),
    **dict.fromkeys(("test_list", "base_input", "inputs", "parents"), (list,)),
}
"""Of the fields that a problem may have, where it has them; MBPP's own task_ids are numbers, too."""


@dataclass(frozen=True, slots=True)
class UserProblem:
    """One problem with its file and line, and all tests that its reference has to pass."""

    place: str
    """`mine.jsonl, line 3, task 'mine/slug'`."""
    problem: FunctionProblem
    tests: tuple[TestedProblem, ...] = ()
    """Tests and the example of the prompt, where the problem's inputs are what programs are graded on."""


@dataclass(frozen=True, slots=True)
class UserProblems:
    """The problems of one file."""

    sha256: str
    """Of the file's content, decompressed."""
    problems: tuple[UserProblem, ...]

    @property
    def functions(self) -> tuple[FunctionProblem, ...]:
        """The problems as a suite has them."""
        return tuple(each.problem for each in self.problems)


class DataSetRow(BaseModel):
    """One data set of suites.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    id: Annotated[str, id_form(60, "mine")]
    """What the ids of its suites end in: `loop/mine`, `runtime/mine`, `evolved/mine`."""
    title: Annotated[str, Field(min_length=1)]
    """As the board calls it."""
    problems: Annotated[str, Field(min_length=1)]
    """The file with the problems, relative to the folder of suites.yaml."""
    private: bool = False
    """Whether the texts of its tasks and of the replies stay out of the site and of what it exports."""
    seeds: str | None = None
    """The suite whose problems these were evolved from, such as `evolved/humaneval`."""
    transformation: Transformation | None = None
    """How they were evolved; with `combine` and `decompose` the board shows more."""

    def as_yaml(self) -> str:
        """One line of suites.yaml, without what is as by default."""
        fields = self.model_dump(exclude_defaults=True).items()
        texts = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields]
        return f"- {{{', '.join(texts)}}}"


class UserDataSet(DataSetRow):
    """A data set of the user's own, as suites.yaml lists it."""

    folder: Path
    """That of suites.yaml."""
    listed_at: str
    """`suites.yaml, line 1`."""

    @property
    def path(self) -> Path:
        """The file with the problems."""
        return self.folder / self.problems

    @property
    def sha256(self) -> str:
        """Of the problems' file, as `UserProblems` has it; empty where there is none that can be read."""
        try:
            return _sha256(read_file(self.path)) if self.path.is_file() else ""
        except UnreadableFileError:
            return ""

    def read(self) -> UserProblems:
        """Reads the problems; nothing is executed."""
        if not self.path.is_file():
            raise UserError(
                f"{self.listed_at}: expected problems: to name a file, relative to the folder of suites.yaml,"
                f" got {str(self.path)!r}, which is none"
            )
        content = read_file(self.path)
        problems = tuple(_user_problem(*row, self.seeds) for row in _rows(self.path, content))
        return UserProblems(_sha256(content), problems)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _user_problem(place: str, problem: FunctionProblem, text: str, seeds: str | None) -> UserProblem:
    place = f"{place}, task {problem.task_id!r}"
    if not problem.reference.strip():
        raise UserError(
            f"{place}: expected a reference in canonical_solution, got none; add a solution that is right"
        )
    problem = replace(problem, parents=tuple(filter(None, problem.parents)) if seeds else ())
    if seeds and not problem.parents:
        raise UserError(
            f"{place}: expected parents, the task_ids of problems of {seeds!r}, got none; add"
            ' `"parents": ["…"]` to the line or take `seeds:` out of suites.yaml'
        )
    if not problem.assertion and parse_or_none(text) is not None:
        example = rows.example_assertion(problem.task_id, problem.prompt, text, problem.entry_point)
        problem = replace(problem, assertion=example)
    if isinstance(problem, TestedProblem):
        return UserProblem(place, problem)
    tested = tuple(
        TestedProblem(problem.task_id, problem.entry_point, problem.prompt, tests, problem.reference)
        for tests in (text, problem.assertion)
        if tests
    )
    return UserProblem(place, problem, tested)


def check_examples(problems: UserProblems) -> None:
    """Refuses problems without an example: the loop's second prompt has the name and signature only from it.

    Raises:
        UserError: naming the first of them.
    """
    without = [
        f"{each.place}: the loop expects an example that shows how the function is called, got none; write"
        " one into the docstring (`>>> f(1)` and the result below it), or a test `assert candidate(1) == 2`"
        " of plain values"
        for each in problems.problems
        if not each.problem.assertion
    ]
    if without:
        raise UserError("\n".join(first_of(without, _SHOWN)))


def with_inputs(problem: FunctionProblem) -> Problem:
    """Returns the problem with inputs to trace: its own, or the plain values in the calls of its tests."""
    if isinstance(problem, Problem):
        return problem
    inputs = []
    for name, call in rows.named_calls(parse_or_none(problem.tests) or ast.Module([], [])):
        arguments = ast.Tuple(call.args, ast.Load())
        if name in (_CALLED_AS, problem.entry_point) and not call.keywords and is_literal(arguments):
            inputs.append(ast.unparse(arguments))
    return Problem(
        task_id=problem.task_id,
        entry_point=problem.entry_point,
        prompt=problem.prompt,
        reference=problem.reference,
        inputs=tuple(dict.fromkeys(inputs)),
        assertion=problem.assertion,
        libraries=third_party(problem.reference),
        level=problem.level,
    )


def problem_file(path: Path) -> tuple[FunctionProblem, ...]:
    """The problems of a JSONL file (or one JSON array), compressed or not; each row's fields tell its format.

    Raises:
        UserError: the file can't be read, a row is in none of the formats, or two have the same task_id.
    """
    return tuple(problem for _, problem, _ in _rows(path, read_file(path)))


def _rows(path: Path, content: bytes) -> Iterator[tuple[str, FunctionProblem, str]]:
    """Yields place, problem and tests of each line; a `Problem` with inputs is not graded by the tests.

    Problems with `"accepted": false` or `null` are left out: a person refused them or has not decided yet.
    """
    places: dict[str, str] = {}
    decisions: list[bool | None] = []
    for place, row in json_lines(path, content):
        problem = _read(row, place, path.name)
        if other := places.get(problem.task_id):
            raise UserError(
                f"{place}: expected a task_id of its own, got {problem.task_id!r}, which {other} has, too;"
                " rename one"
            )
        places[problem.task_id] = place
        decisions.append(decision(row, place))
        if decisions[-1]:
            yield place, problem, row.get("test") or ""
    if not places:
        raise UserError(f"expected problems in {str(path)!r}, it has none")
    if not any(decisions):
        raise UserError(
            f"expected accepted problems in {str(path)!r}, got none: {decisions.count(None)} await a"
            f" decision, {decisions.count(False)} are refused; set {ACCEPTED!r} to true in the lines that are"
            " to be tasks"
        )


def decision(row: rows.Row, place: str) -> bool | None:
    """Whether a line's problem is accepted; None: not decided yet.

    Raises:
        UserError: it says something else.
    """
    accepted = row.get(ACCEPTED, True)
    if not isinstance(accepted, bool | None):
        raise UserError(f"{place}: expected {ACCEPTED!r} to be true, false or null, got {accepted!r}")
    return accepted


def _read(row: rows.Row, place: str, name: str) -> FunctionProblem:
    for field, types in _TYPES.items():
        is_number = field == "task_id" and "test_list" in row and isinstance(row.get(field), int)
        if field in row and not isinstance(row[field], types) and not is_number:
            wanted = "a list" if list in types else "text (in quotes)"
            raise UserError(
                f"{place}: expected {field!r} to be {wanted}, got {row[field]!r:.80}; fix the line"
            )
    if not all(isinstance(name, str | None) for name in row.get("parents", ())):
        raise UserError(f"{place}: expected task_ids in 'parents', got {row['parents']!r:.80}; fix the line")
    if "solution_code" in row:
        raise UserError(
            f"{place}: expected a function to write, got the class {row.get('class_name')!r:.80}; take this"
            " line out of the file"
        )
    try:
        problem = _problem_of_row(row, name)
    except (AttributeError, LookupError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
        raise UserError(
            f"{place}: expected a problem in the format of HumanEval (prompt, test), MBPP (text, code, "
            "test_list), EvalPlus (base_input, plus_input), EvoEval (inputs) or `triathlon evolve`"
            f" (inputs, reference), got {row!r:.80} ({why})"
        ) from None
    for text in problem.inputs if isinstance(problem, Problem) and "inputs" in row else ():
        match parse_or_none(text):
            case ast.Module(body=[ast.Expr(value=ast.Tuple())]):
                continue
        raise UserError(
            f"{place}: expected 'inputs' to hold arguments as they stand in a call, such as"
            f" \"[1, 2], 'a'\", got {text[1:-2]!r:.80}; fix the line"
        )
    return problem


def _problem_of_row(row: rows.Row, name: str) -> FunctionProblem:
    """Returns the problem of a row; the name of its file tells EvoEval's sets apart."""
    problem: FunctionProblem
    if "reference" in row:
        problem = rows.evolved_problem(row)
    elif "test_list" in row:
        problem = _mbpp_of(row)
    elif "base_input" in row:
        problem = (rows.mbpp_problem if row["task_id"].startswith("Mbpp/") else rows.humaneval_problem)(row)
    elif "inputs" in row:
        # The oracle depends on the set, and the row's number does not tell it.
        guessed: rows.EvoEvalSet = "combine" if "p1" in row else "tool_use"
        problem = rows.evoeval_problem(
            row, next((known for known in rows.EVOEVAL_SETS if known in name), guessed)
        )
    else:
        solution = row.get("canonical_solution", "")
        reference = f"{row['prompt']}{solution}" if solution else ""
        problem = TestedProblem(
            row["task_id"], row["entry_point"], row["prompt"], row["test"] or "", reference
        )
    return replace(problem, parents=tuple(row["parents"])) if "parents" in row else problem


def _mbpp_of(row: rows.Row) -> TestedProblem:
    """A row of MBPP's own release, asked as EvalPlus asks MBPP+: the text and the first test."""
    example = row["test_list"][0]
    tests = "\n".join([row.get("test_setup_code", ""), *row["test_list"]]).strip()
    text = (row["text"] if "text" in row else row["prompt"]).strip()
    return TestedProblem(
        f"Mbpp/{row['task_id']}" if isinstance(row["task_id"], int) else row["task_id"],
        rows.tested_function(row["code"], tests),
        f'"""\n{text}\n{example}\n"""\n',
        tests,
        row["code"],
        assertion=example,
    )
