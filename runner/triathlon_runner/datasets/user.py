"""Problems of the user's own, listed in suites.yaml: a file in a format that `grade --problems` takes."""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from triathlon_runner.datasets import ClassProblem, FunctionProblem, Problem, TestedProblem
from triathlon_runner.datasets.official import (
    FileProblem,
    example_assertion,
    file_problems,
    named_calls,
    problem_bytes,
)
from triathlon_runner.errors import UserError
from triathlon_runner.syntax import is_literal, parse_or_none, third_party

Transformation = Literal[
    "difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise", "decompose"
]
"""EvoEval's seven transformations (section 3) and decompose (section 4.2)."""
USER_VERSION: Final = "of suites.yaml"
"""In place of a release's version: the SHA-256 says which file it is."""
_CALLED_AS: Final = "candidate"
"""What HumanEval's tests call the function."""
_SHOWN: Final = 5
"""Problems that one error names."""


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


@dataclass(frozen=True, slots=True)
class UserDataSet:
    """A data set of the user's own, as suites.yaml lists it."""

    id: str
    title: str
    path: Path
    """Of its problems."""
    listed_at: str
    """`suites.yaml, line 1`."""
    private: bool = False
    """Whether the texts of its tasks and of the replies stay out of the site and of what it exports."""
    seeds: str | None = None
    """The id of the suite whose problems its own were evolved from."""
    transformation: Transformation | None = None
    """How they were evolved."""

    def read(self) -> UserProblems:
        """Reads the problems; nothing is executed.

        Raises:
            UserError: the file cannot be read, a problem is in no known format, has no reference, is a class,
                names no parents although the data set has seeds, or two have the same task_id.
        """
        if not self.path.is_file():
            raise UserError(
                f"{self.listed_at}: expected problems: to name a file, relative to the folder of suites.yaml,"
                f" got {str(self.path)!r}, which is none"
            )
        problems = tuple(_user_problem(row, self.seeds) for row in file_problems(self.path))
        return UserProblems(hashlib.sha256(problem_bytes(self.path)).hexdigest(), problems)


def _user_problem(row: FileProblem, seeds: str | None) -> UserProblem:
    problem = row.problem
    place = f"{row.place}, task {problem.task_id!r}"
    if isinstance(problem, ClassProblem):
        raise UserError(f"{place}: expected a function to write, got a class; take this line out of the file")
    if not problem.reference.strip():
        raise UserError(
            f"{place}: expected a reference in canonical_solution, got none; add a solution that is right"
        )
    text = row.tests
    problem = replace(problem, parents=tuple(filter(None, problem.parents)) if seeds else ())
    if seeds and not problem.parents:
        raise UserError(
            f"{place}: expected parents, the task_ids of problems of {seeds!r}, got none; add"
            ' `"parents": ["…"]` to the line or take `seeds:` out of suites.yaml'
        )
    if not problem.assertion and parse_or_none(text) is not None:
        example = example_assertion(problem.task_id, problem.prompt, text, problem.entry_point)
        problem = replace(problem, assertion=example)
    if isinstance(problem, TestedProblem):
        return UserProblem(place, problem)
    tested = tuple(_tested(problem, tests) for tests in (text, problem.assertion) if tests)
    return UserProblem(place, problem, tested)


def _tested(problem: Problem, tests: str) -> TestedProblem:
    return TestedProblem(problem.task_id, problem.entry_point, problem.prompt, tests, problem.reference)


def check_examples(problems: UserProblems) -> None:
    """Refuses problems without an example: the loop's second prompt has the name and signature only from it.

    Raises:
        UserError: naming the first of them.
    """
    without = [problem.place for problem in problems.problems if not problem.problem.assertion]
    if without:
        more = f"\nand {len(without) - _SHOWN} more" if len(without) > _SHOWN else ""
        raise UserError(
            "\n".join(
                f"{place}: the loop expects an example that shows how the function is called, got none; write"
                " one into the docstring (`>>> f(1)` and the result below it), or a test `assert"
                " candidate(1) == 2` of plain values"
                for place in without[:_SHOWN]
            )
            + more
        )


def with_inputs(problem: FunctionProblem) -> Problem:
    """Returns the problem with inputs to trace: its own, or those of the calls in its tests."""
    if isinstance(problem, Problem):
        return problem
    return Problem(
        task_id=problem.task_id,
        entry_point=problem.entry_point,
        prompt=problem.prompt,
        reference=problem.reference,
        inputs=tuple(dict.fromkeys(_called_with(problem.tests, problem.entry_point))),
        assertion=problem.assertion,
        libraries=third_party(problem.reference),
        level=problem.level,
    )


def _called_with(tests: str, entry_point: str) -> Iterator[str]:
    """The arguments of each call of the function in the tests, where they are plain values."""
    module = parse_or_none(tests)
    for name, call in named_calls(module) if module is not None else ():
        arguments = ast.Tuple(call.args, ast.Load())
        if name in (_CALLED_AS, entry_point) and not call.keywords and is_literal(arguments):
            yield ast.unparse(arguments)
