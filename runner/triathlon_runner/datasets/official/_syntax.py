"""Reading the syntax of programs that others wrote."""

import ast
import sys
import warnings


def parse(program: str) -> ast.Module:
    """The syntax tree of a foreign program, without the interpreter's remarks on its string escapes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(program)


def third_party(program: str) -> frozenset[str]:
    """Top-level names of imported modules that the standard library does not have."""
    if "import" not in program:
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(parse(program)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names - sys.stdlib_module_names)
