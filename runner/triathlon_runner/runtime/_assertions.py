"""Assertions with a masked side, and the filling that an answer gives them.

An answer is taken only as a filling: it must repeat the masked text, and what stands in place of `??` must be
an expression that computes with values alone (`_fillings`). Unless it is written out, its value is computed
in a process that does not have the program (`_check.compute_values`), and only that value is put into the
assertion. Where the call of the program itself is masked the filling has to be a reading of the program and
is executed as it stands. So nothing that a model wrote decides what is executed, and an answer that does not
call the program, or reads the value off it, can't be right.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from triathlon_runner.runtime._fillings import (
    InvalidAnswerError,
    Names,
    in_order,
    is_assertion,
    is_plain,
    names_in,
    value_imports,
)
from triathlon_runner.syntax import parse, parse_expression

MASK: Final = "??"
MAX_ANSWER: Final = 20_000
_HOLE: Final = re.compile(r"HOLE_(\d{1,6})_")
_UNNUMBERED: Final = "HOLE_"
_OTHER_STATEMENT: Final = "the answer is another statement than the question's"


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
        expressions = fillings or dict(enumerate(map(parse_expression, self.originals)))
        return ast.unparse(_Fill(expressions).visit(read_masked(self.text)))


def read_masked(text: str) -> ast.Module:
    """The syntax tree, each mask a name `HOLE_<n>_`, numbered in the order of the text.

    Raises:
        SyntaxError: it does not parse.
    """
    tree = parse(text.replace(MASK, _UNNUMBERED))
    holes = 0
    for node in in_order(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.replace(_UNNUMBERED, MASK)
        elif isinstance(node, ast.Name) and node.id == _UNNUMBERED:
            node.id = f"{_UNNUMBERED}{holes}_"
            holes += 1
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
    if len(answer) > MAX_ANSWER:
        raise InvalidAnswerError(f"{len(answer)} characters are no assertion")
    try:
        completed = without_self(parse(answer))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InvalidAnswerError(f"the answer does not parse: {error}") from None
    template = read_masked(masked.text)
    with reading_an_answer():
        fillings = _fillings(template, completed)
        tree = parse(program)
        names = Names.of(template, tree)
        computed = {hole: fillings[hole] for hole in _to_compute(masked, template, fillings, names)}
        placeholders = {hole: ast.Name(f"HOLE_{hole}_", ast.Load()) for hole in computed}
        needs_setup = any(names_in(filling) & names.of_test for filling in computed.values())
        return Filled(
            masked.completed({**fillings, **placeholders}),
            {f"HOLE_{hole}_": ast.unparse(filling) for hole, filling in computed.items()},
            value_imports(tree),
            _setup(template, names) if needs_setup else "",
        )


class _WithoutSelf(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        if of_self and node.attr.startswith("assert"):
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        return node


def without_self(tree: ast.Module) -> ast.Module:
    """Replaces `self.assertEqual` by `assertEqual`, as questions write it; answers may use either."""
    _WithoutSelf().visit(tree)
    return tree


def _fillings(template: ast.Module, completed: ast.Module) -> dict[int, ast.expr]:
    missing = len(template.body) - len(completed.body)
    if missing < 0:
        raise InvalidAnswerError("the answer holds statements that the question does not have")
    # Leading statements that set something up need not be repeated.
    if any(_asserts(statement) for statement in template.body[:missing]):
        raise InvalidAnswerError("the answer leaves an assertion out")
    fillings: dict[int, ast.expr] = {}
    _match(template.body[missing:], completed.body, fillings)
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
            raise InvalidAnswerError(_OTHER_STATEMENT)
        for name in expected._fields:
            if name not in ("ctx", "kind", "type_comment"):
                _match(getattr(expected, name, None), getattr(actual, name, None), fillings)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for expected_item, actual_item in zip(expected, actual, strict=True):
            _match(expected_item, actual_item, fillings)
    elif expected != actual or type(expected) is not type(actual):
        raise InvalidAnswerError(_OTHER_STATEMENT)


def _to_compute(
    masked: Masked, template: ast.Module, fillings: Mapping[int, ast.expr], names: Names
) -> list[int]:
    """Returns the holes whose fillings are to be computed in a process without the program.

    Raises:
        InvalidAnswerError: a filling is not allowed.
    """
    computed: list[int] = []
    for part in (part for statement in template.body for part in _assertion_parts(statement)):
        for hole in (hole for inner in ast.walk(part) if (hole := _hole(inner)) is not None):
            filling = fillings[hole]
            if hole < len(masked.originals) and is_same(filling, masked.originals[hole]):
                continue
            if any(_hole(inner) is not None or _is_mask(inner) for inner in ast.walk(filling)):
                raise InvalidAnswerError("the answer leaves a mask in")
            names.check(filling)
            if not names.reads_program(part):
                if not names.reads_as_filling(filling, truth=_asks_for_truth(part)):
                    raise InvalidAnswerError("the assertion does not call the program")
            elif names.reads_program(filling):
                raise InvalidAnswerError("the answer reads the value off the program instead of giving it")
            elif not is_plain(filling):
                computed.append(hole)
    return computed


def is_same(expression: ast.expr, source: str) -> bool:
    """Whether an expression is the one that a source text spells."""
    return ast.dump(expression) == ast.dump(parse_expression(source))


def _assertion_parts(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement asserts: expressions behind `assert`, and calls such as `assertEqual(…)`."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and is_assertion(node):
            yield node


def _asks_for_truth(part: ast.expr) -> bool:
    return not isinstance(part, ast.Call) or (
        isinstance(part.func, ast.Name) and part.func.id in ("assertTrue", "assertFalse")
    )


def _is_mask(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == MASK


def _setup(template: ast.Module, names: Names) -> str:
    """The test's own assignments that have nothing to do with the program."""
    plain: list[ast.stmt] = [
        statement
        for statement in template.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        and names_in(statement) <= names.plain
    ]
    return ast.unparse(ast.Module(plain, []))
