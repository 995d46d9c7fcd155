"""Reading Python source without running it: what it defines, what it lacks."""

import ast
import builtins
import symtable
import warnings
from collections.abc import Iterator

from triathlon_runner.syntax import Function, parse_or_none

_IMPORTS = ast.Import | ast.ImportFrom
_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


def bound_names(statement: ast.stmt) -> set[str]:
    """Names that a top-level statement binds in its module."""
    if isinstance(statement, Function | ast.ClassDef):
        return {statement.name}
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, _IMPORTS):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, Function | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def changed_roots(statement: ast.stmt) -> set[str]:
    """Names whose value the statement changes from inside: `memo[0] = 1`, `f.cache = {}`."""
    roots: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name):
                roots.add(inner.id)
    return roots


def used_names(node: ast.AST) -> set[str]:
    """Every name that is read anywhere inside."""
    return {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)
    }


def defined_names(code: str, *, imported: bool = True) -> set[str]:
    """Names that the module binds at its top level; empty where it does not parse."""
    tree = parse_or_none(code)
    statements = [s for s in tree.body if imported or not isinstance(s, _IMPORTS)] if tree else []
    return set().union(*(bound_names(statement) for statement in statements))


def functions(code: str) -> list[str]:
    """Names of its top-level functions, in order, lambdas among them."""
    tree = parse_or_none(code)
    return [name for statement in tree.body for name in _function_names(statement)] if tree else []


def method_of_class(code: str, name: str) -> tuple[ast.ClassDef, str] | None:
    """Returns the class and method to use as a function of this name; None if there is not exactly one.

    A method of the name, else the only public method of the only class of a program without functions; the
    class has to be made without arguments.
    """
    tree = parse_or_none(code)
    classes = [s for s in tree.body if isinstance(s, ast.ClassDef)] if tree else []
    public = {
        kind: [s.name for s in kind.body if isinstance(s, Function) and not s.name.startswith("_")]
        for kind in classes
        if _is_made_without_arguments(kind)
    }
    named = [(kind, name) for kind, methods in public.items() if name in methods]
    if not named and len(classes) == 1 and not functions(code):
        named = [(kind, methods[0]) for kind, methods in public.items() if len(methods) == 1]
    return named[0] if len(named) == 1 else None


def missing_names(code: str) -> set[str]:
    """Global names that the program reads and nothing in it binds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = symtable.symtable(code, "<program>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return set()
    tops = {
        s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()
    }
    return set(_global_reads(table)) - tops - _BUILTINS


def segment(code: str, statement: ast.stmt) -> str:
    """The statement's lines, decorators included."""
    first, last = lines_of(statement)
    return "\n".join(code.split("\n")[first - 1 : last])


def lines_of(statement: ast.stmt) -> tuple[int, int]:
    """First and last line of the statement, from 1, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    return first, statement.end_lineno or first


def _is_made_without_arguments(kind: ast.ClassDef) -> bool:
    signatures = [s.args for s in kind.body if isinstance(s, Function) and s.name == "__init__"]
    return not any(
        len(arguments.args) - len(arguments.defaults) > 1 or None in arguments.kw_defaults
        for arguments in signatures
    )


def _function_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, Function):
        return [statement.name]
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []


def _global_reads(table: symtable.SymbolTable) -> Iterator[str]:
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (is_top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global_reads(child)
