"""Texts with masks, and their trees, in which a mask is a name with a number."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.syntax import parse, parse_expression

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
        return ast.unparse(Fill(expressions).visit(read_masked(self.text)))


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


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yields all nodes in the order of the text; `ast.walk` goes level by level."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from in_order(child)


def hole_of(node: ast.AST) -> int | None:
    match = _HOLE.fullmatch(node.id) if isinstance(node, ast.Name) else None
    return int(match[1]) if match else None


def holes_in(node: ast.AST) -> list[int]:
    return [hole for inner in in_order(node) if (hole := hole_of(inner)) is not None]


class Fill(ast.NodeTransformer):
    def __init__(self, fillings: Mapping[int, ast.expr]) -> None:
        self._fillings = fillings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        hole = hole_of(node)
        return node if hole is None else self._fillings[hole]


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
    fillings: dict[int, ast.expr] = {}
    if not match_trees(read_masked(masked), parse(complete), fillings):
        raise InvalidAnswerError("the texts differ in more than the masks")
    return tuple(ast.unparse(fillings[number]) for number in range(len(fillings)))


def match_trees(expected: object, actual: object, fillings: dict[int, ast.expr]) -> bool:
    """Whether two trees are the same but for holes in the first, whose expressions go into `fillings`."""
    if isinstance(expected, ast.AST):
        hole = hole_of(expected)
        if hole is not None and isinstance(actual, ast.expr):
            fillings[hole] = actual
            return True
        return type(expected) is type(actual) and all(
            match_trees(getattr(expected, name, None), getattr(actual, name, None), fillings)
            for name in expected._fields
            if name not in ("ctx", "kind", "type_comment")
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(
            match_trees(*items, fillings) for items in zip(expected, actual, strict=True)
        )
    return expected == actual and type(expected) is type(actual)


def same_trees(left: ast.AST, right: ast.AST) -> bool:
    return ast.dump(left) == ast.dump(right)
