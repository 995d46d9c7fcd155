"""Reads YAML files that people write into pydantic models; errors name line, key, what was expected and came.

No message shows a line of the file or a value that may be a key.
"""

import difflib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import clean, in_words

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[int | str, ...]
"""Keys and indices from the top of the file to a value."""

_MOST_VALUES: Final = 100_000
"""Thousands of models. Aliases of aliases can stand for more than any memory holds."""
_TAG: Final = "tag:yaml.org,2002:"
_PLAIN: Final = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null", "seq", "map"))
"""Tags of values that JSON has."""
_MAY_BE_SECRET: Final = re.compile(
    r"key|token(?!s)|secret|auth|cookie|passw|credential|header|env|url", re.IGNORECASE
)
"""Names whose values are never shown, whatever is wrong with them."""


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A file's values, and the nodes that know their lines."""

    path: Path
    text: str
    root: yaml.Node
    content: Any

    def existing(self, place: Sequence[int | str]) -> tuple[int, Place]:
        """1-based line and place of a value, without the parts of `place` that the file does not have."""
        node, mark, found = self.root, self.root.start_mark, list[int | str]()
        for part in place:
            for name, key, value in _children(node):
                if name == part:
                    node, mark = value, key.start_mark
                    found.append(part)
                    break
        return mark.line + 1, tuple(found)

    def scalars(self) -> Iterator[yaml.ScalarNode]:
        """Every text, number and word of the file, keys too; what an alias repeats comes once."""
        seen: set[int] = set()
        left = [self.root]
        while left:
            node = left.pop()
            if id(node) not in seen:
                seen.add(id(node))
                left += [part for _, key, value in _children(node) for part in (key, value)]
                if isinstance(node, yaml.ScalarNode):
                    yield node


