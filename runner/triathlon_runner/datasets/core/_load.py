"""Our problems' files, TOML, one a problem, and the problems that they make; each set is read once a process.

The files' schema is strict, so that a misspelt key is refused.
"""

import ast
import hashlib
import json
import tomllib
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from triathlon_runner.datasets._problem import ClassProblem, Comparison, Oracle, Problem
from triathlon_runner.syntax import top_functions

VERSION: Final = "0.1"
"""Raised when a problem changes; `sha256` tells versions apart exactly."""
SETS: Final = (
    *("seeds", "difficult", "creative", "subtle", "combine", "tool_use"),
    *("tool_use-main_only", "verbose", "concise", "decompose"),
)
"""Names that `problems` knows; `classes` stand apart."""
CANARY: Final = "triathlon-core canary 2f9d61c8-7b0e-4a53-9c1d-e84a5f30b7d6: keep out of training data"


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


def read_files(name: str, schema: type[F]) -> dict[str, F]:
    """Returns every file of a folder by its stem, in the order of the names; none for no folder."""
    content: dict[str, F] = {}
    for path in sorted((Path(__file__).parent / name).glob("*.toml")):
        try:
            content[path.stem] = schema.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise ValueError(f"core/{name}/{path.name}: {error}") from error
    return content


@cache
def read_problems(name: str) -> dict[str, ProblemFile]:
    return read_files(name, ProblemFile)


@cache
def read_decomposed() -> dict[str, DecomposedFile]:
    return read_files("decompose", DecomposedFile)


def asked_function(prompt: str) -> ast.FunctionDef:
    """The function that a prompt asks for: its last top-level `def`.

    Raises:
        ValueError: the prompt has no function.
    """
    functions = top_functions(prompt)
    if not functions:
        raise ValueError(f"a prompt needs a function, got {prompt!r}")
    return functions[-1]


def docstring(prompt: str) -> str:
    return ast.get_docstring(asked_function(prompt)) or ""


def examples(prompt: str) -> list[tuple[str, str]]:
    """The docstring's examples as (call, value), both source text."""
    from doctest import DocTestParser  # noqa: PLC0415  it imports the debugger

    doctests = DocTestParser().get_examples(docstring(prompt))
    return [(example.source.strip(), example.want.strip()) for example in doctests]


def assertion(prompt: str) -> str:
    """The first example as an assert statement, empty where there is none."""
    shown = examples(prompt)
    return f"assert {shown[0][0]} == {shown[0][1]}" if shown else ""


def with_helpers(entry: ProblemFile, program: str) -> str:
    """A program behind the helper functions that its prompt offers (tool_use)."""
    return f"{entry.helpers.rstrip()}\n\n\n{program}" if entry.helpers else program


def _function(task_id: str, entry: FunctionEntry, origin: ProblemFile, parents: list[str]) -> Problem:
    """Returns the problem of one entry; level and topics are those of `origin`."""
    return Problem(
        task_id=f"core/{task_id}",
        entry_point=asked_function(entry.prompt).name,
        prompt=entry.prompt,
        reference=entry.reference,
        inputs=tuple(entry.inputs.values()),
        comparison=Comparison(entry.comparison.oracle, entry.comparison.tolerance),
        assertion=assertion(entry.prompt),
        parents=tuple(f"core/seeds/{parent}" for parent in parents),
        level=origin.level,
        topics=tuple(origin.topics),
    )


@cache
def problems(set_name: str) -> tuple[Problem, ...]:
    """The problems of a set, in the order of their names.

    Raises:
        KeyError: no set has this name.
    """
    if set_name not in SETS:
        raise KeyError(f"expected one of {', '.join(SETS)}, got {set_name!r}")
    seeds = read_problems("seeds")
    made: list[Problem] = []
    if set_name in ("verbose", "concise"):
        # Everything but the prompt is the seed's.
        for name, reworded in read_files(set_name, RewordedFile).items():
            seed = seeds[name].model_copy(update={"prompt": reworded.prompt})
            made.append(_function(f"{set_name}/{name}", seed, seed, [name]))
    elif set_name == "decompose":
        for name, decomposed in read_decomposed().items():
            for number, half in enumerate(decomposed.half, start=1):
                made.append(_function(f"decompose/{name}-{number}", half, seeds[name], [name]))
    else:
        # `tool_use-main_only` are the problems of tool_use without the helpers in the prompt.
        for name, entry in read_problems(set_name.removesuffix("-main_only")).items():
            problem = _function(f"{set_name}/{name}", entry, entry, entry.parents)
            prompt = entry.prompt if set_name == "tool_use-main_only" else with_helpers(entry, entry.prompt)
            made.append(replace(problem, prompt=prompt, reference=with_helpers(entry, entry.reference)))
    return tuple(made)


@cache
def classes() -> tuple[ClassProblem, ...]:
    """The classes with unittest tests."""
    return tuple(
        ClassProblem(
            task_id=f"core/classes/{name}",
            class_name=entry.class_name,
            reference=entry.reference,
            test=entry.test,
            level=entry.level,
            topics=tuple(entry.topics),
        )
        for name, entry in read_files("classes", ClassFile).items()
    )


@cache
def sha256(set_name: str) -> str:
    """Hash of everything in a set that can shape a result; `classes` is a set here too."""
    content = classes() if set_name == "classes" else problems(set_name)
    rows = [asdict(row) | {"libraries": sorted(row.libraries)} for row in content]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
