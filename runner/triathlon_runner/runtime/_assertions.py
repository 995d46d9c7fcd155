"""Assertions with a masked side, and the filling that an answer gives them.

An answer is taken only as a filling: it must repeat the masked text, and what stands in place of `??` must be
an expression that computes with values alone. Unless it is written out, its value is computed in a process
that does not have the program (`_check.compute_values`), and only that value is put into the assertion. Where
the call of the program itself is masked the filling has to be a reading of the program (`_reading`) and is
executed as it stands. So nothing that a model wrote decides what is executed, and an answer that does not
call the program, or reads the value off it, can't be right.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from triathlon_runner.runtime._names import (
    VALUE_FUNCTIONS,
    Names,
    defined_names,
    gives_values,
    in_order,
    is_assertion,
    names_in,
)
from triathlon_runner.runtime._reading import is_plain, is_reading
from triathlon_runner.syntax import imported_names, parse, parse_expression

MASK: Final = "??"
_HOLE: Final = re.compile(r"HOLE_(\d{1,6})_")
_MAX_ANSWER: Final = 20_000

_EXPRESSIONS: Final = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare,
    ast.Subscript, ast.Slice, ast.Attribute, ast.Name, ast.Call, ast.keyword, ast.Starred, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.IfExp, ast.expr_context, ast.operator,
    ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


class InvalidAnswerError(ValueError):
    """The answer does not complete the assertion that was asked; the message says why."""


@contextmanager
def reading_an_answer() -> Iterator[None]:
    """Turns errors of Python's own parser, while an answer is read, into `InvalidAnswerError`.

    Raises:
        InvalidAnswerError: it is nested too deep, or holds a whole number of more than 4,300 digits, which
            Python reads in hexadecimal and does not write.
    """
    try:
        yield
    except InvalidAnswerError:
        raise
    except RecursionError:
        raise InvalidAnswerError("the answer is nested too deep") from None
    except ValueError as error:
        raise InvalidAnswerError(f"the answer is too large: {error}") from None


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with masks (`assert f(1) == ??`) and the expressions that were masked (`2`)."""

    text: str
    originals: tuple[str, ...]

    def completed(self, fillings: Mapping[int, ast.expr] | None = None) -> str:
        """The text with its masks filled, by default with the expressions that were masked."""
        expressions = fillings or {
            number: parse_expression(text) for number, text in enumerate(self.originals)
        }
        return ast.unparse(_Fill(expressions).visit(read_masked(self.text)))


def read_masked(text: str) -> ast.Module:
    """The syntax tree, each mask a name `HOLE_<n>_`.

    Raises:
        SyntaxError: it does not parse.
    """
    numbers = iter(range(len(text)))
    tree = parse(re.sub(re.escape(MASK), lambda _: f"HOLE_{next(numbers)}_", text))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = _HOLE.sub(MASK, node.value)
    order = [hole for node in in_order(tree) if (hole := _hole(node)) is not None]
    renumbered = {old: new for new, old in enumerate(order)}
    for node in ast.walk(tree):
        hole = _hole(node)
        if hole is not None and isinstance(node, ast.Name):
            node.id = f"HOLE_{renumbered[hole]}_"
    return tree


def _hole(node: ast.AST) -> int | None:
    match = _HOLE.fullmatch(node.id) if isinstance(node, ast.Name) else None
    return int(match[1]) if match else None


class _Fill(ast.NodeTransformer):
    def __init__(self, fillings: Mapping[int, ast.expr]) -> None:
        self._fillings = fillings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        hole = _hole(node)
        return node if hole is None else self._fillings[hole]


def originals(masked: str, complete: str) -> tuple[str, ...]:
    """Returns the expressions behind the masks, from the same text without masks.

    Raises:
        InvalidAnswerError: the texts differ in more than the masks.
    """
    fillings = _fillings(read_masked(masked), parse(complete))
    return tuple(ast.unparse(fillings[number]) for number in range(len(fillings)))


@dataclass(frozen=True, slots=True)
class Filled:
    """A completed text, and the expressions whose values have to be computed before it is executed."""

    text: str
    """With a name `HOLE_<n>_` in the place of each value that is computed."""
    computed: Mapping[str, str]
    """By that name, the expression."""
    imports: tuple[tuple[str, str], ...] = ()
    """Names and modules that the expressions may use, as the program imports them."""
    setup: str = ""
    """The statements of the test that give its plain names their values."""


def fill(masked: Masked, answer: str, program: str) -> Filled:
    """Returns the assertion that an answer completes, safe to execute in the sandbox.

    Raises:
        InvalidAnswerError: the answer is no completion of the masked text.
    """
    if len(answer) > _MAX_ANSWER:
        raise InvalidAnswerError(f"{len(answer)} characters are no assertion")
    try:
        completed = _without_self(parse(answer))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InvalidAnswerError(f"the answer does not parse: {error}") from None
    template = read_masked(masked.text)
    with reading_an_answer():
        fillings = _fillings(template, completed)
        tree = parse(program)
        names = Names.of(template, tree)
        computed = _check(masked, template, fillings, names, tree)
        return Filled(
            masked.completed(
                {**fillings, **{hole: ast.Name(f"HOLE_{hole}_", ast.Load()) for hole in computed}}
            ),
            {f"HOLE_{hole}_": ast.unparse(fillings[hole]) for hole in computed},
            tuple((name, module) for name, module in imported_names(tree) if gives_values(module)),
            _setup(template, names)
            if any(_uses_names_of_test(fillings[hole], names) for hole in computed)
            else "",
        )


