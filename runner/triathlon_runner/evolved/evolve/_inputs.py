"""Test inputs: read from replies, and made by mutating values that are known to work."""

import ast
import math
import random
import re
from collections.abc import Sequence
from typing import Any, Final

from triathlon_runner.datasets import arguments_source
from triathlon_runner.evolved.evolve._draft import UnusableReplyError, parse
from triathlon_runner.replies import code_blocks, visible_text
from triathlon_runner.syntax import literal_tuple

_MAX_LENGTH: Final = 2000
"""Characters of one input; models like to write walls of numbers."""
_LETTERS: Final = "abcxyzABC019 .,-_\n"


def read_inputs(reply: str, entry_point: str, arity: int) -> list[str]:
    """The calls in a reply as sources of argument tuples; lines without a call of this arity are left out."""
    text = visible_text(reply)
    blocks = [block.code for block in code_blocks(text)]
    lines = "\n".join(blocks or [text]).split("\n")
    sources = [source for line in lines if (source := _read(line.strip(), entry_point, arity)) is not None]
    return list(dict.fromkeys(sources))


def _read(line: str, entry_point: str, arity: int) -> str | None:
    line = re.sub(r"^(>>>|[-*]|\d+[.)])\s+", "", line).rstrip(",; ")
    if not line or len(line) > _MAX_LENGTH:
        return None
    try:
        (statement,) = parse(line).body
    except (UnusableReplyError, ValueError):
        return None
    if not isinstance(statement, ast.Expr):
        return None
    node = statement.value
    if isinstance(node, ast.Compare):  # `f(1) == 2`: only the call counts
        node = node.left
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point:
        items: Sequence[ast.expr] = [] if node.keywords else node.args
    elif isinstance(node, ast.Tuple) and len(node.elts) == arity:
        items = node.elts
    else:
        items = [node] if arity == 1 and not isinstance(node, ast.Call | ast.Name) else []
    if len(items) != arity or any(isinstance(item, ast.Starred) for item in items):
        return None
    inside = ", ".join(ast.unparse(item) for item in items)
    return f"({inside},)" if arity == 1 else f"({inside})"


def mutated(inputs: Sequence[str], count: int, seed: str) -> list[str]:
    """At most `count` new inputs of the same types, each one or a few small changes away from a known one.

    Inputs are sources of argument tuples, passed over where they are no literals. Equal seeds, equal inputs.
    """
    rng = random.Random(seed)  # noqa: S311  # no secret
    known = [value for text in inputs if (value := literal_tuple(text))]
    new: dict[str, None] = {}
    for _ in range(20 * count if known else 0):
        arguments = list(rng.choice(known))
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.randrange(len(arguments))
            arguments[place] = mutate(
                arguments[place], rng, [others[place] for others in known if place < len(others)]
            )
        text = arguments_source(tuple(arguments))
        if text not in inputs and len(text) <= _MAX_LENGTH:
            new[text] = None
    return list(new)[:count]


def mutate(value: Any, rng: random.Random, alternatives: Sequence[Any] = ()) -> Any:
    """Plain data of the same type, changed in one place, or one of the alternatives to it."""
    same_type = [alternative for alternative in alternatives if type(alternative) is type(value)]
    if same_type and rng.random() < 0.15:
        return rng.choice(same_type)
    changed = _number(value, rng) if isinstance(value, int | float) else _collection(value, rng)
    return rng.choice(changed) if changed else value


def _number(value: float, rng: random.Random) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    near: float
    other: float
    if isinstance(value, int):
        opposite = -value if value > 0 else abs(value) + 1
        near, other = value + rng.randint(-10, 10), rng.choice((0, 1, 2, 10, 100))
        return [value + 1, value - 1, opposite, value * 2, value // 2, near, other]
    floor = float(math.floor(value)) if math.isfinite(value) else 0.0
    near, other = round(value + rng.uniform(-1, 1), 3), rng.choice((0.0, 0.5, 1.0, 1e-6))
    return [value + 1.0, -value, value / 2, floor, near, other]


def _collection(value: Any, rng: random.Random) -> list[Any]:
    """Changed texts, lists, tuples, sets and maps; none of an empty collection or of another value."""
    if isinstance(value, str):
        at = rng.randrange(len(value) + 1)
        letter = rng.choice(value) if value and rng.random() < 0.7 else rng.choice(_LETTERS)
        front, rest = value[: max(at - 1, 0)], value[max(at, 1) :]
        inserted = value[:at] + letter + value[at:]
        return [
            inserted,
            value + value,
            front + rest,
            value[::-1],
            value.swapcase(),
            front + letter + rest,
            "",
        ]
    if not value or not isinstance(value, list | tuple | set | dict):
        return []
    if isinstance(value, set):
        items = sorted(value, key=repr)
        item = rng.choice(items)
        return [value - {item}, value | {mutate(item, rng, items)}]
    if isinstance(value, dict):
        key = rng.choice(list(value))
        other_item = value | {key: mutate(value[key], rng, list(value.values()))}
        other_key = value | {mutate(key, rng, list(value)): value[key]}
        return [{name: item for name, item in value.items() if name != key}, other_item, other_key]
    at = rng.randrange(len(value))
    before, item, after = list(value[:at]), mutate(value[at], rng, value), list(value[at + 1 :])
    if isinstance(value, tuple):  # keeps its length: it is part of what it means
        return [(*before, item, *after)]
    changed = [*before, item, *after]
    shuffled = rng.sample(value, len(value))
    longer = [[*before, value[at], *value[at:]], [*value, item]]
    return [before + after, *longer, changed, changed, value[::-1], shuffled, []]
