"""Texts with masks, and their trees, in which a mask is a name with a number."""

import ast
import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.syntax import parse, parse_expression

Tree = TypeVar("Tree", bound=ast.AST)
MASK: Final = "??"
_HOLE: Final = re.compile(r"HOLE_(\d{1,6})_")
_UNNUMBERED: Final = "HOLE_"


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with masks (`assert f(1) == ??`) and the expressions that were masked (`2`)."""

    text: str
    originals: tuple[str, ...]

    def completed(self, fillings: Mapping[int, ast.expr] | None = None) -> str:
        """The text with its masks filled, by default with the expressions that were masked."""
        expressions = fillings or dict(enumerate(map(parse_expression, self.originals)))
        return ast.unparse(filled(read_masked(self.text), expressions))


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