def _children(node: yaml.Node) -> list[tuple[int | str, yaml.Node, yaml.Node]]:
    """Name, node with the line, and value of everything in a mapping or list."""
    if isinstance(node, yaml.MappingNode):
        return [(str(key.value), key, value) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [(index, value, value) for index, value in enumerate(node.value)]
    return []


class _Loader(yaml.SafeLoader):
    """Makes only values that JSON has, too: dates stay text, other tags are refused, and so are twin keys."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag not in _PLAIN:
            kind = node.tag.removeprefix(_TAG)
            raise _fault(node, f"expected a value that JSON has, too, got {kind!r}; put it in quotes")
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, int | float) and re.match("[-+]?0[0-7_]|.*:", node.value):
                value = node.value  # which YAML 1.1 reads to base 8 or 60: 0100 as 64, 12:30 as 750
        except (ValueError, LookupError):  # such as 5,000 digits, `!!bool 7` or `!!int ''`
            value = math.nan
        if isinstance(value, float) and not math.isfinite(value):
            raise _fault(node, f"expected a finite number, got {node.value!r:.40}; put text in quotes")
        return clean(value) if isinstance(value, str) else value  # JSON writes an emoji as two escapes

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """As PyYAML's; a key that stands twice is refused here, before merged mappings are put in."""
        mapping = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in mapping.value:
            if key.tag not in {f"{_TAG}str", f"{_TAG}merge"} or not isinstance(key, yaml.ScalarNode):
                got = f"{key.value!r:.40}" if isinstance(key, yaml.ScalarNode) else "a list or mapping"
                raise _fault(key, f"expected text as a key, got {got}; put it in quotes")
            if key.value in lines:
                twin = f"{key.value!r} also stands in line {lines[key.value]}"
                raise _fault(key, f"expected each key once, but {twin}")
            lines[key.value] = key.start_mark.line + 1
        return mapping


def _fault(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Returns how many values a node stands for, what aliases repeat counted each time."""
    if id(node) not in sizes:
        sizes[id(node)] = _MOST_VALUES + 1  # what an alias inside its own value stands for
        sizes[id(node)] = 1 + sum(_size(value, sizes) for _, _, value in _children(node))
    return sizes[id(node)]


def read(path: Path) -> YamlFile:
    """Reads a file that has been found to exist.

    Raises:
        UserError: it cannot be read, is not YAML, repeats a key, holds a value that JSON does not have, or
            has aliases that contain themselves or stand for too much; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        loader = _Loader(text)
        nothing = yaml.ScalarNode(f"{_TAG}null", "", yaml.Mark("", 0, 0, 0, None, 0))
        root = loader.get_single_node() or nothing
        if _size(root, {}) > _MOST_VALUES:
            raise _fault(root, f"expected at most {_MOST_VALUES:,} values, those of aliases included")
        return YamlFile(path, text, root, loader.construct_document(root))
    except yaml.MarkedYAMLError as error:
        mark, problem = error.problem_mark or error.context_mark, error.problem
        if not isinstance(error, yaml.constructor.ConstructorError):
            # without what PyYAML quotes of the file, which may be a key
            said = " ".join(filter(None, (error.context, problem)))
            problem = re.sub(r""" (['"])(?!<).{3,}\1""", "", f"{said}; fix indentation and quotes")
        raise UserError(f"{path}, line {mark.line + 1 if mark else 1}: {problem}") from None
    except yaml.reader.ReaderError as error:
        number = text.count("\n", 0, error.position) + 1
        raise UserError(f"{path}, line {number}: expected text, got {chr(error.character)!r}") from None
    except OSError as error:
        raise UserError(f"cannot read {str(path)!r}: {error.strerror}; name another file") from None
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read {str(path)!r}: expected UTF-8, got {error}; save it so") from None
    except RecursionError:
        message = "expected lists and mappings a few levels deep, got hundreds; remove what is not needed"
        raise UserError(f"{path}: {message}") from None


def matching(pattern: str, expected: str) -> Callable[[str], str]:
    """A validator of texts that have a form, whose error says the form in words."""
    form = re.compile(pattern)

    def check(value: str) -> str:
        if not form.fullmatch(value):
            raise ValueError(f"expected {expected}, got {value!r:.80}")
        return value

    return check


def id_form(most: int, example: str) -> AfterValidator:
    """Validator of ids that may name a folder."""
    expected = f"an id of at most {most} lower-case letters, digits, '.', '_' and '-', such as {example!r}"
    return AfterValidator(matching(rf"[a-z0-9][a-z0-9._-]{{0,{most - 1}}}", expected))


def misplaced(place: Place, message: str) -> PydanticCustomError:
    """The error of a validator about one place of the whole file."""
    return PydanticCustomError("misplaced", "{message}", {"message": message, "place": place})


def validated(file: YamlFile, model: type[Model]) -> Model:
    """The file's content as `model`.

    Raises:
        UserError: a line for each fault, in the file's order; several faults of one value are one line.
    """
    try:
        return model.model_validate(file.content)
    except ValidationError as error:
        faults: dict[tuple[int, str], list[str]] = {}
        values: dict[tuple[int, str], str] = {}
        for fault in error.errors():
            if fault["type"] == "default_factory_not_called":
                continue  # a value that another one follows from, whose fault is in this list
            line, place = file.existing(fault.get("ctx", {}).get("place", fault["loc"]))
            if fault["type"] == "missing":
                place = (*place, fault["loc"][-1])
            key = (line, ".".join(map(str, place)) or "the file")
            faults.setdefault(key, []).append(fault_in_words(fault, model))
            values[key] = _got(fault, place)
    raise UserError(
        "\n".join(
            f"{file.path}, line {line}: {place}: {' or '.join(dict.fromkeys(words))}{values[line, place]}"
            for (line, place), words in sorted(faults.items(), key=lambda fault: fault[0][0])
        )
    )


def fault_in_words(fault: Mapping[str, Any], model: type[BaseModel] | None = None) -> str:
    """What pydantic found, without its terms; for an unknown key the nearest of the model's."""
    if fault["type"] != "extra_forbidden":
        return in_words(fault)
    schema = model.model_json_schema() if model else {}
    parts = (schema, *schema.get("$defs", {}).values())  # the model, and those in it
    name = str(fault["loc"][-1])
    keys = {key for part in parts for key in part.get("properties", {})}
    near = difflib.get_close_matches(name, sorted(keys - {name}), n=1, cutoff=0.7 if name in keys else 0.6)
    meant = f"did you mean {near[0]!r}?" if near else ""
    if name in keys:
        elsewhere = "it belongs to another block, such as `api:`, or beside this one; move it"
        return f"unknown key here; {elsewhere}{f', or {meant}' if meant else ''}"
    return f"unknown key; {meant or 'remove it'}"


def _got(fault: Mapping[str, Any], place: Place) -> str:
    """What came; nothing where the message says it, or where it may be a key."""
    if fault["type"] in {"missing", "value_error", "misplaced", "extra_forbidden"}:
        return ""
    if any(_MAY_BE_SECRET.search(str(part)) for part in place):
        return ", got something else (not shown: it may be a key)"
    value = fault["input"]
    if isinstance(value, dict | list):
        return ", got a mapping" if isinstance(value, dict) else ", got a list"
    return f", got {repr(value) if isinstance(value, str) else json.dumps(value):.80}"
