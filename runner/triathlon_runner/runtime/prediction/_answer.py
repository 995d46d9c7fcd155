"""From an answer to the assertion that it completes: the whole assertion, or only what was asked for."""

import ast

from triathlon_runner.runtime._assertions import InvalidAnswerError
from triathlon_runner.runtime._states import TYPOGRAPHIC
from triathlon_runner.runtime.prediction._task import FUNCTION
from triathlon_runner.syntax import parse, parse_expression

_UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)
_MAX_ANSWER = 20_000


def as_output_assertion(answer: str, call: str) -> str:
    """The answer as an assertion: the one that it gives, or one about `call` with the value that it gives.

    Args:
        answer: `assert f(1) == 2`, `f(1) == 2` or `2`.
        call: `f(1)`.

    Raises:
        InvalidAnswerError: the answer is no Python expression or assertion.
    """
    expression = _expression_or_test(answer)
    if isinstance(expression, ast.Compare) and _calls_function(expression.left):
        return f"assert {ast.unparse(expression)}"
    return f"assert {call} == ({ast.unparse(expression)})"


def arguments_call(answer: str, output: str) -> ast.Call:
    """The call whose arguments the answer gives.

    Args:
        answer: `assert f(1) == 2`, `f(1) == 2`, `f(1)` or `1`.
        output: The right side of the assertion that was asked about.

    Raises:
        InvalidAnswerError: the answer holds no call of `f`, or is about another value.
    """
    _refuse_long(answer)
    try:
        expression = _expression_or_test(answer)
    except InvalidAnswerError:
        expression = None  # `1, key=2` is no expression
    if isinstance(expression, ast.Compare) and _calls_function(expression.left):
        if (
            len(expression.ops) != 1
            or not isinstance(expression.ops[0], ast.Eq)
            or not _is_same(expression.comparators[0], output)
        ):
            raise InvalidAnswerError("the answer is another statement than the question's")
        expression = expression.left
    if isinstance(expression, ast.Call) and _calls_function(expression):
        return expression
    return _call_with(answer)


def _call_with(arguments: str) -> ast.Call:
    for text in (arguments, arguments.translate(TYPOGRAPHIC)):
        try:
            call = parse_expression(f"{FUNCTION}({text}\n)")
        except _UNREADABLE:
            continue
        if isinstance(call, ast.Call) and _calls_function(call):
            return call
    raise InvalidAnswerError(f"the answer is neither a call of {FUNCTION!r} nor its arguments")


def _expression_or_test(answer: str) -> ast.expr:
    """The one expression of the answer; of an assertion what it asserts."""
    _refuse_long(answer)
    problem = ""
    for text in (answer, answer.translate(TYPOGRAPHIC)):
        try:
            body = parse(text.strip()).body
        except _UNREADABLE as error:
            problem = problem or f"the answer does not parse: {error}"
            continue
        match body:
            case [ast.Assert(test, None)] | [ast.Expr(test)]:
                return test
        raise InvalidAnswerError("the answer holds statements that the question does not have")
    raise InvalidAnswerError(problem)


def _refuse_long(answer: str) -> None:
    if len(answer) > _MAX_ANSWER:
        raise InvalidAnswerError(f"{len(answer)} characters are no assertion")


def _calls_function(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == FUNCTION


def _is_same(expression: ast.expr, source: str) -> bool:
    return ast.dump(expression) == ast.dump(parse_expression(source))
