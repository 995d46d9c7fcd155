"""Every single small change of a program: operators, constants, comparisons, removed statements, swaps."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import ndiff
from typing import Any, Final

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
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
}
_OPERATORS: Final[dict[type[ast.operator], tuple[type[ast.operator], ...]]] = {
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
}
_SWAPPED_OPERANDS: Final = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift)
_NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
_COMMUTING: Final = frozenset({"min", "max", "gcd", "lcm"})
_REMOVABLE: Final = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete)


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    """`old line => new line`, with `#2` behind the second of the same name and so on."""
    source: str


@dataclass(frozen=True, slots=True)
class _Edit:
    """One change of the tree: an attribute or a list's item gets another value."""

    owner: Any
    key: str | int
    new: Any

    def swap_in(self) -> Any:
        """Makes the change and returns the replaced value."""
        return _put(self.owner, self.key, self.new)


def _put(owner: Any, key: str | int, value: Any) -> Any:
    if isinstance(key, int):
        old, owner[key] = owner[key], value
    else:
        old = getattr(owner, key)
        setattr(owner, key, value)
    return old


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


def _constants(node: ast.Constant) -> Iterator[_Edit]:
    value = node.value
    if isinstance(value, bool):
        yield _Edit(node, "value", not value)
    elif isinstance(value, int | float):
        yield _Edit(node, "value", value + 1)
        yield _Edit(node, "value", value - 1)
    elif isinstance(value, str):
        yield _Edit(node, "value", "" if value else "x")


def _calls(node: ast.Call) -> Iterator[_Edit]:
    commutes = isinstance(node.func, ast.Name) and node.func.id in _COMMUTING
    if (
        len(node.args) >= 2
        and not commutes
        and not any(isinstance(argument, ast.Starred) for argument in node.args)
    ):
        yield _Edit(node, "args", [node.args[1], node.args[0], *node.args[2:]])
    if isinstance(node.func, ast.Name) and node.func.id in _NAMES:
        yield _Edit(node.func, "id", _NAMES[node.func.id])


def _binary(node: ast.BinOp) -> Iterator[_Edit]:
    for operator in _OPERATORS.get(type(node.op), ()):
        yield _Edit(node, "op", operator())
    if isinstance(node.op, _SWAPPED_OPERANDS):
        yield _Edit(node, "__dict__", {**node.__dict__, "left": node.right, "right": node.left})


def _conditions(node: ast.If | ast.IfExp) -> Iterator[_Edit]:
    yield _Edit(node, "test", ast.Constant(value=True))
    yield _Edit(node, "test", ast.Constant(value=False))


def _operators(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                for new in _COMPARISONS[type(operator)]:
                    yield _Edit(node.ops, index, new())
        case ast.BinOp():
            yield from _binary(node)
        case ast.AugAssign():
            for replacement in _OPERATORS.get(type(node.op), ()):
                yield _Edit(node, "op", replacement())
        case ast.BoolOp():
            yield _Edit(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub()):
            yield _Edit(node, "op", ast.UAdd())


def _edits_of_node(node: ast.AST) -> Iterator[_Edit]:
    """The changes of the node itself, not of its children."""
    yield from _operators(node)
    match node:
        case ast.Constant():
            yield from _constants(node)
        case ast.Call():
            yield from _calls(node)
        case ast.If() | ast.IfExp():
            yield from _conditions(node)
        case ast.comprehension():
            for index in range(len(node.ifs)):
                yield _Edit(node.ifs, index, ast.Constant(value=True))


def _in_bodies(node: ast.AST) -> Iterator[_Edit]:
    """Statements taken out of a body; `break` and `continue` for each other."""
    for field in ("body", "orelse", "finalbody"):
        body = getattr(node, field, None)
        if not isinstance(body, list):
            continue
        for index, statement in enumerate(body):
            if isinstance(statement, _REMOVABLE):
                yield _Edit(body, index, ast.Pass())
            elif isinstance(statement, ast.Break):
                yield _Edit(body, index, ast.Continue())
            elif isinstance(statement, ast.Continue):
                yield _Edit(body, index, ast.Break())


def _negations(node: ast.AST) -> Iterator[_Edit]:
    """`not x` becomes `x`, wherever it stands."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
            yield _Edit(node, field, value.operand)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.Not):
                    yield _Edit(value, index, item.operand)


def _edits(tree: ast.Module) -> Iterator[_Edit]:
    for node in ast.walk(tree):
        yield from _edits_of_node(node)
        yield from _in_bodies(node)
        yield from _negations(node)


def _name(before: str, after: str) -> str:
    changed = [line for line in ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    old = " / ".join(line[1:].strip() for line in changed if line[0] == "-")
    new = " / ".join(line[1:].strip() for line in changed if line[0] == "+")
    return f"{old} => {new}"


def mutants(program: str) -> list[Mutant]:
    """All programs that differ from this one by one small change."""
    tree = _without_docstrings_and_annotations(program)
    before = ast.unparse(ast.fix_missing_locations(tree))
    made: dict[str, str] = {}
    for edit in list(_edits(tree)):
        old = edit.swap_in()
        source = ast.unparse(ast.fix_missing_locations(tree))
        _put(edit.owner, edit.key, old)
        if source == before or source in made.values():
            continue
        name = _name(before, source)
        while name in made:
            stem, _, number = name.partition(" #")
            name = f"{stem} #{int(number or 1) + 1}"
        made[name] = source
    return [Mutant(name, source) for name, source in made.items()]
