"""Programs that continue a prompt: base models, which run on until the limit stops them."""

import ast
import re

from triathlon_runner.extraction._source import defined_names
from triathlon_runner.syntax import Function, parse_or_none

_MAX_FLUSH_LINES = 200
"""Most unindented lines that a function may have within strings and brackets."""
_ENDS_A_BODY = re.compile(r"^[ \t]*(return|yield|raise|pass)\b", re.MULTILINE)


def completed(prompt: str, text: str, entry_point: str) -> tuple[str, list[str]] | None:
    """Prompt and continuation, cut where the continuation leaves the function.

    What follows the function is another example that the model invents, and no part of its answer; a server
    with a fitting stop sequence would have ended the reply there.

    Returns:
        The program and what was changed, or None where the function's end was never reached.
    """
    for joined, change in _joined(prompt, text):
        cut = _cut(joined, len(prompt), entry_point)
        if cut is not None:
            rest = joined[len(cut) :].strip()
            return cut, [*change, *(["cut off what follows the function"] if rest else [])]
    return None


def unfinished(prompt: str, text: str, entry_point: str) -> str | None:
    """Prompt and whole continuation, where together they parse and define the function with a body."""
    for joined, _ in _joined(prompt, text):
        if entry_point in defined_names(joined) and _has_body(joined, entry_point):
            return joined
    return None


def without_docstring(program: str, entry_point: str) -> str:
    """The program without the docstring under the function: it is the prompt's, not the model's."""
    tree = parse_or_none(program)
    lines = program.split("\n")
    for statement in tree.body if tree else []:
        if isinstance(statement, Function) and statement.name == entry_point and _has_docstring(statement):
            first = statement.body[0]
            if first.lineno > statement.lineno and len(statement.body) > 1:
                lines[first.lineno - 1 : first.end_lineno] = []
                break
    return "\n".join(lines).strip("\n")


def _joined(prompt: str, text: str) -> list[tuple[str, list[str]]]:
    """Returns the possible joins of both; the first is as the model wrote it."""
    joined: list[tuple[str, list[str]]] = [(prompt + text, [])]
    stripped = text.lstrip("\n")
    if stripped and not stripped[0].isspace() and _ENDS_A_BODY.search(stripped):
        first, newline, rest = stripped.partition("\n")
        joined.append((f"{prompt}    {first}{newline}{rest}", ["indented the first line"]))
        joined.append((prompt + _indent(stripped), ["indented the body"]))
    return joined


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" if line.strip() else line for line in text.split("\n"))


def _cut(joined: str, asked: int, entry_point: str) -> str | None:
    """The text up to the first unindented line after the function that leaves it complete."""
    position = tries = 0
    for line in joined.splitlines(keepends=True):
        if position >= asked and line.strip() and not line[0].isspace():
            if _is_complete(joined[:position], asked, entry_point):
                return joined[:position].rstrip() + "\n"
            tries += 1
            if tries == _MAX_FLUSH_LINES:
                return None
        position += len(line)
    return None


def _is_complete(program: str, asked: int, entry_point: str) -> bool:
    return bool(program[asked:].strip()) and _has_body(program, entry_point)


def _has_body(program: str, entry_point: str) -> bool:
    """Whether a function of this name has more in it than a docstring."""
    tree = parse_or_none(program)
    return any(
        isinstance(statement, Function)
        and statement.name == entry_point
        and not (len(statement.body) == 1 and _has_docstring(statement))
        for statement in (tree.body if tree else [])
    )


def _has_docstring(function: Function) -> bool:
    first = function.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
