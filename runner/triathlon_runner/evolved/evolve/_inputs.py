"""Test inputs, read from replies."""

import ast
import re
from collections.abc import Sequence
from typing import Final

from triathlon_runner.evolved.evolve._draft import UnusableReplyError, parse
from triathlon_runner.replies import code_blocks, visible_text

_MAX_LENGTH: Final = 2000
"""Characters of one input; models like to write walls of numbers."""


def read_inputs(reply: str, entry_point: str, arity: int) -> list[str]:
    """The calls in a reply as sources of argument tuples; lines without a call of this arity are left out."""
    text = visible_text(reply)
    blocks = [block.code for block in code_blocks(text)]
    lines = "\n".join(blocks or [text]).split("\n")
    sources = [source for line in lines if (source := _read(line.strip(), entry_point, arity)) is not None]
    return list(dict.fromkeys(sources))


def _read(line: str, entry_point: str, arity: int) -> str | None:
    line = re.sub(r"^(>>>|[-*]|\d+[.)])\s+", "", line).rstrip(",; ")
    if not line or len(line) > _MAX_LENGTH:
        return None
    try:
        (statement,) = parse(line).body
    except (UnusableReplyError, ValueError):
        return None
    if not isinstance(statement, ast.Expr):
        return None
    node = statement.value
    if isinstance(node, ast.Compare):  # `f(1) == 2`: only the call counts
        node = node.left
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point:
        items: Sequence[ast.expr] = [] if node.keywords else node.args
    elif isinstance(node, ast.Tuple) and len(node.elts) == arity:
        items = node.elts
    else:
        items = [node] if arity == 1 and not isinstance(node, ast.Call | ast.Name) else []
    if len(items) != arity or any(isinstance(item, ast.Starred) for item in items):
        return None
    inside = ", ".join(ast.unparse(item) for item in items)
    return f"({inside},)" if arity == 1 else f"({inside})"
