"""Errors that pydantic finds in a file that people write, in words.

Each names line, key, what was expected and what came.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from triathlon_runner.errors import UserError
from triathlon_runner.yaml_file import Place, YamlFile

Model = TypeVar("Model", bound=BaseModel)

_MAY_BE_SECRET: Final = re.compile(
    r"key|token(?!s)|secret|auth|cookie|passw|credential|header|env|url", re.IGNORECASE
)
"""Names whose values are never shown, whatever is wrong with them."""

_WORDS: Final = {None: "null", True: "true", False: "false"}
_SENTENCES: Final[Mapping[str, str]] = {
    "missing": "required and not there; add it",
    "string_type": "expected text (a number or a word such as yes is text in quotes)",
    "string_too_short": "expected text that is not empty",
    "int_type int_parsing int_from_float": "expected a whole number",
    "int_parsing_size": "expected a whole number of fewer digits",
    "float_type float_parsing finite_number": "expected a number",
    "bool_type bool_parsing": "expected true or false",
    "dict_type model_type model_attributes_type": "expected a mapping (`name: value`)",
    "list_type tuple_type": "expected a list (lines that begin with `- `, or [a, b])",
    "path_type": "expected a path",
    "greater_than": "expected a number above {gt:,.10g}",
    "greater_than_equal": "expected a number of {ge:,.10g} or more",
    "less_than": "expected a number below {lt:,.10g}",
    "less_than_equal": "expected a number of {le:,.10g} or less",
    "too_short": "expected at least {min_length} of these",
    "literal_error": "expected {expected}",
}
_EXPECTED: Final = {kind: text for kinds, text in _SENTENCES.items() for kind in kinds.split()}
"""By pydantic's kind of error."""


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


def misplaced(place: Place, message: str, *, also: Place | None = None) -> PydanticCustomError:
    """The error of a validator about one place of the whole file; `also`: another place to look at."""
    return PydanticCustomError("misplaced", "{message}", {"message": message, "place": place, "also": also})


def check_ids_differ(ids: Sequence[str], *place: str) -> None:
    """Refuses an id that stands twice in the list at `place`, as a validator of the whole file."""
    for number, name in enumerate(ids):
        if (first := ids.index(name)) != number:
            message = f"expected an id of its own, but {name!r} stands twice; rename one"
            raise misplaced((*place, number, "id"), message, also=(*place, first, "id"))


def validated(file: YamlFile, model: type[Model], row: type[BaseModel] | None = None) -> Model:
    """The file's content as `model`, whose values are of the type `row` where it is a list.

    Raises:
        UserError: a line for each fault, in the file's order.
    """
    try:
        return model.model_validate(file.content)
    except ValidationError as error:
        raise UserError("\n".join(_faults_in_words(error, file, row or model))) from None


def _faults_in_words(error: ValidationError, file: YamlFile, model: type[BaseModel]) -> Iterator[str]:
    """Several faults that pydantic finds with one value are one line."""
    faults: dict[Place, list[str]] = {}
    shown: dict[Place, str] = {}
    for fault in error.errors():
        if fault["type"] == "default_factory_not_called":
            continue  # a value that another one follows from, whose fault is in this list
        place = _place(fault, file)
        sentence = in_words(fault, _known_keys(model, place[:-1]))
        if also := fault.get("ctx", {}).get("also"):
            sentence += f" (the other is in line {file.line(also)})"
        if sentence not in faults.setdefault(place, []):
            faults[place].append(sentence)
        shown[place] = _got(fault, place)
    for place, words in sorted(faults.items(), key=lambda fault: file.line(fault[0])):
        key = ".".join(str(part) for part in place) or "the file"
        yield f"{file.path}, line {file.line(place)}: {key}: {' or '.join(words)}{shown[place]}"


def in_words(fault: Mapping[str, Any], known_keys: tuple[str, ...] = ()) -> str:
    """What pydantic found, without its terms."""
    kind = fault["type"]
    if kind == "extra_forbidden":
        name = str(fault["loc"][-1])
        near = difflib.get_close_matches(name, known_keys, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known_keys)}"
        return f"unknown key; {hint}" if known_keys else "unknown key; remove it or mend its spelling"
    if kind in _EXPECTED:
        return _EXPECTED[kind].format(**fault.get("ctx", {}))
    return str(fault["msg"]).removeprefix("Value error, ")


def _place(fault: Mapping[str, Any], file: YamlFile) -> Place:
    """Where the fault is in the file; pydantic adds the names of types to the way."""
    if "place" in fault.get("ctx", {}):
        return tuple(fault["ctx"]["place"])
    place = file.existing(fault["loc"])
    return (*place, fault["loc"][-1]) if fault["type"] == "missing" else place


def _got(fault: Mapping[str, Any], place: Place) -> str:
    """What came; nothing where the message says it, or where it may be a key."""
    if fault["type"] in {"missing", "value_error", "misplaced", "extra_forbidden"}:
        return ""
    if any(_MAY_BE_SECRET.search(str(part)) for part in place):
        return ", got something else (not shown: it may be a key)"
    value = fault["input"]
    return f", got {_WORDS[value] if isinstance(value, bool | None) else repr(value):.80}"


def _known_keys(model: type[BaseModel], place: Place) -> tuple[str, ...]:
    """The keys that a mapping at `place` may have; empty where they are free."""
    for part in place:
        if isinstance(part, int):
            continue
        field = model.model_fields.get(part)
        inner = None if field is None else next(_models_in(field.annotation), None)
        if inner is None:
            return ()
        model = inner
    return tuple(model.model_fields)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
