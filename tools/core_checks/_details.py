"""What the file of one of our problems holds beyond what a discipline needs.

The files' schema is strict, so that a misspelt key is refused.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from triathlon_runner.datasets import ClassProblem, Problem
from triathlon_runner.datasets._problem import Oracle
from triathlon_runner.datasets.core import _load, classes, problems
from triathlon_runner.datasets.core._load import asked_function, with_helpers

_ENTRIES_OF: Final = {"tool_use-main_only": "tool_use", "verbose": "seeds", "concise": "seeds"}
"""Sets whose problems differ from those of another set in their prompts only."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class WrongEntry(_Entry):
    why: str
    code: str


class SurvivorEntry(_Entry):
    mutant: str
    reason: str


class ComparisonEntry(_Entry):
    oracle: Oracle
    tolerance: float = 0.0


class FunctionEntry(_Entry):
    """A function to write."""

    prompt: str
    reference: str
    requires: str = ""
    comparison: ComparisonEntry = ComparisonEntry(oracle="exact")
    inputs: dict[str, str]
    survivors: list[SurvivorEntry] = []


class ProblemFile(FunctionEntry):
    """seeds, difficult, creative, subtle, combine, tool_use."""

    canary: str
    level: int
    topics: list[str]
    parents: list[str] = []
    """Names of seeds; two for combine."""
    helpers: str = ""
    """tool_use: the functions offered, with docstrings."""
    wrong: list[WrongEntry]
    translations: dict[str, str] = {}


class RewordedFile(_Entry):
    """verbose, concise: the seed of the same name, asked in other words."""

    canary: str
    prompt: str


class DecomposedFile(_Entry):
    """decompose: the seed of the same name, split into two problems."""

    canary: str
    half: list[FunctionEntry]
    join: str
    """A program that solves the seed by calling both halves."""


class ClassFile(_Entry):
    canary: str
    level: int
    topics: list[str]
    class_name: str
    reference: str
    test: str
    survivors: list[SurvivorEntry] = []


F = TypeVar("F", bound=_Entry)


def _read(set_name: str, name: str, schema: type[F]) -> F:
    """The file of a problem, checked."""
    try:
        return schema.model_validate(_load.read_files(set_name)[name])
    except ValidationError as error:
        raise ValueError(f"core/{set_name}/{name}.toml: {error}") from error


@dataclass(frozen=True, slots=True)
class CoreProblem:
    """One problem with everything that its file holds."""

    problem: Problem
    set_name: str
    name: str
    """The file's stem, unique within its set."""
    input_names: tuple[str, ...]
    """One for each of `problem.inputs`: what the input is there for."""
    requires: str = ""
    """What the docstring promises about the arguments, as an expression over the parameters."""
    wrong: Sequence[WrongEntry] = ()
    """Plausible wrong solutions, each a complete program; some input must tell it from the reference."""
    survivors: Sequence[SurvivorEntry] = ()
    helpers: str = ""
    """tool_use: the functions that the prompt offers."""
    translations: Mapping[str, str] = field(default_factory=dict)
    """References in other languages, by `sandbox.Language` value."""
    halves: tuple[str, ...] = ()
    """task_ids of the two problems in `decompose` that this seed was split into."""
    canary: str = ""


@dataclass(frozen=True, slots=True)
class CoreClass:
    """One class with everything that its file holds."""

    problem: ClassProblem
    survivors: Sequence[SurvivorEntry] = ()
    canary: str = ""


def detail(task_id: str) -> CoreProblem:
    """Everything about one problem.

    Raises:
        KeyError: no problem has this task_id.
        ValueError: its file breaks the schema.
    """
    _, set_name, name = task_id.split("/")
    problem = _by_id(set_name)[task_id]
    if set_name == "decompose":
        return _half(problem, name)
    if set_name in ("verbose", "concise"):
        _read(set_name, name, RewordedFile)
    file_set = _ENTRIES_OF.get(set_name, set_name)
    entry, content = _read(file_set, name, ProblemFile), _load.read_files(file_set)[name]
    halves = (1, 2) if set_name == "seeds" and name in _load.read_files("decompose") else ()
    return CoreProblem(
        problem=problem,
        set_name=set_name,
        name=name,
        input_names=tuple(entry.inputs),
        requires=entry.requires,
        wrong=[WrongEntry(why=each.why, code=with_helpers(content, each.code)) for each in entry.wrong],
        survivors=entry.survivors,
        helpers=entry.helpers,
        translations=entry.translations,
        halves=tuple(f"core/decompose/{name}-{number}" for number in halves),
        canary=entry.canary,
    )


def _half(problem: Problem, name: str) -> CoreProblem:
    seed, _, number = name.rpartition("-")
    file = _read("decompose", seed, DecomposedFile)
    half = file.half[int(number) - 1]
    return CoreProblem(
        problem=problem,
        set_name="decompose",
        name=name,
        input_names=tuple(half.inputs),
        requires=half.requires,
        survivors=half.survivors,
        canary=file.canary,
    )


@cache
def _by_id(set_name: str) -> dict[str, Problem]:
    return {problem.task_id: problem for problem in problems(set_name)}


def class_detail(task_id: str) -> CoreClass:
    """Everything about one class.

    Raises:
        KeyError: no class has this task_id.
    """
    problem = {known.task_id: known for known in classes()}[task_id]
    entry = _read("classes", task_id.removeprefix("core/classes/"), ClassFile)
    return CoreClass(problem, entry.survivors, entry.canary)


def join(name: str) -> str:
    """The program that solves a seed by calling the references of its two halves, without those."""
    return _read("decompose", name, DecomposedFile).join


def types(prompt: str) -> tuple[str, ...]:
    """The parameters' types and the result's, as text."""
    asked = asked_function(prompt)
    annotations = [argument.annotation for argument in asked.args.args] + [asked.returns]
    return tuple(ast.unparse(annotation) if annotation else "" for annotation in annotations)
