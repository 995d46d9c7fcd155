"""Reads YAML files that people write; errors name the line and what to do."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from triathlon_runner.errors import UserError

Place = tuple[int | str, ...]
"""Keys and indices from the top of the file to a value."""

_MOST_VALUES: Final = 100_000
"""Thousands of models. Aliases of aliases can stand for more than any memory holds."""
_PLAIN: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null"))
_TEXT: Final = "tag:yaml.org,2002:str"
_MERGE: Final = "tag:yaml.org,2002:merge"


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A file's values, and the nodes that know their lines."""

    path: Path
    text: str
    root: yaml.Node
    content: Any

    def line(self, place: Sequence[int | str]) -> int:
        """1-based line of the deepest value on the way to `place` that exists in the file."""
        return self._walk(place)[0]

    def existing(self, place: Sequence[int | str]) -> Place:
        """The longest beginning of `place` that exists in the file."""
        return tuple(place[: self._walk(place)[1]])

    def scalars(self) -> Iterator[tuple[Place, yaml.ScalarNode]]:
        """Every text, number and word of the file with its place; keys stand at the place of their values.

        What an alias repeats comes once.
        """
        return ((place, node) for place, node in _nodes(self.root) if isinstance(node, yaml.ScalarNode))

    def _walk(self, place: Sequence[int | str]) -> tuple[int, int]:
        node, line = self.root, self.root.start_mark.line + 1
        for depth, part in enumerate(place):
            if isinstance(node, yaml.MappingNode):
                pairs = [(key, value) for key, value in node.value if key.value == part]
                if not pairs:
                    return line, depth
                line, node = pairs[-1][0].start_mark.line + 1, pairs[-1][1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
                line = node.start_mark.line + 1
            else:
                return line, depth
        return line, len(place)


def read(path: Path) -> YamlFile:
    """Reads a file that has been found to exist.

    A date stays text, so that every value is one that JSON has, too.

    Raises:
        UserError: it cannot be read, is not YAML, repeats a key, or has aliases that contain themselves or
            stand for too much; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"cannot read {str(path)!r}: expected UTF-8 text, got the byte {error.object[error.start]:#04x}"
            f" at position {error.start}; save it as UTF-8"
        ) from None
    except OSError as error:
        raise UserError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    try:
        loader = _Loader(text)
        root = loader.get_single_node() or _nothing()
        _size(root, path, {}, set())
        _check_values(root, path, loader)
        return YamlFile(path, text, root, loader.construct_document(root))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UserError(
            f"{path}, line {line}: expected text, got the control character {chr(error.character)!r};"
            " remove it"
        ) from None
    except yaml.MarkedYAMLError as error:
        raise UserError(_syntax(error, path)) from None
    except RecursionError:
        raise UserError(
            f"{path}: expected lists and mappings a few levels deep, got hundreds of brackets within each"
            " other; mend the file"
        ) from None


def _nothing() -> yaml.Node:
    """What an empty file holds."""
    return yaml.ScalarNode("tag:yaml.org,2002:null", "", yaml.Mark("", 0, 0, 0, None, 0))


class _Loader(yaml.SafeLoader):
    """SafeLoader without dates."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _size(node: yaml.Node, path: Path, sizes: dict[int, int], above: set[int]) -> int:
    """Counts the values of a node, aliases resolved; refuses endless and too many values."""
    where = f"{path}, line {node.start_mark.line + 1}"
    if id(node) in above:
        raise UserError(
            f"{where}: an alias (`*name`) stands inside the very value that it names; write the value out"
        )
    if id(node) not in sizes:
        inside = above | {id(node)}
        sizes[id(node)] = 1 + sum(_size(child, path, sizes, inside) for _, child in _inner(node, ()))
    if sizes[id(node)] > _MOST_VALUES:
        raise UserError(
            f"{where}: expected at most {_MOST_VALUES:,} values, what an alias (`*name`) repeats counted each"
            " time, got more; write fewer"
        )
    return sizes[id(node)]


def _inner(node: yaml.Node, place: Place) -> list[tuple[Place, yaml.Node]]:
    """Keys, values and members of a node; keys stand at the place of their values."""
    if isinstance(node, yaml.MappingNode):
        return [((*place, str(key.value)), part) for key, value in node.value for part in (key, value)]
    if isinstance(node, yaml.SequenceNode):
        return [((*place, index), value) for index, value in enumerate(node.value)]
    return []


def _nodes(root: yaml.Node) -> Iterator[tuple[Place, yaml.Node]]:
    """Every node with its place, in the file's order; what an alias repeats comes once."""
    seen: set[int] = set()
    left: list[tuple[Place, yaml.Node]] = [((), root)]
    while left:
        place, node = left.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield place, node
            left += reversed(_inner(node, place))


def _check_values(root: yaml.Node, path: Path, loader: _Loader) -> None:
    """Refuses what JSON does not have, and keys that stand twice: YAML would silently keep the last."""
    keys: set[int] = set()
    for place, node in _nodes(root):
        if isinstance(node, yaml.MappingNode):
            _check_keys(node, path, place)
            keys |= {id(key) for key, _ in node.value}
        elif isinstance(node, yaml.ScalarNode) and id(node) not in keys:
            _check_scalar(node, _where(path, node, place), loader)


def _where(path: Path, node: yaml.Node, place: Place) -> str:
    key = ".".join(map(str, place))
    return f"{path}, line {node.start_mark.line + 1}" + (f": {key}" if key else "")


def _check_scalar(node: yaml.ScalarNode, where: str, loader: _Loader) -> None:
    if node.tag not in _PLAIN:
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        raise UserError(
            f"{where}: expected text, a number, true, false or null, got a value of the YAML type {kind!r};"
            " write it in quotes"
        )
    try:
        value = loader.construct_object(node)
    except (ValueError, KeyError):  # such as 5,000 digits, or `!!bool 7`
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        got = f"{node.value!r:.40}"
        raise UserError(f"{where}: expected a number, got {got}; write one, or put text in quotes")


def _check_keys(node: yaml.MappingNode, path: Path, place: Place) -> None:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        where, line = _where(path, key, place), key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise UserError(f"{where}: expected text as a key, got a list or mapping")
        if key.tag not in {_TEXT, _MERGE}:
            raise UserError(f"{where}: expected text as a key, got {key.value!r:.40}; put it in quotes")
        if key.value in lines:
            first = lines[key.value]
            again = "stands twice in it" if first == line else f"also stands in line {first}"
            raise UserError(f"{path}, line {line}: key {key.value!r} {again}; keep one")
        lines[key.value] = line


_SYNTAX: Final = (
    ("mapping values are not allowed", "a second ': ' in a line; use quotes or mend the indentation"),
    ("found character '\\t'", "a tab; indent with spaces"),
    ("found undefined alias", "`*` begins an alias of something named with `&`; put the value in quotes"),
    ("found duplicate anchor", "an anchor (`&name`) stands twice; rename one"),
    ("expected a single document", "`---` begins a second document; keep one"),
    ("could not determine a constructor", "a tag (`!name`) that means nothing here; remove it or use quotes"),
    ("found unexpected end of stream", "a quote that is never closed; close it"),
    ("found character", "a character that no value begins with; put the value in quotes"),
    ("expected ',' or", "a bracket that is never closed, or a comma that is missing; add it"),
    ("could not find expected ':'", "a key without ': ' behind it; add it or mend the indentation"),
    ("expected <block end>", "a line whose indentation fits none above; mend it"),
    ("expected '<document start>'", "a line whose indentation fits none above, or an extra bracket; mend it"),
    ("expected the node content", "a bracket that is never closed or opened, or a missing value; mend it"),
    ("found unknown escape character", "a backslash in double quotes; use single quotes"),
    ("sequence entries are not allowed", "a `- ` behind other text; begin a line with it"),
    ("mapping keys are not allowed", "a `? ` behind other text; put the value in quotes"),
    ("for merging", "`<<` in front of something that is no mapping; name one with `*`"),
    ("expected chomping", "text behind `|` or `>`; begin it in the next line"),
)  # fmt: skip
"""Parts of PyYAML's messages and what they mean. The line itself is not shown: it may hold a key."""


def _syntax(error: yaml.MarkedYAMLError, path: Path) -> str:
    mark = error.problem_mark or error.context_mark
    where = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
    message = f"{error.problem or ''} {error.context or ''}"
    not_listed = "something that is not; compare it with an example of the README"
    got = next((words for part, words in _SYNTAX if part in message), not_listed)
    begun = error.context_mark
    since = f" (it begins in line {begun.line + 1})" if mark and begun and begun.line != mark.line else ""
    return f"{where}: expected YAML, got {got}{since}"
