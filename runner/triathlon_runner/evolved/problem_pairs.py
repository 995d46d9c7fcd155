"""EvoEval's combine_naive: two problems in sequence, B(A(x)), from lists of pairs (EvoEval, section 4.2).

`tools/pair_search` writes the lists: the search takes minutes.
"""

import ast
import hashlib
import json
import textwrap
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from triathlon_runner.datasets import Problem


def problem_hash(problem: Problem) -> str:
    """Short hash of what a pair depends on."""
    parts = (problem.prompt, problem.reference, *problem.inputs[: problem.base_inputs])
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _content(name: str) -> bytes:
    return (files(__package__) / "pairs" / f"{name}.json").read_bytes()


def read_pairs(name: str) -> dict[str, Any]:
    """The file of pairs of `humaneval` or `core`, as `tools/pair_search` wrote it.

    `pairs`: A, B, positions of A's base inputs that are left out; `problems`: hash of each that a pair uses.
    """
    content: dict[str, Any] = json.loads(_content(name))
    return content


def pairs_sha256(name: str, data_sha256: str) -> str:
    """Hash of a data set made of pairs: of the set that they were found in, and of their file."""
    return hashlib.sha256(data_sha256.encode() + _content(name)).hexdigest()


def pair_problems(name: str, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The problems in sequence of `humaneval` or `core`, made of those of the set that they were found in.

    Pairs of a problem that has changed since are not taken.
    """
    known = read_pairs(name)
    current = {p.task_id: p for p in problems if known["problems"].get(p.task_id) == problem_hash(p)}
    return tuple(
        composed(current[first], current[second], frozenset(dropped))
        for first, second, dropped in known["pairs"]
        if first in current and second in current
    )


@cache
def prompt_parts(problem: Problem) -> tuple[ast.FunctionDef, list[str], str]:
    """Returns the function that a prompt asks for, the imports before it, and the helpers and constants.

    Raises:
        ValueError: it is no program with one such function.
    """
    body = ast.parse(problem.prompt).body
    (function,) = [n for n in body if isinstance(n, ast.FunctionDef) and n.name == problem.entry_point]
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [ast.unparse(node) for node in body if node not in [*imports, function]]
    return function, list(map(ast.unparse, imports)), "\n\n\n".join(others)


def composed(first: Problem, second: Problem, dropped: frozenset[int] = frozenset()) -> Problem:
    """The problem whose solution is `second(first(...))`, on the base inputs of `first`.

    `second` has one parameter. `dropped` are positions of inputs after which it must not be called.
    """
    inputs = first.inputs[: first.base_inputs]
    return Problem(
        task_id=f"{first.task_id}+{second.task_id}",
        entry_point=f"{first.entry_point}_then_{second.entry_point}",
        prompt=_prompt(first, second),
        reference=composed_reference(first, second),
        inputs=tuple(text for index, text in enumerate(inputs) if index not in dropped),
        comparison=second.comparison,
        libraries=first.libraries | second.libraries,
        parents=(first.task_id, second.task_id),
        level=max(first.level, second.level) if first.level and second.level else None,
        topics=tuple(dict.fromkeys((*first.topics, *second.topics))),
    )


def _prompt(first: Problem, second: Problem) -> str:
    function, imports, before = prompt_parts(first)
    second_function, second_imports, second_before = prompt_parts(second)
    arguments = ", ".join(parameter.arg for parameter in function.args.args)
    passed_on = second_function.args.args[0].arg
    steps = (
        "Carry out two steps, one after the other, and return what the second step gives.",
        f"Step 1 is what a function {first.entry_point}({arguments}) is described to do:",
        textwrap.indent(ast.get_docstring(function) or "", "    "),
        f"Step 2 takes the result of step 1 as its {passed_on} and is what a function "
        f"{second.entry_point}({passed_on}) is described to do:",
        textwrap.indent(ast.get_docstring(second_function) or "", "    "),
    )
    escaped = "\n\n".join(steps).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    docstring = textwrap.indent(escaped, "    ").lstrip()
    returns = second_function.returns
    arrow = f" -> {ast.unparse(returns)}" if returns else ""
    signature = ", ".join(map(ast.unparse, function.args.args))
    name = f"{first.entry_point}_then_{second.entry_point}"
    text = f'def {name}({signature}){arrow}:\n    """{docstring}\n    """\n'
    parts = ("\n".join(dict.fromkeys((*imports, *second_imports))), before, second_before, text)
    return "\n\n\n".join(filter(None, parts))


def composed_reference(first: Problem, second: Problem) -> str:
    """Each reference in a namespace of its own: many share the names of functions and helpers."""
    return (
        f"first, second = {{'__name__': 'first'}}, {{'__name__': 'second'}}\n"
        f"exec({first.reference!r}, first)\n"
        f"exec({second.reference!r}, second)\n\n\n"
        f"def {first.entry_point}_then_{second.entry_point}(*arguments):\n"
        f"    passed_on = first[{first.entry_point!r}](*arguments)\n"
        f"    return second[{second.entry_point!r}](passed_on)\n"
    )
