"""Our problems' files, TOML, one a problem, and the problems that they make; each is read once a process."""

import ast
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from triathlon_runner.datasets._problem import ClassProblem, Comparison, Problem
from triathlon_runner.syntax import top_functions

VERSION: Final = "0.1"
"""Raised when a problem changes; `sha256` tells versions apart exactly."""
SETS: Final = (
    *("seeds", "difficult", "creative", "subtle", "combine", "tool_use"),
    *("tool_use-main_only", "verbose", "concise", "decompose"),
)
"""Names that `problems` knows; `classes` stand apart."""
CANARY: Final = "triathlon-core canary 2f9d61c8-7b0e-4a53-9c1d-e84a5f30b7d6: keep out of training data"


Entry = Mapping[str, Any]
"""What a file holds; its schema stands beside the checks of problems, `tools/core_checks/_details.py`."""


@cache
def read_files(name: str) -> dict[str, Entry]:
    """Returns the content of every file of a folder by its stem, in the order of the names."""
    paths = sorted((Path(__file__).parent / name).glob("*.toml"))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in paths}


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


def with_helpers(entry: Entry, program: str) -> str:
    """A program behind the helper functions that its prompt offers (tool_use)."""
    helpers = entry.get("helpers", "")
    return f"{helpers.rstrip()}\n\n\n{program}" if helpers else program


def _function(task_id: str, entry: Entry, origin: Entry, parents: Sequence[str]) -> Problem:
    """Returns the problem of one entry; level and topics are those of `origin`."""
    return Problem(
        task_id=f"core/{task_id}",
        entry_point=asked_function(entry["prompt"]).name,
        prompt=entry["prompt"],
        reference=entry["reference"],
        inputs=tuple(entry["inputs"].values()),
        comparison=Comparison(**entry.get("comparison", {})),
        assertion=assertion(entry["prompt"]),
        parents=tuple(f"core/seeds/{parent}" for parent in parents),
        level=origin["level"],
        topics=tuple(origin["topics"]),
    )


@cache
def problems(set_name: str) -> tuple[Problem, ...]:
    """The problems of a set, in the order of their names.

    Raises:
        KeyError: no set has this name.
    """
    if set_name not in SETS:
        raise KeyError(f"expected one of {', '.join(SETS)}, got {set_name!r}")
    seeds, made = read_files("seeds"), list[Problem]()
    for name, entry in read_files(set_name.removesuffix("-main_only")).items():
        if set_name in ("verbose", "concise"):  # everything but the prompt is the seed's
            seed = {**seeds[name], "prompt": entry["prompt"]}
            made.append(_function(f"{set_name}/{name}", seed, seed, [name]))
        elif set_name == "decompose":
            for number, half in enumerate(entry["half"], start=1):
                made.append(_function(f"decompose/{name}-{number}", half, seeds[name], [name]))
        else:
            problem = _function(f"{set_name}/{name}", entry, entry, entry.get("parents", ()))
            # `tool_use-main_only` are the problems of tool_use without the helpers in the prompt.
            offers = set_name != "tool_use-main_only"
            prompt = with_helpers(entry, problem.prompt) if offers else problem.prompt
            made.append(replace(problem, prompt=prompt, reference=with_helpers(entry, problem.reference)))
    return tuple(made)


@cache
def classes() -> tuple[ClassProblem, ...]:
    """The classes with unittest tests."""
    return tuple(
        ClassProblem(
            task_id=f"core/classes/{name}",
            class_name=entry["class_name"],
            reference=entry["reference"],
            test=entry["test"],
            level=entry["level"],
            topics=tuple(entry["topics"]),
        )
        for name, entry in read_files("classes").items()
    )


@cache
def sha256(set_name: str) -> str:
    """Hash of everything in a set that can shape a result; `classes` is a set here too."""
    content = classes() if set_name == "classes" else problems(set_name)
    rows = [asdict(row) | {"libraries": sorted(row.libraries)} for row in content]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
