"""Reads Python source that others wrote, without executing it and without the interpreter's warnings."""

import ast
import builtins
import importlib.util
import re
import symtable
import sys
import warnings
from functools import lru_cache
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Import = ast.Import | ast.ImportFrom
_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
_MAX_CHILDREN = 200
"""Functions in one scope whose names are looked up: `symtable` reads all of them for each name."""
_NO_PROGRAM = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python raises for text that it cannot parse."""


def parse(program: str) -> ast.Module:
    """The syntax tree of a program.

    Raises:
        SyntaxError: it does not parse.
        ValueError, RecursionError, MemoryError: as Python reports some programs that it cannot parse.
    """
    with warnings.catch_warnings(action="ignore"):  # about an invalid escape in somebody's string
        return ast.parse(program)


@lru_cache(maxsize=256)
def parse_or_none(program: str) -> ast.Module | None:
    """The syntax tree of a program; None where it does not parse. Cached, so callers must not change it."""
    try:
        return parse(program)
    except _NO_PROGRAM:
        return None


def program_lines(program: str) -> list[str]:
    """The lines of a program as Python counts them: not at a form feed, and so not those of `splitlines`."""
    return re.split("\r\n?|\n", program)


def tree_text(program: str) -> str:
    """Returns the syntax tree as text, the same whatever comments and blank lines stand in the program.

    Docstrings are part of it, because a program can read them. The program itself where it does not parse.
    """
    tree = parse_or_none(program)
    try:
        return ast.dump(tree) if tree is not None else program
    except (RecursionError, ValueError):  # too deep, or an integer of more digits than Python prints
        return program


def statements(program: str) -> list[ast.stmt]:
    """The statements at the top level of a program, not to be changed; none where it does not parse."""
    tree = parse_or_none(program)
    return tree.body if tree else []


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of one expression.

    Raises:
        SyntaxError: it does not parse.
    """
    with warnings.catch_warnings(action="ignore"):
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


def argument_tuple(source: str) -> str:
    """Source of the tuple of a call's arguments; the last one may have a comma behind it."""
    arguments = source.strip().removesuffix(",")
    return f"({arguments},)" if arguments else "()"


def is_literal(source: str | ast.expr) -> bool:
    """Whether it is a value written out."""
    try:
        ast.literal_eval(source)
    except (*_NO_PROGRAM, TypeError):
        return False
    return True


def literal_tuple(source: str) -> tuple[Any, ...] | None:
    """The tuple that a text spells; None where it is another expression."""
    try:
        value = ast.literal_eval(source)
    except (*_NO_PROGRAM, TypeError):
        return None
    return value if isinstance(value, tuple) else None


# Imports


def import_statements(program: str) -> list[str]:
    """The imports at the top level of a program, as text; none where it does not parse."""
    return [ast.unparse(node) for node in statements(program) if isinstance(node, _Import)]


def third_party(*programs: str) -> frozenset[str]:
    """The packages outside the standard library that programs import.

    Raises:
        SyntaxError: a program does not parse.
    """
    modules: set[str] = set()
    for node in (node for program in programs if "import" in program for node in ast.walk(parse(program))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module)
    packages = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names
    if "bs4" in packages and any("lxml" in program for program in programs):
        packages.add("lxml")  # bs4 takes its parser by name, not by import
    return frozenset(packages)


def chosen_libraries(program: str) -> frozenset[str]:
    """The libraries that a program may choose to import, beside those that its problem names.

    A program that has the name anywhere may: `import math, numpy as np`, `__import__('numpy')`.
    """
    return frozenset({"numpy"} if "numpy" in program else ())


def not_installed(packages: frozenset[str]) -> list[str]:
    """The packages of these that are not installed here."""
    return sorted(name for name in packages if importlib.util.find_spec(name) is None)


# What a program defines, uses and lacks


def bound_names(statement: ast.stmt) -> set[str]:
    """Names that a top-level statement binds in its module."""
    if isinstance(statement, Function | ast.ClassDef):
        return {statement.name}
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, _Import):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, Function | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def changed_names(statement: ast.stmt) -> set[str]:
    """Names whose value it changes from inside: `memo[0] = 1`, `f.cache = {}`, `setattr(f, "cache", {})`."""
    names: set[str] = set()
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                names.add(root_name(node))
            case ast.Call(func=ast.Name("setattr"), args=[changed, *_]):
                names.add(root_name(changed))
    return names - {""}


