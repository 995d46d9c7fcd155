"""From files to problems, with what a prompt asks and shows; each set is read once a process."""

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache
from typing import Final

from triathlon_runner.datasets._problem import ClassProblem, Comparison, Problem
from triathlon_runner.datasets.core import _schema
from triathlon_runner.syntax import top_functions

VERSION: Final = "0.1"
"""Raised when a problem changes; `sha256` tells versions apart exactly."""


SETS: Final = (
    *("seeds", "difficult", "creative", "subtle", "combine", "tool_use"),
    *("tool_use-main_only", "verbose", "concise", "decompose"),
)
"""Names that `problems` knows; `classes` stand apart."""


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


def with_helpers(entry: _schema.ProblemFile, program: str) -> str:
    """A program behind the helper functions that its prompt offers (tool_use)."""
    return f"{entry.helpers.rstrip()}\n\n\n{program}" if entry.helpers else program


def _function(
    task_id: str, entry: _schema.FunctionEntry, origin: _schema.ProblemFile, parents: list[str]
) -> Problem:
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


def _written(set_name: str) -> Iterator[Problem]:
    """Problems of their own; `tool_use-main_only` are those of tool_use without the helpers in the prompt."""
    for name, entry in _schema.read_problems(set_name.removesuffix("-main_only")).items():
        problem = _function(f"{set_name}/{name}", entry, entry, entry.parents)
        prompt = entry.prompt if set_name == "tool_use-main_only" else with_helpers(entry, entry.prompt)
        yield replace(problem, prompt=prompt, reference=with_helpers(entry, entry.reference))


def _reworded(set_name: str) -> Iterator[Problem]:
    """Seeds in other words: everything but the prompt is the seed's."""
    seeds = _schema.read_problems("seeds")
    for name, entry in _schema.read_reworded(set_name).items():
        seed = seeds[name].model_copy(update={"prompt": entry.prompt})
        yield _function(f"{set_name}/{name}", seed, seed, [name])


def _decomposed() -> Iterator[Problem]:
    seeds = _schema.read_problems("seeds")
    for name, entry in _schema.read_decomposed().items():
        for number, half in enumerate(entry.half, start=1):
            yield _function(f"decompose/{name}-{number}", half, seeds[name], [name])


@cache
def problems(set_name: str) -> tuple[Problem, ...]:
    """The problems of a set, in the order of their names.

    Raises:
        KeyError: no set has this name.
    """
    if set_name not in SETS:
        raise KeyError(f"expected one of {', '.join(SETS)}, got {set_name!r}")
    if set_name in ("verbose", "concise"):
        return tuple(_reworded(set_name))
    return tuple(_decomposed() if set_name == "decompose" else _written(set_name))


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
        for name, entry in _schema.read_classes().items()
    )


@cache
def sha256(set_name: str) -> str:
    """Hash of everything in a set that can shape a result; `classes` is a set here too."""
    content = classes() if set_name == "classes" else problems(set_name)
    rows = [asdict(row) | {"libraries": sorted(row.libraries)} for row in content]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
