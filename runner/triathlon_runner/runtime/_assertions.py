"""Reads the values that an answer states for the masks of a test.

An answer is right if what it states for each mask, in order, is right, in whatever form it states it. So an
answer is read, not executed: what it states is put into the question's own test, and that is executed. Where
a call is masked instead of a value, a call or attribute chain on the test's own names may stand in its place.
"""

import ast
import re
import unittest
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from triathlon_runner.runtime._expressions import (
    InvalidAnswerError,
    is_number,
    names_in,
    reading,
    stated_value,
)
from triathlon_runner.runtime._masked import (
    MASK,
    Definitions,
    Masked,
    argument_values,
    assignment,
    claims,
    filled,
    hole_name,
    hole_of,
    holes_in,
    is_assertion,
    is_value,
    match_trees,
    replaced,
    without_self,
)
from triathlon_runner.syntax import parse

STUB: Final = "STUB_"
"""A call of this name, in a test that is executed, lets the program give one value from there on."""
_MOST_STATEMENTS: Final = 200
"""Of an answer; the longest test has a few dozen."""
_LARGEST_ANSWER: Final = 50_000
"""Parts of an answer's syntax tree with what its names stand for in their places: names of names could double
it without end. An answer of 20,000 characters without names has some 10,000."""


@dataclass(frozen=True, slots=True)
class StubCheck:
    """Beginnings of a test up to a masked call, that show whether an answer's call decides."""

    own: str
    """With a call of `STUB`, then the assertion with the question's own call."""
    answered: str
    """The same with the answer's."""
    same_type: str
    """Asserts that both calls give values of one type, for where the question's own is a variable that was
    computed before, which no stub changes."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The question's own test with what an answer states, and what has to be computed for it first."""

    text: str
    """With a name `HOLE_<n>_` in the place of each value."""
    values: Mapping[str, Any]
    """By that name, what `_expressions.stated_value` reads."""
    stub_checks: tuple[StubCheck, ...] = ()


def fill(question: Masked, answer: str) -> Filled:
    """Returns the question's own test with what an answer states for its masks.

    Raises:
        InvalidAnswerError: the answer does not state what was asked, or says something else.
    """
    with reading(answer):
        body = without_self(_parsed(answer)).body
        if len(body) > _MOST_STATEMENTS:
            raise InvalidAnswerError(f"the answer has {len(body)} statements, more than {_MOST_STATEMENTS}")
        refuse_growth(body, question.known)
        reader = _Reader(question)
        for statement in body:
            reader.read(statement)
        return reader.filled()


def _parsed(answer: str) -> ast.Module:
    """An answer's tree; where a remark stands behind it, that of what stands in front.

    That is all in front of the first blank line, or the first line.
    """
    try:
        return parse(answer)
    except SyntaxError:
        for end in ("\n\n", "\n"):
            front, _, remark = answer.partition(end)
            if not re.search(r"^\s*assert(\b|\w*\()", remark, re.MULTILINE):
                with suppress(SyntaxError):
                    return parse(front)
        raise


def refuse_growth(statements: list[ast.stmt], known: Definitions) -> None:
    """Raises InvalidAnswerError where an answer becomes too large once its names are what they stand for."""
    sizes = {name: sum(1 for _ in ast.walk(value)) for name, value in known.items()}

    def whole_size(statement: ast.stmt) -> int:
        nodes = list(ast.walk(statement))
        names = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        return len(nodes) + sum(sizes.get(name, 0) for name in names)

    for statement in statements:
        if assigned := assignment(statement):
            sizes[assigned[0]] = max(sizes.get(assigned[0], 0), whole_size(statement))
    # Only now, as what an answer states may stand before the names that it uses.
    if sum(map(whole_size, statements)) > _LARGEST_ANSWER:
        raise InvalidAnswerError("the answer is too large with what its names stand for in their places")


