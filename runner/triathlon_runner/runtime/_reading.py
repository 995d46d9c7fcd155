"""Which expressions read the program: what may fill a mask that stands for the call of the program itself.

`assertTrue(??)`, `assertEqual(50, ??)`: DREval masks 51 such places. The rule is a grammar, so that
`1 == 1`, which holds for every program, cannot fill one:

    filling  = reading | not filling | reading == value | value == reading | (the same with `is`)
    reading  = a name of the test or the program, and at least one .attribute, [value] or (arguments)
             | len(reading), bool(reading), round(reading, value) and their like
    argument = value | name | reading

Only functions and methods that the program defines are called, nothing of unittest. Where the filling's truth
is asserted it is such a call or a comparison: a method that is not called, or an object, is always true.
"""

import ast
import unittest
from collections.abc import Set
from dataclasses import dataclass
from typing import Final

_WRAPPERS: Final = frozenset(
    {"len", "bool", "abs", "round", "int", "float", "sum", "list", "tuple", "set", "sorted"}
)
_PLAIN: Final = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.expr_context, ast.USub, ast.UAdd,
)  # fmt: skip


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is a value written out: constants, signs, and collections of these."""
    return all(isinstance(part, _PLAIN) for part in ast.walk(node))


def is_reading(
    filling: ast.expr, program: ast.Module, from_program: Set[str], plain: Set[str], *, truth: bool
) -> bool:
    """Whether a filling follows the grammar above.

    Args:
        filling: What stands in place of the mask.
        program: What is tested.
        from_program: Names that the program defines, or that hold something that it made.
        plain: Other names that the test knows.
        truth: Whether the assertion asks only for the filling's truth.
    """
    functions = {
        node.name for node in ast.walk(program) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    classes = {node.name for node in ast.walk(program) if isinstance(node, ast.ClassDef)}
    return _Grammar(from_program, plain, frozenset(functions), frozenset(classes)).filling(
        filling, truth=truth
    )


@dataclass(frozen=True, slots=True)
class _Grammar:
    from_program: Set[str]
    plain: Set[str]
    functions: Set[str]
    classes: Set[str]

    def filling(self, node: ast.expr, *, truth: bool) -> bool:
        match node:
            case ast.UnaryOp(ast.Not(), inner):
                return self.filling(inner, truth=True)
            case ast.Compare(left, [ast.Eq() | ast.Is()], [right]):
                return any(
                    self.reading(side) and is_plain(opposite)
                    for side, opposite in ((left, right), (right, left))
                )
        return self.reading(node) and (not truth or self._is_call_that_decides(node))

    def reading(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(ast.Name(name), [inner, *more], []) if name in _WRAPPERS - self.from_program:
                return self.reading(inner) and all(map(is_plain, more))
            case ast.Attribute() | ast.Subscript() | ast.Call():
                return self._chain(node)
        return False

    def _is_call_that_decides(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(ast.Name("bool"), [inner], []):
                return self._is_call_that_decides(inner)
            case ast.Call(ast.Name(name)):
                return name in _WRAPPERS | self.functions
            case ast.Call(ast.Attribute(attr=name)):
                return name in self.functions
        return False

    def _chain(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(name):
                return name in self.from_program
            case ast.Attribute(ast.Name("self"), name):
                return not hasattr(unittest.TestCase, name)
            case ast.Attribute(owner):
                return self._chain(owner)
            case ast.Subscript(owner, key):
                return self._chain(owner) and self._argument(key)
            case ast.Call(called):
                made = getattr(called, "attr", None) or getattr(called, "id", "")
                arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
                return (
                    made in self.functions | self.classes
                    and self._chain(called)
                    and all(map(self._argument, arguments))
                )
        return False

    def _argument(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.from_program or node.id in self.plain
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in self.plain
        ):
            return True
        return is_plain(node) or self.reading(node)
