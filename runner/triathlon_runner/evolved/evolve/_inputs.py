"""Test inputs: read from replies, and made by mutating values that are known to work."""

import ast
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from triathlon_runner.datasets import arguments_source
from triathlon_runner.evolved.evolve._draft import UnusableReplyError, parse
from triathlon_runner.extraction import code_blocks, visible_text
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
    """New inputs of the same types, each one or a few small changes away from a known one.

    Args:
        inputs: sources of argument tuples; those that are no literals are passed over.
        count: how many are wanted; fewer come back where the changes repeat.
        seed: the same seed gives the same inputs.
    """
    rng = random.Random(seed)  # noqa: S311  # no secret
    known = [value for text in inputs if (value := literal_tuple(text))]
    inputs_by_text: dict[str, None] = {}
    for _ in range(20 * count):
        if not known or len(inputs_by_text) == count:
            break
        arguments = list(rng.choice(known))
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.randrange(len(arguments)) if arguments else 0
            if arguments:
                arguments[place] = mutate(arguments[place], rng, _arguments_at(known, place))
        text = arguments_source(tuple(arguments))
        if text not in inputs and len(text) <= _MAX_LENGTH:
            inputs_by_text[text] = None
    return list(inputs_by_text)


def _arguments_at(known: Sequence[tuple[Any, ...]], place: int) -> list[Any]:
    """The arguments that the known inputs have at this place."""
    return [arguments[place] for arguments in known if place < len(arguments)]


def mutate(value: Any, rng: random.Random, alternatives: Sequence[Any] = ()) -> Any:
    """A value of the same type, changed in one place.

    Args:
        value: plain data.
        rng: decides.
        alternatives: values of the same kind, one of which may be taken instead.
    """
    same_type = [alternative for alternative in alternatives if type(alternative) is type(value)]
    if same_type and rng.random() < 0.15:
        return rng.choice(same_type)
    changes = _CHANGES.get(type(value))
    return rng.choice(list(changes(value, rng)))() if changes is not None else value


def _bool(value: bool, _: random.Random) -> Iterator[Callable[[], Any]]:
    yield lambda: not value


def _int(value: int, rng: random.Random) -> Iterator[Callable[[], Any]]:
    yield lambda: value + 1
    yield lambda: value - 1
    yield lambda: -value if value > 0 else abs(value) + 1
    yield lambda: value * 2
    yield lambda: value // 2
    yield lambda: rng.choice((0, 1, 2, 10, 100))
    yield lambda: value + rng.randint(-10, 10)


def _float(value: float, rng: random.Random) -> Iterator[Callable[[], Any]]:
    yield lambda: value + 1.0
    yield lambda: -value
    yield lambda: value / 2
    yield lambda: float(math.floor(value)) if math.isfinite(value) else 0.0
    yield lambda: rng.choice((0.0, 0.5, 1.0, 1e-6))
    yield lambda: round(value + rng.uniform(-1, 1), 3)


def _str(value: str, rng: random.Random) -> Iterator[Callable[[], Any]]:
    at = rng.randrange(len(value) + 1)
    letter = rng.choice(value) if value and rng.random() < 0.7 else rng.choice(_LETTERS)
    yield lambda: value[:at] + letter + value[at:]
    yield lambda: value + value
    if value:
        yield lambda: value[: at - 1] + value[at:] if at else value[1:]
        yield lambda: value[::-1]
        yield value.swapcase
        yield lambda: value[: at - 1] + letter + value[at:] if at else letter + value[1:]
        yield lambda: ""


def _list(value: list[Any], rng: random.Random) -> Iterator[Callable[[], Any]]:
    at = rng.randrange(len(value)) if value else 0
    if not value:
        yield lambda: value
        return
    yield lambda: [*value[:at], *value[at + 1 :]]
    yield lambda: [*value[:at], value[at], *value[at:]]
    yield lambda: [*value[:at], mutate(value[at], rng, value), *value[at + 1 :]]
    yield lambda: [*value[:at], mutate(value[at], rng, value), *value[at + 1 :]]
    yield lambda: value[::-1]
    yield lambda: rng.sample(value, len(value))
    yield lambda: [*value, mutate(value[at], rng, value)]
    yield lambda: []


def _tuple(value: tuple[Any, ...], rng: random.Random) -> Iterator[Callable[[], Any]]:
    """Tuples keep their length: it is part of what they mean."""
    if not value:
        yield lambda: value
        return
    at = rng.randrange(len(value))
    yield lambda: (*value[:at], mutate(value[at], rng, value), *value[at + 1 :])


def _set(value: set[Any], rng: random.Random) -> Iterator[Callable[[], Any]]:
    items = sorted(value, key=repr)
    if not items:
        yield lambda: value
        return
    item = rng.choice(items)
    yield lambda: value - {item}
    yield lambda: value | {mutate(item, rng, items)}


def _dict(value: dict[Any, Any], rng: random.Random) -> Iterator[Callable[[], Any]]:
    if not value:
        yield lambda: value
        return
    key = rng.choice(list(value))
    yield lambda: {name: item for name, item in value.items() if name != key}
    yield lambda: value | {key: mutate(value[key], rng, list(value.values()))}
    yield lambda: value | {mutate(key, rng, list(value)): value[key]}


_CHANGES: Final[dict[type, Callable[[Any, random.Random], Iterator[Callable[[], Any]]]]] = {
    bool: _bool,
    int: _int,
    float: _float,
    str: _str,
    list: _list,
    tuple: _tuple,
    set: _set,
    dict: _dict,
}