def _pair(subject: ast.expr, value: ast.expr, known: Definitions) -> ast.Tuple:
    """A claim in one form: a subject and its value, with names replaced by what they stand for."""
    subject, value = replaced(subject, known), replaced(value, known)
    while isinstance(subject, ast.Call) and ast.unparse(subject.func) == "bool" and len(subject.args) == 1:
        subject = subject.args[0]
    return ast.Tuple([subject, value], ast.Load())


def _claims_in(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields what a statement claims: `result = 3` as `assert result == 3`."""
    if assigned := assignment(statement):
        yield ast.Name(assigned[0], ast.Load()), assigned[1]
    match statement:
        case ast.Assert(part):
            yield from claims(part)
        case ast.Expr(ast.Tuple([subject, value])):
            yield subject, value
        case ast.Expr(part) if is_assertion(part) or isinstance(part, ast.Compare):
            yield from claims(part)


class _Reader:
    """Reads an answer statement by statement."""

    def __init__(self, question: Masked) -> None:
        self._question = question
        self._own: dict[str, ast.expr] = {}
        """Names that the answer itself introduces."""
        self._fillings: dict[int, ast.expr] = {}
        self._further: list[ast.stmt] = []
        self._next = 0
        """The first mask that nothing was stated for yet; what is stated comes in order."""
        template = question.template.body
        self._statements = [statement for statement in template if holes_in(statement)]
        self._expected = [
            (hole, _pair(*claim, question.known)) for hole, part in question.parts for claim in claims(part)
        ]
        self._repeatable = {
            ast.dump(statement) for statement in (*question.before.body, *template) if not holes_in(statement)
        }

    def read(self, statement: ast.stmt) -> None:
        """Takes one statement of the answer.

        Raises:
            InvalidAnswerError: it neither states a value nor belongs to the test.
        """
        if isinstance(statement, ast.Import | ast.ImportFrom) or ast.dump(statement) in self._repeatable:
            return
        if isinstance(statement, ast.AnnAssign) and statement.value is None:
            return  # a remark, such as `Note: 3`
        stated = self._in_statement_of_test(statement) or self._in_claim(statement) or self._alone(statement)
        if stated:
            self._fillings.update(stated)
            self._next = max(stated) + 1
        elif not (self._is_own_name(statement) or self._is_further(statement)):
            raise InvalidAnswerError("the answer makes a statement that the question does not have")

    def _in_statement_of_test(self, statement: ast.stmt) -> Mapping[int, ast.expr] | None:
        """A statement of the test as it stands, with its masks filled."""
        for expected in self._statements:
            if min(holes_in(expected)) >= self._next and (fillings := match_trees(expected, statement)):
                return fillings
        return None

    def _in_claim(self, statement: ast.stmt) -> Mapping[int, ast.expr] | None:
        """Another form of a claim that the test makes; an assignment claims no more than its value.

        `assert result` says of no number which it is, though 1 equals true.
        """
        known = {**self._question.known, **self._own}
        written = set(map(id, ast.walk(statement)))
        made = [(_pair(*claim, known), id(claim[1]) in written) for claim in _claims_in(statement)]
        for hole, expected in self._expected:
            is_open = hole >= self._next and (hole_of(expected.elts[1]) == hole or not assignment(statement))
            originals = self._question.original_trees[hole : hole + 1]
            of_number = any(isinstance(each, ast.Constant) and is_number(each.value) for each in originals)
            fillings = (
                match_trees(expected, actual)
                for actual, is_written in made
                if is_open and (is_written or not of_number)
            )
            if filling := next(filter(None, fillings), None):
                return filling
        return None

    def _alone(self, statement: ast.stmt) -> Mapping[int, ast.expr] | None:
        """The value alone, or the call alone where that is masked."""
        if not isinstance(statement, ast.Expr) or is_assertion(statement.value):
            return None
        question, value = self._question, replaced(statement.value, self._own)
        hole = next((hole for hole, _ in question.parts if hole >= self._next), None)
        if hole is None:
            return None
        is_call = hole in question.masked_calls
        is_stated = question.is_chain(value) if is_call else is_value(value, question.known)
        return {hole: value} if is_stated or self._is_original(hole, value) else None

    def _is_own_name(self, statement: ast.stmt) -> bool:
        """A name that the answer itself introduces."""
        name, value = assignment(statement) or ("", ast.Constant(None))
        if not name or name in self._question.names | self._question.defined:
            return False
        self._own[name] = replaced(value, {**self._question.known, **self._own})
        return True

    def _is_further(self, statement: ast.stmt) -> bool:
        """A further assertion of calls and values, which has to hold after the test."""
        match statement:
            case ast.Assert(part):
                parts = [part]
            case ast.Expr(ast.Call(ast.Name(name)) as call) if is_assertion(call):
                parts = argument_values(call)
                if not hasattr(unittest.TestCase, name):
                    return False
            case _:
                return False
        if not all(self._question.is_reading(replaced(part, self._own)) for part in parts):
            return False
        self._further.append(replaced(statement, self._own))
        return True

    def filled(self) -> Filled:
        """The completed test.

        Raises:
            InvalidAnswerError: a mask has nothing stated for it, or what is stated is not what was asked.
        """
        question = self._question
        in_test = {hole for statement in self._statements for hole in holes_in(statement)}
        if missing := sorted(in_test - self._fillings.keys()):
            raise InvalidAnswerError(f"the answer states nothing for mask {missing[0] + 1} of {len(in_test)}")
        fillings: dict[int, ast.expr] = {}
        values: dict[str, Any] = {}
        chains: list[int] = []
        for hole, stated in sorted(self._fillings.items()):
            filling = replaced(stated, self._own)
            if self._is_original(hole, filling):
                fillings[hole] = question.original_trees[hole]
            elif any(
                hole_of(node) is not None or (isinstance(node, ast.Constant) and node.value == MASK)
                for node in ast.walk(filling)
            ):
                raise InvalidAnswerError("the answer leaves a mask in")
            elif hole not in question.masked_calls:
                fillings[hole] = ast.Name(hole_name(hole), ast.Load())
                values[hole_name(hole)] = self._stated_value(replaced(filling, question.known))
            elif question.is_chain(filling):
                fillings[hole] = filling
                chains.append(hole)
            else:
                raise InvalidAnswerError("a call was masked, and no call on the test's names fills its place")
        text = "\n".join([question.completed(fillings), *map(ast.unparse, self._further)])
        checks = tuple(self._stub_check(hole, fillings) for hole in chains)
        return Filled(text, values, checks)

    def _is_original(self, hole: int, filling: ast.expr) -> bool:
        question = self._question
        if hole >= len(question.original_trees):
            return False
        original, known = question.original_trees[hole], question.known
        return ast.dump(replaced(filling, known)) == ast.dump(replaced(original, known))

    def _stated_value(self, value: ast.expr) -> Any:
        try:
            return stated_value(value)
        except InvalidAnswerError as error:
            if names_in(value) & (self._question.names | self._question.defined):
                why = "the answer reads the value off the program instead of giving it"
                raise InvalidAnswerError(why) from error
            raise

    def _stub_check(self, hole: int, fillings: Mapping[int, ast.expr]) -> StubCheck:
        body, own_call = self._question.template.body, self._question.original_trees[hole]
        index = next(i for i, statement in enumerate(body) if hole in holes_in(statement))
        stubbed = ast.Module([*body[:index], *parse(f"{STUB}()").body, body[index]], [])
        kinds = " is ".join(f"type({ast.unparse(call)})" for call in (own_call, fillings[hole]))
        same_type = ast.Module([*body[:index], *parse(f"assert {kinds}").body], [])
        return StubCheck(
            ast.unparse(filled(stubbed, {**fillings, hole: own_call})),
            ast.unparse(filled(stubbed, fillings)),
            ast.unparse(filled(same_type, fillings)),
        )
