"""Making the output question of an input: the test's assertions with their expected sides masked."""

import ast
from collections.abc import Iterator
from typing import Final

from triathlon_runner.runtime._assertions import MASK, Masked, read_masked, without_self
from triathlon_runner.syntax import parse, parse_expression

_SAME: Final = {
    "assertEqual", "assertAlmostEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual",
    "assertDictEqual", "assertCountEqual", "assertMultiLineEqual", "assertSequenceEqual", "assertIs",
}  # fmt: skip
"""Assertions of two sides, one of which is the expected one."""
_CLAIMS: Final = {
    "assertTrue": "bool({0})", "assertFalse": "bool({0})", "assertIsNone": "{0}",
    "assertIsNotNone": "{0} is not None", "assertIn": "{0} in {1}", "assertNotIn": "{0} in {1}",
    "assertIsInstance": "isinstance({0}, {1})", "assertNotIsInstance": "isinstance({0}, {1})",
    "assertGreater": "{0} > {1}", "assertGreaterEqual": "{0} >= {1}", "assertLess": "{0} < {1}",
    "assertLessEqual": "{0} <= {1}", "assertNotEqual": "{0} == {1}", "assertIsNot": "{0} is {1}",
}  # fmt: skip
"""Assertions without an expected side: they are asked as the equality that they claim."""
_CLAIMED: Final = {"assertFalse": "False", "assertNotIn": "False", "assertNotIsInstance": "False",
                   "assertNotEqual": "False", "assertIsNot": "False", "assertIsNone": "None"}  # fmt: skip
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def mask_call(call: str, result: str) -> Masked:
    """`assert f(1, 'a') == ??`."""
    return Masked(f"assert {call} == {MASK}", (result,))


def statements_text(statements: list[ast.stmt]) -> str:
    """The body of a test method, its assertions without `self.`."""
    return ast.unparse(ast.Module(without_self(_copy(statements)), []))


def mask_test(statements: list[ast.stmt]) -> Masked | None:
    """A test's body with all its assertions masked, save those in loops; None where it has none."""
    body = without_self(_copy(statements))
    taken: list[str] = []
    for statement in _straight(body):
        _mask_statement(statement, taken)
    if not taken:
        return None
    text = ast.unparse(ast.Module(body, []))
    for number in range(len(taken)):
        text = text.replace(f"HOLE_{number}_", MASK)
    read_masked(text)
    return Masked(text, tuple(taken))


def _copy(statements: list[ast.stmt]) -> list[ast.stmt]:
    return parse(ast.unparse(ast.Module(statements, []))).body


def _straight(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, inner ones too, that are executed once at most."""
    for statement in statements:
        yield statement
        if not isinstance(statement, _LOOPS):
            for field in ("body", "orelse", "finalbody"):
                yield from _straight(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from _straight(handler.body)


def _mask_statement(statement: ast.stmt, taken: list[str]) -> None:
    if isinstance(statement, ast.Assert):
        test = statement.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is)):
            test.comparators[0] = _hole(test.comparators[0], taken)
        else:
            statement.test = _equality(f"bool({ast.unparse(test)})", "True", taken)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        _mask_call(statement.value, taken)


def _mask_call(call: ast.Call, taken: list[str]) -> None:
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name in _SAME and len(call.args) >= 2:
        side = 0 if _is_value(call.args[0]) and not _is_value(call.args[1]) else 1
        call.args[side] = _hole(call.args[side], taken)
    elif name in _CLAIMS:
        claim = _CLAIMS[name].format(*(f"({ast.unparse(part)})" for part in call.args[:2]))
        compared = _equality(claim, _CLAIMED.get(name, "True"), taken)
        call.func = ast.Name("assertEqual", ast.Load())
        call.args, call.keywords = [compared.left, compared.comparators[0]], []


def _equality(claim: str, value: str, taken: list[str]) -> ast.Compare:
    left = parse_expression(claim)
    return ast.Compare(left, [ast.Eq()], [_hole(parse_expression(value), taken)])


def _hole(masked: ast.expr, taken: list[str]) -> ast.Name:
    taken.append(ast.unparse(masked))
    return ast.Name(f"HOLE_{len(taken) - 1}_", ast.Load())


def _is_value(node: ast.expr) -> bool:
    """Whether an expression is a value written out."""
    plain = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.expr_context, ast.unaryop)
    return all(isinstance(part, plain) for part in ast.walk(node))
