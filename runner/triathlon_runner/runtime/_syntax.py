"""Reading programs that others wrote."""

import ast
import importlib.util
import sys
import warnings
from collections.abc import Iterator


def parse(program: str) -> ast.Module:
    """The syntax tree of a foreign program, without the interpreter's remarks on how it is written.

    Raises:
        SyntaxError: it does not parse.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(program)


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of one foreign expression, as quietly.

    Raises:
        SyntaxError: it does not parse.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Every imported name with the module that it comes from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def libraries(*programs: str) -> frozenset[str]:
    """The packages outside the standard library that programs import."""
    packages = {
        module.partition(".")[0] for program in programs for _, module in imported(parse(program))
    } - sys.stdlib_module_names
    if "bs4" in packages and any("lxml" in program for program in programs):
        packages.add("lxml")  # bs4 takes its parser by name, not by import
    return frozenset(packages)


def missing(packages: frozenset[str]) -> list[str]:
    """The packages of these that are not installed here."""
    return sorted(name for name in packages if importlib.util.find_spec(name) is None)
