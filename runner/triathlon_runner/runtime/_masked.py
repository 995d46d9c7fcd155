"""Tests with masks: their trees, in which a mask is a name with a number, and what their assertions claim."""

import ast
import builtins
import copy
import re
import unittest
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeGuard, TypeVar

from triathlon_runner.runtime._expressions import InvalidAnswerError, is_plain, names_in, stated_value
from triathlon_runner.syntax import Function, bound_names, parse, parse_expression

Tree = TypeVar("Tree", bound=ast.AST)
MASK: Final = "??"
_HOLE: Final = re.compile(r"HOLE_(\d{1,6})_")
_UNNUMBERED: Final = "HOLE_"


def read_masked(text: str) -> ast.Module:
    """The syntax tree, each mask a name `HOLE_<n>_`, numbered in the order of the text."""
    tree = parse(text.replace(MASK, _UNNUMBERED))
    holes = 0
    for node in in_order(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.replace(_UNNUMBERED, MASK)
        elif isinstance(node, ast.Name) and node.id == _UNNUMBERED:
            node.id = hole_name(holes)
            holes += 1
    return tree


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yields all nodes in the order of the text; `ast.walk` goes level by level."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from in_order(child)


def hole_name(number: int) -> str:
    """The name that stands for a mask, or for a value in a test that is executed."""
    return f"{_UNNUMBERED}{number}_"


def hole_of(node: ast.AST) -> int | None:
    """The number of the mask that a node stands for."""
    match = _HOLE.fullmatch(node.id) if isinstance(node, ast.Name) else None
    return int(match[1]) if match else None


def holes_in(node: ast.AST) -> list[int]:
    """The numbers of the masks in a tree."""
    return [hole for inner in in_order(node) if (hole := hole_of(inner)) is not None]


class _Replace(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._names.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def replaced(tree: Tree, names: Mapping[str, ast.expr]) -> Tree:
    """Returns a tree with expressions in the places of names that are read."""
    changed: Tree = _Replace(names).visit(copy.deepcopy(tree))
    return changed


def filled(tree: Tree, fillings: Mapping[int, ast.expr]) -> Tree:
    """Returns a tree with expressions in the places of its masks."""
    return replaced(tree, {hole_name(number): expression for number, expression in fillings.items()})


def without_self(tree: ast.Module) -> ast.Module:
    """Replaces `self.assertEqual` by `assertEqual`, as questions write it; answers may use either."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name("self"), name)) if name.startswith("assert"):
                node.func = ast.Name(name, ast.Load())
    return tree


def originals(masked: str, complete: str) -> tuple[str, ...]:
    """Returns the expressions behind the masks, from the same text without masks.

    Raises:
        InvalidAnswerError: the texts differ in more than the masks.
    """
    fillings = match_trees(read_masked(masked), parse(complete))
    if fillings is None:
        raise InvalidAnswerError("the texts differ in more than the masks")
    return tuple(ast.unparse(fillings[number]) for number in range(len(fillings)))


def match_trees(expected: ast.AST, actual: ast.AST) -> dict[int, ast.expr] | None:
    """What stands in the places of the masks of one tree in another one; None where they differ otherwise."""
    fillings: dict[int, ast.expr] = {}

    def matches(left: object, right: object) -> bool:
        if isinstance(left, ast.AST):
            hole = hole_of(left)
            if hole is not None and isinstance(right, ast.expr):
                fillings[hole] = right
                return True
            names = [name for name in left._fields if name not in ("ctx", "kind", "type_comment")]
            return type(left) is type(right) and all(
                matches(getattr(left, name, None), getattr(right, name, None)) for name in names
            )
        if isinstance(left, list) and isinstance(right, list):
            return len(left) == len(right) and all(map(matches, left, right))
        return left == right and type(left) is type(right)

    return fillings if matches(expected, actual) else None


# What assertions claim: pairs of a subject and the value that it is said to have

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


def is_assertion(node: ast.AST) -> TypeGuard[ast.Call]:
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

    `part` stands behind `assert`, or is the call of `assertEqual` and its like.
    """
    match part:
        case ast.Compare(left, [ast.Eq() | ast.Is()], [right]):
            yield from ((left, right), (right, left))
        case ast.Call(ast.Name(name), [left, right, *_]) if name in SAME:
            yield from ((left, right), (right, left))
        case ast.Call(ast.Name("assertTrue"), [ast.Compare(_, [ast.Eq() | ast.Is()], [_]) as inner, *_]):
            yield from claims(inner)
    if is_assertion(part):
        claim = claimed(part)
        yield from [claim] if claim else []
    elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
        yield part.operand, ast.Constant(False)
    else:
        yield part, ast.Constant(True)


# Names that stand for what was assigned to them

Definitions = Mapping[str, ast.expr]
"""Names of a test with the expression that each stands for."""


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


def is_value(expression: ast.expr, known: Definitions) -> bool:
    """Whether an expression of a test is a value, or is computed from values alone."""
    try:
        stated_value(replaced(expression, known))
    except InvalidAnswerError:
        return False
    return True


@dataclass(frozen=True)
class Masked:
    """A text with masks (`assert f(1) == ??`) and the expressions that were masked (`2`).

    Where answers are read, also the program that it calls: what an answer may say of both.
    """

    text: str
    originals: tuple[str, ...]
    program: str = ""
    setup: str = ""
    """What the test's set-up did before."""

    def completed(self, fillings: Mapping[int, ast.expr] | None = None) -> str:
        """The text with its masks filled, by default with the expressions that were masked."""
        return ast.unparse(filled(self.template, fillings or dict(enumerate(self.original_trees))))

    @cached_property
    def template(self) -> ast.Module:
        return read_masked(self.text)

    @cached_property
    def before(self) -> ast.Module:
        """The set-up."""
        return without_self(parse(self.setup))

    @cached_property
    def known(self) -> dict[str, ast.expr]:
        """Names of the test with what they stand for."""
        return definitions([*self.before.body, *self.template.body])

    @cached_property
    def original_trees(self) -> list[ast.expr]:
        return list(map(parse_expression, self.originals))

    @cached_property
    def _trees(self) -> list[ast.AST]:
        return [self.template, self.before, *self.original_trees]

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
        names: set[str] = set()
        for node in (node for tree in (parse(self.program), *self._trees) for node in ast.walk(tree)):
            if isinstance(node, ast.Attribute | Function):
                names.add(node.attr if isinstance(node, ast.Attribute) else node.name)
        return {name for name in names if not name.startswith("_")}

    @cached_property
    def parts(self) -> list[tuple[int, ast.expr]]:
        """The assertions with one mask, by its number."""
        parts = [
            node.test if isinstance(node, ast.Assert) else node
            for node in in_order(self.template)
            if isinstance(node, ast.Assert) or is_assertion(node)
        ]
        return [(holes[0], part) for part in parts if len(holes := holes_in(part)) == 1]

    @cached_property
    def masked_calls(self) -> list[int]:
        """The masks of what the program computes, where the rest of the assertion is written out."""
        calls = []
        for hole, part in self.parts:
            if hole >= len(self.original_trees):  # a question file that a user wrote
                continue
            rest = filled(part, {hole: ast.Constant(None)})
            sides = argument_values(rest) if is_assertion(rest) else [rest]
            is_call = not is_value(self.original_trees[hole], self.known)
            if is_call and all(is_value(side, self.known) for side in sides):
                calls.append(hole)
        return list(dict.fromkeys(calls))

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
