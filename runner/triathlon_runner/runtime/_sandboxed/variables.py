"""Reads variables of a program that is traced, and executes nothing of the program for that."""

import ast
import inspect
import re
from copy import deepcopy
from functools import cached_property
from types import FunctionType
from typing import Any, cast

from triathlon_runner.runtime._sandboxed.programs import FILE

_ABSENT = object()


def read_watches(tree: ast.Module, watches: dict[int, list[str]]) -> dict[int, dict[str, ast.expr]]:
    """The expressions to read at each line, private names as their class stores them."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    watched = {
        line: {form: ast.parse(form, mode="eval").body for text in texts for form in forms(text)}
        for line, texts in watches.items()
    }
    for line, trees in watched.items():
        around = [node.name for node in classes if node.lineno <= line <= (node.end_lineno or 0)]
        for node in (node for tree in trees.values() for node in ast.walk(tree)):
            if around and isinstance(node, ast.Attribute) and node.attr[:2] == "__" != node.attr[-2:]:
                node.attr = f"_{around[-1].lstrip('_')}{node.attr}"
    return watched


def forms(variable: str) -> list[str]:
    """How a variable may be read: `(a, *b)` is `(a, b)`, each target as it is, or what Python makes of it."""
    return list(dict.fromkeys([re.sub(r"(?:(?<=[(\[])|(?<=, ))\*(?=\w)", "", variable), variable]))


def written(attribute: str, owner: object) -> str:
    """An attribute's name as the program writes it: `__total` for `_Order__total`."""
    for kind in type(owner).__mro__:
        prefix = f"_{kind.__name__.lstrip('_')}"
        if attribute.startswith(f"{prefix}__"):
            return attribute.removeprefix(prefix)
    return attribute


def evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    """Reads a variable: names, attributes, subscripts without calls in them, tuples and lists of these.

    The program's own code is not executed by that: it could change what the program does then.

    Raises:
        LookupError: it has a call, or reading an attribute or an item would be one.
        Exception: whatever reading the value raises.
    """
    match node:
        case ast.Name(name):
            return names[name]
        case ast.Attribute(owner, name):
            return _attribute(evaluate(owner, names), name)
        case ast.Subscript(container, index):
            return _item(evaluate(container, names), evaluate(index, names))
        case ast.Slice(first, end, step):
            return slice(*(part and evaluate(part, names) for part in (first, end, step)))
    if any(isinstance(part, ast.Call | ast.Await | ast.Yield | ast.NamedExpr) for part in ast.walk(node)):
        raise LookupError(ast.unparse(node))
    held = _Held(names)
    tree = ast.fix_missing_locations(ast.Expression(cast(ast.expr, held.generic_visit(deepcopy(node)))))
    return eval(compile(tree, "<watch>", "eval"), held.values)  # noqa: S307 (in the sandbox)


class _Held(ast.NodeTransformer):
    """Puts names in the place of variables and slices in a tuple, a list or a sum, and holds their values."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names
        self.values: dict[str, Any] = {}

    def visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Slice):
            return self.generic_visit(node)
        name = f"v{len(self.values)}"
        self.values[name] = evaluate(node, self._names)
        return ast.Name(name, ast.Load())


def _attribute(owner: Any, name: str) -> Any:
    """An attribute that the program does not compute."""
    found, kind = inspect.getattr_static(owner, name, _ABSENT), type(owner)
    read = [getattr(type(found), "__get__", None), kind.__getattribute__]
    if isinstance(found, property | cached_property):
        read.append(found.fget if isinstance(found, property) else found.func)
    if found is _ABSENT:
        read.append(getattr(kind, "__getattr__", None))
    if any(map(_is_own, read)):
        raise LookupError(name)
    return getattr(owner, name)


def _item(container: Any, index: Any) -> Any:
    """An item that is there, and that the program does not compute."""
    called = (getattr(type(container), "__getitem__", None), type(index).__hash__, type(index).__eq__)
    if any(map(_is_own, called)) or (isinstance(container, dict) and not dict.__contains__(container, index)):
        raise LookupError(type(index))
    return container[index]


def _is_own(function: object) -> bool:
    """Whether a function is the program's."""
    return isinstance(function, FunctionType) and function.__code__.co_filename == FILE
