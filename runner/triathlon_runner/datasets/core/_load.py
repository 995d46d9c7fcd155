"""From files to problems; each set is read once a process."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Final

from triathlon_runner.datasets._problem import ClassProblem, Comparison, Problem
from triathlon_runner.datasets.core import _prompt, _schema
from triathlon_runner.datasets.core._model import CoreClass, CoreProblem, Survivor, Wrong

VERSION: Final = "0.1"
"""Raised when a problem changes; `sha256` tells versions apart exactly."""


def _comparison(entry: _schema.ComparisonEntry) -> Comparison:
    return Comparison(entry.oracle, entry.tolerance, entry.checker)


def _survivors(entries: list[_schema.SurvivorEntry]) -> tuple[Survivor, ...]:
    return tuple(Survivor(entry.mutant, entry.reason) for entry in entries)


def _parents(entry: _schema.ProblemFile) -> tuple[str, ...]:
    return tuple(f"core/seeds/{parent}" for parent in entry.parents)


def _with_helpers(entry: _schema.ProblemFile, program: str) -> str:
    return f"{entry.helpers.rstrip()}\n\n\n{program}" if entry.helpers else program


def _problem(set_name: str, name: str, entry: _schema.ProblemFile, *, with_helpers: bool = True) -> Problem:
    return Problem(
        task_id=f"core/{set_name}/{name}",
        entry_point=_prompt.asked_function(entry.prompt).name,
        prompt=_with_helpers(entry, entry.prompt) if with_helpers else entry.prompt,
        reference=_with_helpers(entry, entry.reference),
        inputs=tuple(entry.inputs.values()),
        comparison=_comparison(entry.comparison),
        assertion=_prompt.assertion(entry.prompt),
        parents=_parents(entry),
        level=entry.level,
        topics=tuple(entry.topics),
    )


def _core(set_name: str, name: str, entry: _schema.ProblemFile, problem: Problem) -> CoreProblem:
    halves = _schema.read_decomposed().get(name) if set_name == "seeds" else None
    return CoreProblem(
        problem=problem,
        set_name=set_name,
        name=name,
        input_names=tuple(entry.inputs),
        requires=entry.requires,
        wrong=tuple(Wrong(wrong.why, _with_helpers(entry, wrong.code)) for wrong in entry.wrong),
        survivors=_survivors(entry.survivors),
        helpers=entry.helpers,
        translations=entry.translations,
        halves=tuple(_half_id(name, number) for number in (1, 2)) if halves else (),
        canary=entry.canary,
    )


def join(name: str) -> str:
    """The program that solves a seed by calling the references of its two halves, without those."""
    return _schema.read_decomposed()[name].join


def _written(set_name: str) -> tuple[CoreProblem, ...]:
    entries = _schema.read_problems(set_name).items()
    return tuple(_core(set_name, name, entry, _problem(set_name, name, entry)) for name, entry in entries)


def _main_only() -> tuple[CoreProblem, ...]:
    """The tool_use problems without their helpers in the prompt."""
    set_name = "tool_use-main_only"
    entries = _schema.read_problems("tool_use").items()
    return tuple(
        _core(set_name, name, entry, _problem(set_name, name, entry, with_helpers=False))
        for name, entry in entries
    )


def _reworded(set_name: str) -> tuple[CoreProblem, ...]:
    """Seeds in other words: everything but the prompt is the seed's."""
    seeds = _schema.read_problems("seeds")
    made = []
    for name, entry in _schema.read_reworded(set_name).items():
        seed = seeds[name].model_copy(update={"prompt": entry.prompt, "parents": [name]})
        made.append(_core(set_name, name, seed, _problem(set_name, name, seed)))
    return tuple(made)


def _half_id(name: str, number: int) -> str:
    return f"core/decompose/{name}-{number}"


def _half(name: str, number: int, entry: _schema.DecomposedFile) -> CoreProblem:
    half = entry.half[number - 1]
    seed = _schema.read_problems("seeds")[name]
    problem = Problem(
        task_id=_half_id(name, number),
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
    return CoreProblem(
        problem=problem,
        set_name="decompose",
        name=f"{name}-{number}",
        input_names=tuple(half.inputs),
        requires=half.requires,
        survivors=_survivors(half.survivors),
        canary=entry.canary,
    )


def _decomposed() -> tuple[CoreProblem, ...]:
    return tuple(
        _half(name, number, entry)
        for name, entry in _schema.read_decomposed().items()
        for number in range(1, len(entry.half) + 1)
    )


_MAKERS: Final[dict[str, Callable[[], tuple[CoreProblem, ...]]]] = {
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
def _details(set_name: str) -> dict[str, CoreProblem]:
    if set_name not in _MAKERS:
        message = f"expected one of {', '.join(SETS)}, got {set_name!r}"
        raise KeyError(message)
    return {core.problem.task_id: core for core in _MAKERS[set_name]()}


@cache
def problems(set_name: str) -> tuple[Problem, ...]:
    """The problems of a set, in the order of their names.

    Raises:
        KeyError: no set has this name.
    """
    return tuple(core.problem for core in _details(set_name).values())


def detail(task_id: str) -> CoreProblem:
    """Everything about one problem.

    Raises:
        KeyError: no problem has this task_id.
    """
    set_name = task_id.removeprefix("core/").partition("/")[0]
    return _details(set_name)[task_id]


def _class(name: str, entry: _schema.ClassFile) -> CoreClass:
    problem = ClassProblem(
        task_id=f"core/classes/{name}",
        class_name=entry.class_name,
        reference=entry.reference,
        test=entry.test,
        level=entry.level,
        topics=tuple(entry.topics),
    )
    return CoreClass(problem, _survivors(entry.survivors), entry.canary)


@cache
def _class_details() -> dict[str, CoreClass]:
    made = [_class(name, entry) for name, entry in _schema.read_classes().items()]
    return {core.problem.task_id: core for core in made}


def classes() -> tuple[ClassProblem, ...]:
    """The classes with unittest tests."""
    return tuple(core.problem for core in _class_details().values())


def class_detail(task_id: str) -> CoreClass:
    """Everything about one class.

    Raises:
        KeyError: no class has this task_id.
    """
    return _class_details()[task_id]


@cache
def sha256(set_name: str) -> str:
    """Hash of everything in a set that can shape a result; `classes` is a set here too."""
    content = classes() if set_name == "classes" else problems(set_name)
    rows = [asdict(row) | {"libraries": sorted(row.libraries)} for row in content]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
