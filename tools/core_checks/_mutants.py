"""Mutants: all programs that differ from a reference by one small change."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import ndiff
from typing import Any, Final

_OPERATORS: Final[dict[type[ast.AST], tuple[type[ast.AST], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.FloorDiv, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.USub: (ast.UAdd,),
}
_SWAPPED_OPERANDS: Final = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift)
_NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
_COMMUTING: Final = frozenset({"min", "max", "gcd", "lcm"})
_STATEMENTS: Final[dict[type[ast.AST], type[ast.stmt]]] = {
    **dict.fromkeys((ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete), ast.Pass),
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}
_Edit = tuple[Any, dict[Any, Any]]
"""One change of a tree: the attributes of a node, or a list of nodes, and the new values by name or index."""


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    """`old line => new line`, with `#2` behind the second of the same name and so on."""
    source: str


def mutants(program: str) -> list[Mutant]:
    """All programs that differ from this one by one small change."""
    tree = _without_docstrings_and_annotations(program)
    before = ast.unparse(ast.fix_missing_locations(tree))
    sources: dict[str, str] = {}
    for owner, new in list(_edits(tree)):
        old = {place: owner[place] for place in new}
        _put(owner, new)
        source = ast.unparse(ast.fix_missing_locations(tree))
        _put(owner, old)
        if source == before or source in sources.values():
            continue
        name = stem = _name(before, source)
        number = 1
        while name in sources:
            number += 1
            name = f"{stem} #{number}"
        sources[name] = source
    return [Mutant(name, source) for name, source in sources.items()]


def _put(owner: Any, values: dict[Any, Any]) -> None:
    for place, value in values.items():
        owner[place] = value


def _without_docstrings_and_annotations(program: str) -> ast.Module:
    """The program without docstrings and annotations: they do nothing, so changing them kills nothing."""
    tree = ast.parse(program)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return tree


def _edits(tree: ast.Module) -> Iterator[_Edit]:
    for node in ast.walk(tree):
        yield from _operators(node)
        yield from _values(node)
        yield from _statements(node)
        yield from _negations(node)


def _operators(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.Compare(ops=operators):
            for index, operator in enumerate(operators):
                yield from ((operators, {index: new()}) for new in _OPERATORS[type(operator)])
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp() | ast.UnaryOp():
            yield from ((vars(node), {"op": new()}) for new in _OPERATORS.get(type(node.op), ()))
    if isinstance(node, ast.BinOp) and isinstance(node.op, _SWAPPED_OPERANDS):
        yield vars(node), {"left": node.right, "right": node.left}


def _values(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.Constant(value=bool() as value):
            yield vars(node), {"value": not value}
        case ast.Constant(value=int() | float() as value):
            yield from ((vars(node), {"value": new}) for new in (value + 1, value - 1))
        case ast.Constant(value=str() as value):
            yield vars(node), {"value": "" if value else "x"}
        case ast.Call(func=function, args=arguments):
            name = function.id if isinstance(function, ast.Name) else ""
            starred = any(isinstance(argument, ast.Starred) for argument in arguments)
            if len(arguments) >= 2 and name not in _COMMUTING and not starred:
                yield vars(node), {"args": [arguments[1], arguments[0], *arguments[2:]]}
            if name in _NAMES:
                yield vars(function), {"id": _NAMES[name]}
        case ast.If() | ast.IfExp():
            yield from ((vars(node), {"test": ast.Constant(value=value)}) for value in (True, False))
        case ast.comprehension(ifs=conditions):
            yield from ((conditions, {index: ast.Constant(value=True)}) for index in range(len(conditions)))


def _statements(node: ast.AST) -> Iterator[_Edit]:
    """Statements taken out of a body; `break` and `continue` for each other."""
    for field in ("body", "orelse", "finalbody"):
        body = getattr(node, field, None)
        for index, statement in enumerate(body if isinstance(body, list) else ()):
            if new := _STATEMENTS.get(type(statement)):
                yield body, {index: new()}


def _negations(node: ast.AST) -> Iterator[_Edit]:
    """`not x` becomes `x`, wherever it stands."""
    for field, value in ast.iter_fields(node):
        owner, items = (
            (value, enumerate(value)) if isinstance(value, list) else (vars(node), [(field, value)])
        )
        for place, item in items:
            if isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.Not):
                yield owner, {place: item.operand}


def _name(before: str, after: str) -> str:
    changed = [line for line in ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    old, new = (" / ".join(line[1:].strip() for line in changed if line[0] == sign) for sign in "-+")
    return f"{old} => {new}"
