"""Finding the statements of a program in text that mixes them with prose."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from triathlon_runner.syntax import parse_or_none

_BEGINS = re.compile(
    r"(def|async|class|import|from|@|if|for|while|try|with)\b|@|[A-Za-z_][\w.\[\]'\", ]*[^=]?=[^=]"
)
_EXAMPLE_BEGINS = re.compile(r"assert\b|[A-Za-z_][\w.]*\(")
_CONTINUES = re.compile(r"\s|$|[)\]}]|(else|elif|except|finally)\b|\"\"\"|'''")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_MAX_ENDS = 20
"""Attempts at letting a statement reach past a line that looks like its end."""
_CODE = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.If,
    ast.For,
    ast.While,
    ast.Try,
    ast.With,
)
"""Statements that prose is not mistaken for: to Python, `Note` alone would be an expression."""
_EXAMPLES = (ast.Assert, ast.Expr)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Statements with no prose between them."""

    code: str
    lead: str
    """The prose in front of it."""


def is_all_code(text: str) -> bool:
    """Whether the whole text is a program: it parses, and none of its statements may be prose."""
    tree = parse_or_none(text)
    return tree is not None and all(
        isinstance(statement, (*_CODE, ast.Assert))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.Constant))
        for statement in tree.body
    )


def chunks_of(text: str, *, examples: bool = False) -> list[Chunk]:
    """The statements in the text, in order, parted where there is prose between them.

    Args:
        text: Code and prose, line by line.
        examples: Whether assertions and calls are statements of the program, too.
    """
    lines = text.split("\n")
    chunks: list[Chunk] = []
    code: list[str] = []
    lead: list[str] = []
    at = 0
    while at < len(lines):
        statement = _statement(lines, at, examples=examples)
        if statement:
            code.append(statement)
        elif lines[at].strip() and not lines[at].startswith("#"):
            if code:
                chunks.append(Chunk("\n".join(code), "\n".join(lead)))
                code, lead = [], []
            lead.append(lines[at])
        at += statement.count("\n") + 1
    return [*chunks, *([Chunk("\n".join(code), "\n".join(lead))] if code else [])]


def _statement(lines: list[str], start: int, *, examples: bool) -> str:
    """The statement that begins on this line, or nothing."""
    if not (_BEGINS.match(lines[start]) or (examples and _EXAMPLE_BEGINS.match(lines[start]))):
        return ""
    kinds = (*_CODE, *_EXAMPLES) if examples else _CODE
    for end in _ends(lines, start):
        code = "\n".join(lines[start:end]).rstrip()
        tree = parse_or_none(code)
        if tree:
            return code if all(isinstance(statement, kinds) for statement in tree.body) else ""
    return ""


def _ends(lines: list[str], start: int) -> Iterator[int]:
    """Where a statement may end: before the next flush line, or further on where something is still open."""
    tries = 0
    for end in range(start + 1, len(lines) + 1):
        if end == len(lines) or not _CONTINUES.match(lines[end]):
            yield end
            tries += 1
            if tries == _MAX_ENDS or not _is_open("\n".join(lines[start:end])):
                return


def _is_open(code: str) -> bool:
    """Whether more may belong to it: a decorator's function, the rest of a string or of a bracket."""
    last = code.rstrip().rsplit("\n", 1)[-1]
    strings = code.count('"""') % 2 or code.count("'''") % 2
    return bool(last.startswith("@") or strings or any(code.count(a) > code.count(b) for a, b in _BRACKETS))
