"""Reads Python source that others wrote, without executing it and without the interpreter's warnings."""

import ast
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef
_NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
"""What `ast.literal_eval` raises for text that is no literal."""


def parse(program: str) -> ast.Module:
    """The syntax tree of a program.

    Raises:
        SyntaxError: it does not parse.
        ValueError, RecursionError, MemoryError: as Python reports some programs that it cannot parse.
    """
    with warnings.catch_warnings():  # an invalid escape in somebody's string is not our warning
        warnings.simplefilter("ignore")
        return ast.parse(program)


@lru_cache(maxsize=256)
def parse_or_none(program: str) -> ast.Module | None:
    """The syntax tree of a program; None where it does not parse. Cached, so callers must not change it."""
    try:
        return parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of one expression.

    Raises:
        SyntaxError: it does not parse.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def top_functions(program: str) -> list[ast.FunctionDef]:
    """The functions at the top level of a program, in order.

    Raises:
        SyntaxError: it does not parse.
    """
    return [node for node in parse(program).body if isinstance(node, ast.FunctionDef)]


def call_text(function: str, arguments: str) -> str:
    """The call as a reader would write it: `f(1, 'a')` of the source of a tuple, `(1, 'a')`."""
    tree = parse_expression(arguments)
    inside = [ast.unparse(part) for part in tree.elts] if isinstance(tree, ast.Tuple) else [f"*{arguments}"]
    return f"{function}({', '.join(inside)})"


def is_literal(source: str | ast.expr) -> bool:
    """Whether it is a value written out."""
    try:
        ast.literal_eval(source)
    except _NO_LITERAL:
        return False
    return True


def literal_tuple(source: str) -> tuple[Any, ...] | None:
    """The tuple that a text spells; None where it is another expression."""
    try:
        value = ast.literal_eval(source)
    except _NO_LITERAL:
        return None
    return value if isinstance(value, tuple) else None


def imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Every imported name with the module, or the part of it, that it stands for: `("sqrt", "math.sqrt")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def import_statements(program: str) -> list[str]:
    """The imports at the top level of a program, as text; none where it does not parse."""
    tree = parse_or_none(program)
    statements = tree.body if tree else []
    return [ast.unparse(node) for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]


def third_party(*programs: str) -> frozenset[str]:
    """The packages outside the standard library that programs import.

    Raises:
        SyntaxError: a program does not parse.
    """
    packages = {
        module.partition(".")[0]
        for program in programs
        if "import" in program
        for _, module in imported_names(parse(program))
    } - sys.stdlib_module_names
    if "bs4" in packages and any("lxml" in program for program in programs):
        packages.add("lxml")  # bs4 takes its parser by name, not by import
    return frozenset(packages)


def not_installed(packages: frozenset[str]) -> list[str]:
    """The packages of these that are not installed here."""
    return sorted(name for name in packages if importlib.util.find_spec(name) is None)