class _WithoutSelf(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        if of_self and node.attr.startswith("assert"):
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        return node


def _without_self(tree: ast.Module) -> ast.Module:
    """Replaces `self.assertEqual` by `assertEqual`, as questions write it; answers may use either."""
    _WithoutSelf().visit(tree)
    return tree


def without_self(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Replaces `self.assertEqual` by `assertEqual` in the statements of a test."""
    return _without_self(ast.Module(statements, [])).body


def _fillings(template: ast.Module, completed: ast.Module) -> dict[int, ast.expr]:
    template_body = template.body
    missing = len(template_body) - len(completed.body)
    if missing < 0:
        raise InvalidAnswerError("the answer holds statements that the question does not have")
    # Leading statements that set something up need not be repeated.
    if any(_asserts(statement) for statement in template_body[:missing]):
        raise InvalidAnswerError("the answer leaves an assertion out")
    fillings: dict[int, ast.expr] = {}
    for expected, statement in zip(template_body[missing:], completed.body, strict=True):
        _match(expected, statement, fillings)
    return fillings


def _asserts(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Assert)
        or _hole(node) is not None
        or (isinstance(node, ast.Name) and node.id.startswith("assert"))
        for node in ast.walk(statement)
    )


def _match(expected: object, actual: object, fillings: dict[int, ast.expr]) -> None:
    """Walks both trees together and adds the expression at each hole of `expected` to `fillings`."""
    if isinstance(expected, ast.AST):
        hole = _hole(expected)
        if hole is not None and isinstance(actual, ast.expr):
            fillings[hole] = actual
            return
        if type(expected) is not type(actual):
            raise InvalidAnswerError("the answer is another statement than the question's")
        for name in expected._fields:
            if name not in ("ctx", "kind", "type_comment"):
                _match(getattr(expected, name, None), getattr(actual, name, None), fillings)
    elif isinstance(expected, list):
        if not isinstance(actual, list) or len(expected) != len(actual):
            raise InvalidAnswerError("the answer is another statement than the question's")
        for expected_item, actual_item in zip(expected, actual, strict=True):
            _match(expected_item, actual_item, fillings)
    elif expected != actual or type(expected) is not type(actual):
        raise InvalidAnswerError("the answer is another statement than the question's")


def _check(
    masked: Masked,
    template: ast.Module,
    fillings: Mapping[int, ast.expr],
    names: Names,
    program: ast.Module,
) -> list[int]:
    """Returns the holes whose fillings are to be computed in a process without the program.

    Raises:
        InvalidAnswerError: a filling is not allowed.
    """
    computed: list[int] = []
    for statement in template.body:
        for node in ast.walk(statement):
            for part in _assertion_parts(node):
                for hole in (hole for inner in ast.walk(part) if (hole := _hole(inner)) is not None):
                    filling = fillings[hole]
                    if hole < len(masked.originals) and _same(filling, masked.originals[hole]):
                        continue
                    if any(_hole(inner) is not None or _is_mask(inner) for inner in ast.walk(filling)):
                        raise InvalidAnswerError("the answer leaves a mask in")
                    _check_expression(filling, names)
                    if not names.reads_program(part):
                        _check_reading(filling, part, names, program)
                    elif names.reads_program(filling):
                        raise InvalidAnswerError(
                            "the answer reads the value off the program instead of giving it"
                        )
                    elif not is_plain(filling):
                        computed.append(hole)
    return computed


def check_value_expression(expression: ast.expr, program: ast.Module) -> None:
    """Checks that an expression computes with values alone; `lambda` is allowed.

    Raises:
        InvalidAnswerError: it reads the program, or has syntax or names that no value needs.
    """
    parameters = {node.arg for node in ast.walk(expression) if isinstance(node, ast.arg)}
    names = Names(frozenset(defined_names(program)), frozenset(VALUE_FUNCTIONS | parameters))
    _check_expression(expression, names, (*_EXPRESSIONS, ast.Lambda, ast.arguments, ast.arg))
    if names.reads_program(expression):
        raise InvalidAnswerError("the answer calls the program instead of giving a value")


def _same(filling: ast.expr, original: str) -> bool:
    return ast.dump(filling) == ast.dump(parse_expression(original))


def _assertion_parts(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Assert):
        return [node.test]
    return [node] if is_assertion(node) else []


def _check_reading(filling: ast.expr, part: ast.AST, names: Names, program: ast.Module) -> None:
    truth = not isinstance(part, ast.Call) or (
        isinstance(part.func, ast.Name) and part.func.id in ("assertTrue", "assertFalse")
    )
    if not is_reading(filling, program, names.program, names.plain, truth=truth):
        raise InvalidAnswerError("the assertion does not call the program")


def _is_mask(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == MASK


def _check_expression(
    filling: ast.expr, names: Names, allowed: tuple[type[ast.AST], ...] = _EXPRESSIONS
) -> None:
    local = {
        node.id
        for node in ast.walk(filling)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(filling):
        if not isinstance(node, allowed):
            raise InvalidAnswerError(f"{type(node).__name__} has no place in a value")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise InvalidAnswerError(f"the name {node.attr!r} has no place in a value")
        if isinstance(node, ast.Name) and not (node.id in local or names.allows(node.id)):
            raise InvalidAnswerError(f"the name {node.id!r} has no place in a value")


def _uses_names_of_test(filling: ast.expr, names: Names) -> bool:
    return bool(names_in(filling) & (names.plain - VALUE_FUNCTIONS))


def _setup(template: ast.Module, names: Names) -> str:
    """The test's own assignments that have nothing to do with the program."""
    plain: list[ast.stmt] = [
        statement
        for statement in template.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        and names_in(statement) <= names.plain
    ]
    return ast.unparse(ast.Module(plain, []))
