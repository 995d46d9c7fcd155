"""Making the output question of an input: the test's assertions with their expected sides masked."""

import ast
from collections.abc import Iterator
from typing import Final

from triathlon_runner.runtime._claims import SAME, Definitions, claimed, definitions, is_value
from triathlon_runner.runtime._masked import MASK, Masked, read_masked, without_self
from triathlon_runner.syntax import parse, parse_expression

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def statements_text(statements: list[ast.stmt]) -> str:
    """The body of a test method, its assertions without `self.`."""
    return ast.unparse(_copy(statements))


def mask_test(statements: list[ast.stmt]) -> Masked:
    """A test's body with all its assertions masked, save those in loops; an empty text where it has none."""
    body = _copy(statements)
    originals: list[str] = []
    known = definitions(body.body)
    for statement in _straight(body.body):
        _mask_statement(statement, known, originals)
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


def _mask_statement(statement: ast.stmt, known: Definitions, originals: list[str]) -> None:
    """Puts masks into an assertion, and the source of what they replace into `originals`."""

    def mask(expected: ast.expr) -> ast.expr:
        originals.append(ast.unparse(expected))
        return ast.Name(MASK, ast.Load())

    match statement:
        case ast.Assert(ast.Compare(_, [ast.Eq() | ast.Is()], [right]) as compared):
            if is_value(right, known):
                compared.comparators[0] = mask(right)
        case ast.Assert(test):
            left = parse_expression(f"bool({ast.unparse(test)})")
            statement.test = ast.Compare(left, [ast.Eq()], [mask(ast.Constant(True))])
        case ast.Expr(ast.Call(ast.Name(name), [first, second, *_]) as call) if name in SAME:
            # Where neither side is a value, as both call the program, there is nothing to state.
            if is_value(second, known):
                call.args[1] = mask(second)
            elif is_value(first, known):
                call.args[0] = mask(first)
        case ast.Expr(ast.Call() as call) if claim := claimed(call):
            subject, value = claim
            call.func = ast.Name("assertEqual", ast.Load())
            call.args, call.keywords = [subject, mask(value)], []
