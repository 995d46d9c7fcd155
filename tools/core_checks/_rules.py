"""What must be true of a problem, and beside those it came from, without running it."""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from core_checks import _details
from core_checks._details import CoreProblem
from triathlon_runner.datasets.core import CANARY, _load

TOPICS: Final = frozenset(
    {
        "strings", "numbers", "lists", "dictionaries", "recursion", "simulation", "parsing", "dates",
        "geometry", "graphs", "state machines", "text layout", "bit work", "probability", "data",
    }
)  # fmt: skip
IMPORTS: Final = frozenset(
    {
        "bisect", "calendar", "collections", "datetime", "fractions", "functools", "heapq", "itertools",
        "math", "re", "string", "typing",
    }
)  # fmt: skip
"""Deterministic parts of the standard library; nothing that reads files, clocks or the network."""
WIDTH: Final = 120
INPUTS: Final = 15
INPUTS_OF_A_HALF: Final = 10
WRONG: Final = 3
EXAMPLES: Final = 2


def imports(program: str) -> set[str]:
    """Top-level names of the modules that a program imports."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").partition(".")[0])
    return modules


def _signature(core: CoreProblem) -> Iterator[str]:
    problem = core.problem
    asked = _load.asked_function(problem.prompt)
    if asked.returns is None or any(argument.annotation is None for argument in asked.args.args):
        yield "every parameter and the result need a type"
    if asked.args.defaults or asked.args.kwonlyargs or asked.args.vararg or asked.args.kwarg:
        yield "parameters are plain positional ones"
    if len(asked.body) != 1:
        yield "the prompt ends with the docstring"
    if len(_load.examples(problem.prompt)) < EXAMPLES:
        yield f"the docstring needs {EXAMPLES} examples"
    yield from (f"line too long: {line}" for line in problem.prompt.splitlines() if len(line) > WIDTH)
    for line in _load.docstring(problem.prompt).splitlines():
        if ">>>" not in line and line.count('"') % 2:
            yield f"a quotation goes on in the next line: {line}"


def _programs(core: CoreProblem) -> Iterator[str]:
    problem = core.problem
    for program in (problem.prompt, problem.reference, *(wrong.code for wrong in core.wrong)):
        strange = imports(program) - IMPORTS
        if strange:
            yield f"imports {sorted(strange)}"
    if _load.asked_function(problem.reference).name != problem.entry_point:
        yield "the reference's last function is not the one that the prompt asks for"


def _amounts(core: CoreProblem) -> Iterator[str]:
    half = core.set_name == "decompose"
    needed = INPUTS_OF_A_HALF if half else INPUTS
    if len(core.problem.inputs) < needed:
        yield f"{len(core.problem.inputs)} inputs, {needed} needed"
    if len(set(core.problem.inputs)) < len(core.problem.inputs):
        yield "an input stands twice"
    if len(core.wrong) < WRONG and not half:
        yield f"{len(core.wrong)} wrong solutions, {WRONG} needed"


def label_findings(level: int | None, topics: Sequence[str], canary: str) -> Iterator[str]:
    """What is wrong with a file's level, topics and canary."""
    if level not in range(1, 6):
        yield f"level {level!r} is not one of 1 to 5"
    if not topics or set(topics) - TOPICS:
        yield f"topics {topics!r} must be some of {sorted(TOPICS)}"
    if canary != CANARY:
        yield "the canary is missing"


def still_findings(core: CoreProblem) -> list[str]:
    """The rules that a problem breaks on paper."""
    problem = core.problem
    labels = label_findings(problem.level, problem.topics, core.canary)
    return [*_signature(core), *_programs(core), *_amounts(core), *labels]


def _words(core: CoreProblem) -> int:
    text = _load.docstring(core.problem.prompt)
    return len(text.partition(">>>")[0].split())


def _reworded(core: CoreProblem, seed: CoreProblem) -> Iterator[str]:
    prompt, old = core.problem.prompt, seed.problem.prompt
    if _details.types(prompt) != _details.types(old) or core.problem.entry_point != seed.problem.entry_point:
        yield "the signature is not the seed's"
    if _load.examples(prompt) != _load.examples(old):
        yield "the examples are not the seed's"
    if core.set_name == "verbose" and _words(core) < 1.5 * _words(seed):
        yield f"{_words(core)} words are hardly more than the seed's {_words(seed)}"
    if core.set_name == "concise" and _words(core) >= _words(seed):
        yield f"{_words(core)} words are no fewer than the seed's {_words(seed)}"


def _helpers(core: CoreProblem) -> Iterator[str]:
    functions = [node for node in ast.parse(core.helpers).body if isinstance(node, ast.FunctionDef)]
    if not functions:
        yield "a tool_use problem offers helpers"
    used = {node.id for node in ast.walk(ast.parse(core.problem.reference)) if isinstance(node, ast.Name)}
    for function in functions:
        if ast.get_docstring(function) is None:
            yield f"the helper {function.name} needs a docstring"
        if function.name not in used:
            yield f"the reference does not use {function.name}"


def family_findings(core: CoreProblem) -> list[str]:
    """The rules of its set that a problem breaks on paper."""
    parents = [_details.detail(parent) for parent in core.problem.parents]
    wanted = {"seeds": 0, "combine": 2}.get(core.set_name, 1)
    if len(parents) != wanted:
        return [f"{len(parents)} parents, {wanted} wanted"]
    findings: list[str] = []
    if core.set_name in ("verbose", "concise"):
        findings += _reworded(core, parents[0])
    if core.set_name == "tool_use":
        findings += _helpers(core)
    return findings