def root_name(value: ast.expr) -> str:
    """The name at the front of `name.attribute[0]`, or the name alone; empty where there is none."""
    while isinstance(value, ast.Attribute | ast.Subscript):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def used_names(node: ast.AST) -> set[str]:
    """Every name that is read anywhere inside, or that has to be there for `x += 1` or `del x`."""
    nodes = list(ast.walk(node))
    changed = (inner.target for inner in nodes if isinstance(inner, ast.AugAssign))
    names = (inner for inner in nodes if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store))
    return {name.id for name in (*names, *changed) if isinstance(name, ast.Name)}


def function_values(statement: ast.stmt, name: str) -> list[ast.AST]:
    """What a top-level statement binds the name to and may be a function: `def`, a lambda, `partial(f, 1)`.

    Not what uses the function: `total = 3`, `total = total([1, 2])` and `for total in totals` are none.
    """
    values: list[ast.AST] = []
    for node in [statement] if isinstance(statement, Function | ast.ClassDef) else ast.walk(statement):
        if isinstance(node, Function | ast.ClassDef) and node.name == name:
            values.append(node)
        elif (
            isinstance(node, ast.Assign | ast.AnnAssign) and node.value and _may_be_function(node.value, name)
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                values.append(node.value)
    return values


def _may_be_function(value: ast.expr, name: str) -> bool:
    """Whether it is a lambda, or a name, attribute or call that has no call of `name` in it."""
    called = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)]
    is_result = any(name in (getattr(func, "id", ""), getattr(func, "attr", "")) for func in called)
    is_possible = isinstance(value, ast.Name | ast.Attribute | ast.Call) and not is_result
    return is_possible or isinstance(value, ast.Lambda)


def defined_names(program: str, *, imported: bool = True) -> set[str]:
    """Names that the program binds at its top level; empty where it does not parse."""
    counted = [s for s in statements(program) if imported or not isinstance(s, _Import)]
    return set().union(*map(bound_names, counted))


def function_names(program: str) -> list[str]:
    """Names of its top-level functions, in order, lambdas among them."""
    names: list[str] = []
    for statement in statements(program):
        if isinstance(statement, Function):
            names.append(statement.name)
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
            names += [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return names


def functions_named(program: str, name: str) -> list[Function]:
    """The functions of this name at the top level of a program, in order."""
    return [part for part in statements(program) if isinstance(part, Function) and part.name == name]


def is_bare_constant(statement: ast.stmt) -> bool:
    """Whether it is a constant alone, such as a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def method_of_class(program: str, name: str) -> tuple[ast.ClassDef, str] | None:
    """The class and method to use as a function of this name; None if there is not exactly one.

    A method of the name, else the only public method of the only class of a program without functions; the
    class has to be made without arguments.
    """
    classes = [s for s in statements(program) if isinstance(s, ast.ClassDef)]
    public = {
        kind: [s.name for s in kind.body if isinstance(s, Function) and not s.name.startswith("_")]
        for kind in classes
        if not any(_needs_arguments(s) for s in kind.body if isinstance(s, Function) and s.name == "__init__")
    }
    named = [(kind, name) for kind, methods in public.items() if name in methods]
    if not named and len(classes) == 1 and not function_names(program):
        named = [(kind, methods[0]) for kind, methods in public.items() if len(methods) == 1]
    return named[0] if len(named) == 1 else None


def _needs_arguments(method: Function) -> bool:
    arguments = method.args
    return len(arguments.args) - len(arguments.defaults) > 1 or None in arguments.kw_defaults


def missing_names(program: str) -> set[str]:
    """Global names that the program reads and nothing in it binds; none where it has very many functions."""
    with warnings.catch_warnings(action="ignore"):
        try:
            table = symtable.symtable(program, "<program>", "exec")
        except _NO_PROGRAM:
            return set()
    tables = [table]
    for inner in tables:  # which grows meanwhile, as scopes are nested
        tables += inner.get_children()
    if any(len(inner.get_children()) > _MAX_CHILDREN for inner in tables):
        return set()
    symbols = table.get_symbols()
    bound = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported() or s.is_namespace()}
    read = {s.get_name() for s in symbols if s.is_referenced()}
    for inner in tables[1:]:
        read |= {s.get_name() for s in inner.get_symbols() if s.is_referenced() and s.is_global()}
    return read - bound - _BUILTINS


def lines_of(statement: ast.stmt) -> range:
    """The numbers of the statement's lines, from 1, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    return range(first, (statement.end_lineno or first) + 1)


def has_plain_parameters(function: ast.FunctionDef) -> bool:
    """Whether every parameter of a function can be given by place and by name."""
    arguments = function.args
    return not (arguments.posonlyargs or arguments.vararg or arguments.kwonlyargs or arguments.kwarg)
