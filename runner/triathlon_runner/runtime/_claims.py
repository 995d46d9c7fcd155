"""What the assertions of a test claim: pairs of a subject and the value that it is said to have."""

import ast
import builtins
import unittest
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from triathlon_runner.runtime._expressions import InvalidAnswerError, computable, is_plain, names_in
from triathlon_runner.runtime._masked import (
    Masked,
    filled,
    holes_in,
    in_order,
    read_masked,
    replaced,
    without_self,
)
from triathlon_runner.syntax import Function, bound_names, parse, parse_expression

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
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id.startswith("assert")


def argument_values(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call, those with a name too."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def claimed(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """Returns subject and value where no side is the expected one: `1 in x`, True for `assertIn(1, x)`."""
    match call:
        case ast.Call(ast.Name(name), [_, *_] as arguments) if name in _CLAIMS:
            claim, value = _CLAIMS[name]
            if "{1}" not in claim or len(arguments) > 1:
                parts = [f"({ast.unparse(part)})" for part in arguments[:2]]
                return parse_expression(claim.format(*parts)), parse_expression(value)
    return None


def claims(part: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields what an assertion may claim, as pairs (subject, value); an equality is read both ways.

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
_LARGEST_ANSWER: Final = 50_000
"""Parts of an answer's syntax tree with what its names stand for in their places: names of names could double
it without end. An answer of 20,000 characters without names has some 10,000."""


def assignment(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The name and the value of an assignment to one name."""
    match statement:
        case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
            return name, value
    return None


def definitions(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Returns the names to which exactly one statement assigns, each with what it stands for."""
    statements = list(body)
    nodes = [node for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Name)]
    stored = [node.id for node in nodes if isinstance(node.ctx, ast.Store)]
    known: dict[str, ast.expr] = {}
    for name, value in filter(None, map(assignment, statements)):
        if stored.count(name) == 1:
            known[name] = replaced(value, known)
    return known


def refuse_growth(body: Iterable[ast.stmt], known: Definitions) -> None:
    """Raises InvalidAnswerError where an answer becomes too large once its names are what they stand for."""
    sizes = {name: sum(1 for _ in ast.walk(value)) for name, value in known.items()}
    total = 0
    for statement in body:
        nodes = list(ast.walk(statement))
        names = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        size = len(nodes) + sum(sizes.get(name, 0) for name in names)
        total += size
        if assigned := assignment(statement):
            sizes[assigned[0]] = max(sizes.get(assigned[0], 0), size)
    if total > _LARGEST_ANSWER:
        raise InvalidAnswerError("the answer is too large with what its names stand for in their places")


def is_value(expression: ast.expr, known: Definitions) -> bool:
    """Whether an expression of a test is a value, or is computed from values alone."""
    plain = replaced(expression, known)
    try:
        return is_plain(plain) or bool(computable(plain))
    except InvalidAnswerError:
        return False


def assertion_parts(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement asserts: expressions behind `assert`, and calls such as `assertEqual(…)`."""
    for node in in_order(statement):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and is_assertion(node):
            yield node


@dataclass(frozen=True)
class MaskedTest:
    """A test with masks, and the program that it calls: what an answer may say of them."""

    masked: Masked
    program: str
    setup: str = ""
    """What the test's set-up did before."""

    @cached_property
    def template(self) -> ast.Module:
        return read_masked(self.masked.text)

    @cached_property
    def before(self) -> ast.Module:
        """The statements of the set-up."""
        return without_self(parse(self.setup))

    @cached_property
    def known(self) -> dict[str, ast.expr]:
        """Names of the test with what they stand for."""
        return definitions([*self.before.body, *self.template.body])

    @cached_property
    def originals(self) -> list[ast.expr]:
        return list(map(parse_expression, self.masked.originals))

    @cached_property
    def _trees(self) -> list[ast.AST]:
        return [self.template, self.before, *self.originals]

    @cached_property
    def names(self) -> set[str]:
        """The test's own names."""
        return {"self"}.union(*map(names_in, self._trees))

    @cached_property
    def defined(self) -> set[str]:
        """The names that the program defines."""
        return set[str]().union(*map(bound_names, parse(self.program).body))

    @cached_property
    def attributes(self) -> set[str]:
        """The public names of attributes and methods in program and test."""
        nodes = [node for tree in (parse(self.program), *self._trees) for node in ast.walk(tree)]
        names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        names |= {node.name for node in nodes if isinstance(node, Function)}
        return {name for name in names if not name.startswith("_")}

    @cached_property
    def parts(self) -> list[tuple[int, ast.expr]]:
        """The assertions with one mask, by its number."""
        parts = (part for statement in self.template.body for part in assertion_parts(statement))
        return [(holes[0], part) for part in parts if len(holes := holes_in(part)) == 1]

    def masks_call(self, hole: int) -> bool:
        """Whether what the program computes is masked, and the rest of the assertion is written out."""
        if hole >= len(self.originals) or is_value(self.originals[hole], self.known):
            return False
        return any(number == hole and self._is_written_out(part) for number, part in self.parts)

    def _is_written_out(self, part: ast.expr) -> bool:
        rest = filled(part, dict.fromkeys(holes_in(part), ast.Constant(None)))
        sides = argument_values(rest) if isinstance(rest, ast.Call) and is_assertion(rest) else [rest]
        return all(is_value(side, self.known) for side in sides)

    @cached_property
    def masked_calls(self) -> list[int]:
        """The masks in whose places a call stood."""
        return [hole for hole in range(len(self.originals)) if self.masks_call(hole)]

    def is_chain(self, node: ast.expr) -> bool:
        """Whether it is a call or an attribute of the test's own names, with values as arguments."""
        match node:
            case ast.Attribute(owner, name):
                return self._is_attribute(owner, name) and self._is_owner(owner)
            case ast.Call(called):
                values = [replaced(value, self.known) for value in argument_values(node)]
                return all(map(is_plain, values)) and self._is_owner(called)
        return False

    def _is_owner(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.names and self._is_own(node.id)
        return self.is_chain(node)

    def _is_own(self, name: str) -> bool:
        """Whether a name is the test's or the program's, and none of Python or of unittest."""
        foreign = hasattr(builtins, name) or hasattr(unittest.TestCase, name)
        return name in self.defined or (name in self.names and not foreign)

    def _is_attribute(self, owner: ast.expr, name: str) -> bool:
        of_test = isinstance(owner, ast.Name) and owner.id == "self" and hasattr(unittest.TestCase, name)
        return name in self.attributes and not of_test

    def is_reading(self, node: ast.AST) -> bool:
        """Whether a further assertion may hold it: chains, values, and comparisons and lengths of these."""
        match node:
            case ast.Name(name):
                return self._is_own(name)
            case ast.Attribute(owner, name):
                return self._is_attribute(owner, name) and self.is_reading(owner)
            case ast.Call(ast.Name("len" | "bool" | "sorted" | "list" | "isinstance"), parts, []):
                return all(map(self.is_reading, parts))
            case ast.Call(ast.Name() | ast.Attribute() as called):
                return all(map(self.is_reading, [called, *argument_values(node)]))
            case ast.Subscript() | ast.Compare() | ast.UnaryOp(ast.Not()):
                inner = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
                return all(map(self.is_reading, inner))
        return isinstance(node, ast.expr) and is_plain(node)
