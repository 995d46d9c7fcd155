"""From files to problems; each set is read once a process."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from typing import Final

from triathlon_runner.datasets._problem import ClassProblem, Comparison, Problem
from triathlon_runner.datasets.core import _prompt, _schema

VERSION: Final = "0.1"
"""Raised when a problem changes; `sha256` tells versions apart exactly."""


def _comparison(entry: _schema.ComparisonEntry) -> Comparison:
    return Comparison(entry.oracle, entry.tolerance, entry.checker)


def _parents(entry: _schema.ProblemFile) -> tuple[str, ...]:
    return tuple(f"core/seeds/{parent}" for parent in entry.parents)


def with_helpers(entry: _schema.ProblemFile, program: str) -> str:
    """A program behind the helper functions that its prompt offers (tool_use)."""
    return f"{entry.helpers.rstrip()}\n\n\n{program}" if entry.helpers else program


def _problem(set_name: str, name: str, entry: _schema.ProblemFile, *, helpers: bool = True) -> Problem:
    return Problem(
        task_id=f"core/{set_name}/{name}",
        entry_point=_prompt.asked_function(entry.prompt).name,
        prompt=with_helpers(entry, entry.prompt) if helpers else entry.prompt,
        reference=with_helpers(entry, entry.reference),
        inputs=tuple(entry.inputs.values()),
        comparison=_comparison(entry.comparison),
        assertion=_prompt.assertion(entry.prompt),
        parents=_parents(entry),
        level=entry.level,
        topics=tuple(entry.topics),
    )


def _written(set_name: str) -> Iterator[Problem]:
    for name, entry in _schema.read_problems(set_name).items():
        yield _problem(set_name, name, entry)


def _main_only() -> Iterator[Problem]:
    """The tool_use problems without their helpers in the prompt."""
    for name, entry in _schema.read_problems("tool_use").items():
        yield _problem("tool_use-main_only", name, entry, helpers=False)


def _reworded(set_name: str) -> Iterator[Problem]:
    """Seeds in other words: everything but the prompt is the seed's."""
    seeds = _schema.read_problems("seeds")
    for name, entry in _schema.read_reworded(set_name).items():
        seed = seeds[name].model_copy(update={"prompt": entry.prompt, "parents": [name]})
        yield _problem(set_name, name, seed)


def _decomposed() -> Iterator[Problem]:
    for name, entry in _schema.read_decomposed().items():
        for number, half in enumerate(entry.half, start=1):
            yield _half(name, number, half)


def _half(name: str, number: int, half: _schema.HalfEntry) -> Problem:
    seed = _schema.read_problems("seeds")[name]
    return Problem(
        task_id=f"core/decompose/{name}-{number}",
        entry_point=_prompt.asked_function(half.prompt).name,
        prompt=half.prompt,
        reference=half.reference,
        inputs=tuple(half.inputs.values()),
        comparison=_comparison(half.comparison),
        assertion=_prompt.assertion(half.prompt),
        parents=(f"core/seeds/{name}",),
        level=seed.level,
        topics=tuple(seed.topics),
    )


_MAKERS: Final[dict[str, Callable[[], Iterator[Problem]]]] = {
    "seeds": lambda: _written("seeds"),
    "difficult": lambda: _written("difficult"),
    "creative": lambda: _written("creative"),
    "subtle": lambda: _written("subtle"),
    "combine": lambda: _written("combine"),
    "tool_use": lambda: _written("tool_use"),
    "tool_use-main_only": _main_only,
    "verbose": lambda: _reworded("verbose"),
    "concise": lambda: _reworded("concise"),
    "decompose": _decomposed,
}
SETS: Final = tuple(_MAKERS)
"""Names that `problems` knows; `classes` stand apart."""


@cache
def problems(set_name: str) -> tuple[Problem, ...]:
    """The problems of a set, in the order of their names.

    Raises:
        KeyError: no set has this name.
    """
    if set_name not in _MAKERS:
        message = f"expected one of {', '.join(SETS)}, got {set_name!r}"
        raise KeyError(message)
    return tuple(_MAKERS[set_name]())


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
