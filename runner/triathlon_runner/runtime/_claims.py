"""What assertions claim: pairs of a subject and the value that it is said to have."""

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from triathlon_runner.runtime._expressions import InvalidAnswerError, computable, is_plain
from triathlon_runner.syntax import parse_expression

SAME: Final = frozenset(
    {"assertEqual", "assertAlmostEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual",
     "assertDictEqual", "assertCountEqual", "assertMultiLineEqual", "assertSequenceEqual", "assertIs"}
)  # fmt: skip
"""Assertions of two sides, one of which is the expected one."""
_CLAIMS: Final = {
    "assertTrue": ("bool({0})", "True"), "assertFalse": ("bool({0})", "False"),
    "assertIsNone": ("{0}", "None"), "assertIsNotNone": ("{0} is not None", "True"),
    "assertIn": ("{0} in {1}", "True"), "assertNotIn": ("{0} in {1}", "False"),
    "assertIsInstance": ("isinstance({0}, {1})", "True"),
    "assertNotIsInstance": ("isinstance({0}, {1})", "False"),
    "assertGreater": ("{0} > {1}", "True"), "assertGreaterEqual": ("{0} >= {1}", "True"),
    "assertLess": ("{0} < {1}", "True"), "assertLessEqual": ("{0} <= {1}", "True"),
    "assertNotEqual": ("{0} == {1}", "False"), "assertIsNot": ("{0} is {1}", "False"),
}  # fmt: skip
"""Assertions without an expected side, as the equality that they claim."""


def is_assertion(node: ast.AST) -> bool:
    """Whether it is a call such as `assertEqual(…)`."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("assert")
    )


def claimed(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """Returns subject and value of an assertion without an expected side: `assertIn(1, x)` is `1 in x`, True."""
    match call:
        case ast.Call(ast.Name(name), [_, *_] as arguments) if name in _CLAIMS:
            claim, value = _CLAIMS[name]
            if "{1}" not in claim or len(arguments) > 1:
                parts = [f"({ast.unparse(part)})" for part in arguments[:2]]
                return parse_expression(claim.format(*parts)), parse_expression(value)
    return None


def claims(part: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields what an assertion may claim, as pairs (subject, value); where either may be the value, both ways.

    Args:
        part: what stands behind `assert`, or the call of `assertEqual` and its like.
    """
    match part:
        case ast.Compare(left, [ast.Eq() | ast.Is()], [right]):
            yield from ((left, right), (right, left))
        case ast.Call(ast.Name(name), [left, right, *_]) if name in SAME:
            yield from ((left, right), (right, left))
        case ast.Call(ast.Name("assertTrue"), [ast.Compare(_, [ast.Eq() | ast.Is()], [_]) as inner, *_]):
            yield from claims(inner)
    if is_assertion(part) and isinstance(part, ast.Call):
        claim = claimed(part)
        yield from [claim] if claim else []
    elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
        yield part.operand, ast.Constant(False)
    else:
        yield part, ast.Constant(True)


# Names that stand for what was assigned to them

Definitions = Mapping[str, ast.expr]
"""Names of a test with the expression that each stands for."""
_LARGEST: Final = 2_000
"""Parts of an expression that a name stands for: names of names could double it without end."""


def definitions(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Returns the names to which exactly one statement assigns, each with what it stands for."""
    statements = [node for statement in body for node in ast.walk(statement)]
    stored = [node.id for node in statements if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    known: dict[str, ast.expr] = {}
    for statement in body:
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
                if stored.count(name) == 1:
                    define(known, name, value)
    return known


def define(known: dict[str, ast.expr], name: str, value: ast.expr) -> None:
    """Adds a name, unless what it stands for becomes too large."""
    expression = inlined(value, known)
    if sum(1 for _ in ast.walk(expression)) <= _LARGEST:
        known[name] = expression


class _Inline(ast.NodeTransformer):
    def __init__(self, known: Definitions) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._known.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def inlined(expression: ast.expr, known: Definitions) -> ast.expr:
    """Returns the expression with what its names stand for in their places."""
    changed: ast.expr = _Inline(known).visit(copy.deepcopy(expression))
    return changed


def is_value(expression: ast.expr, known: Definitions) -> bool:
    """Whether an expression of a test is a value, or is computed from values alone."""
    plain = inlined(expression, known)
    try:
        return is_plain(plain) or bool(computable(plain))
    except InvalidAnswerError:
        return False
