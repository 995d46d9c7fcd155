"""What must be true between a problem and the one that it came from."""

import ast
from collections.abc import Iterator

from core_checks import _details
from core_checks._details import CoreProblem
from triathlon_runner.datasets.core import _load


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
