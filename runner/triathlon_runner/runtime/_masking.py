"""Making the output question of an input: the test's assertions with their expected sides masked."""

import ast
from collections.abc import Iterator
from typing import Final

from triathlon_runner.runtime._assertions import MASK, Masked, read_masked, without_self
from triathlon_runner.runtime._fillings import is_plain
from triathlon_runner.syntax import parse, parse_expression

_SAME: Final = {
    "assertEqual", "assertAlmostEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual",
    "assertDictEqual", "assertCountEqual", "assertMultiLineEqual", "assertSequenceEqual", "assertIs",
}  # fmt: skip
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
"""Assertions without an expected side: they are asked as the equality that they claim."""
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def statements_text(statements: list[ast.stmt]) -> str:
    """The body of a test method, its assertions without `self.`."""
    return ast.unparse(_copy(statements))


def mask_test(statements: list[ast.stmt]) -> Masked:
    """A test's body with all its assertions masked, save those in loops; an empty text where it has none."""
    body = _copy(statements)
    originals: list[str] = []
    for statement in _straight(body.body):
        _mask_statement(statement, originals)
    text = ast.unparse(body) if originals else ""
    read_masked(text)
    return Masked(text, tuple(originals))


def _copy(statements: list[ast.stmt]) -> ast.Module:
    return without_self(parse(ast.unparse(ast.Module(statements, []))))


def _straight(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, inner ones too, that are executed once at most."""
    for statement in statements:
        yield statement
        if not isinstance(statement, _LOOPS):
            for field in ("body", "orelse", "finalbody"):
                yield from _straight(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from _straight(handler.body)


def _mask_statement(statement: ast.stmt, originals: list[str]) -> None:
    """Puts masks into an assertion, and the source of what they replace into `originals`."""

    def mask(expected: ast.expr) -> ast.expr:
        originals.append(ast.unparse(expected))
        return ast.Name(MASK, ast.Load())

    match statement:
        case ast.Assert(ast.Compare(_, [ast.Eq() | ast.Is()], [right]) as compared):
            compared.comparators[0] = mask(right)
        case ast.Assert(test):
            left = parse_expression(f"bool({ast.unparse(test)})")
            statement.test = ast.Compare(left, [ast.Eq()], [mask(ast.Constant(True))])
        case ast.Expr(ast.Call(ast.Name(name), [first, second, *_]) as call) if name in _SAME:
            side = 0 if is_plain(first) and not is_plain(second) else 1
            call.args[side] = mask(call.args[side])
        case ast.Expr(ast.Call(ast.Name(name)) as call) if name in _CLAIMS:
            claim, value = _CLAIMS[name]
            claimed = claim.format(*(f"({ast.unparse(part)})" for part in call.args[:2]))
            call.func = ast.Name("assertEqual", ast.Load())
            call.args, call.keywords = [parse_expression(claimed), mask(parse_expression(value))], []
