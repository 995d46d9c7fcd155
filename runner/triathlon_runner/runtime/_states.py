"""Grades answers of the form `value; type`: strict about the value, lenient about how it is written."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from triathlon_runner.records import Outcome
from triathlon_runner.runtime._grade import TYPOGRAPHIC, Graded, unwrapped
from triathlon_runner.runtime._literals import NotALiteralError, equal, kind_of, read_literal
from triathlon_runner.runtime._questions import NO_VALUE, StatementQuestion, Value

_CLASS: Final = re.compile(r"<(?:class|type) ['\"]([\w.<>]+)['\"]>")
_VALUE_LABEL: Final = re.compile(r"\Avalue\s*[:=]\s*", re.IGNORECASE)
_TYPE_LABEL: Final = re.compile(r"\A(?:type\s*[:=]|type |class )\s*", re.IGNORECASE)
_MAX_TYPE: Final = 300
"""Characters; no type's name is longer, and patterns are not run over whole replies."""
_REMARK: Final = re.compile(r"(?<=[\w\])}>`'\"*])\s+\(.*\)\Z", re.DOTALL)
_SAME_TYPES: Final = {
    "string": "str", "text": "str", "integer": "int", "boolean": "bool", "none": "nonetype",
    "dictionary": "dict", "double": "float", "np.array": "ndarray", "array": "ndarray",
    "type(none)": "nonetype",
}  # fmt: skip
_NIL_BEFORE_REMARK: Final = re.compile(r"[\['\"`*]*nil[\]'\"`*]*\s*(?:[.,:;(–—-].*)?", re.IGNORECASE)
_INSIDE: Final = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
"""What a type holds: `[str, int]` of `dict[str, int]`."""


def grade_state(question: StatementQuestion, answer: str) -> Graded:
    """Right where value and type both match one of those observed, or where `Nil` says that there is none."""
    answers = list(read_states(answer))
    if any(matches(true, value, kind) for true in question.states for value, kind in answers):
        return Graded(Outcome.PASSED)
    # Behind `Nil` on the first line stands a remark.
    first = answer.strip().partition("\n")[0].strip()
    if is_nil(answer) or _NIL_BEFORE_REMARK.fullmatch(first) or any(is_nil(value) for value, _ in answers):
        without_value = not question.states or NO_VALUE in question.states
        return Graded.of("the variable has a value there", right=without_value)
    if not answers:
        return Graded(Outcome.NO_ANSWER, "no `value; type`")
    if question.states:
        return Graded(Outcome.FAILED, "another value or type")
    return Graded(Outcome.FAILED, "it has no value" if question.executed else "the line is not executed")


def is_nil(text: str) -> bool:
    """Whether a text means that there is no value."""
    return text.strip().strip("[]'\"`*.").strip().lower() == "nil"


def read_states(answer: str) -> Iterator[tuple[str, str]]:
    """The (value, type) that an answer may mean: all of it, or its first line, what follows being a remark.

    Nothing where it has not the form `value; type`.
    """
    whole = answer.strip().rstrip(";").rstrip()
    first = whole.partition("\n")[0].rstrip().rstrip(";").rstrip()
    texts = [whole, first, *(bare for text in (whole, first) if (bare := unwrapped(text)) != text)]
    for text in dict.fromkeys(texts):
        value, semicolon, kind = text.rpartition(";")
        if semicolon:
            yield value.strip(), kind.strip()


def read_type(text: str) -> str:
    """Returns a type's plain name: int, list, datetime of `<class 'int'>`, `List[int]`, `datetime.datetime`.

    Several types, `int, int` or `(int, str)`, are those of a tuple.
    """
    if len(text) > _MAX_TYPE:
        return ""
    name = unwrapped(_REMARK.sub("", text.strip().rstrip("."))).strip("*`'\"").strip()
    name = _TYPE_LABEL.sub("", name).strip("`'\"")
    wrapped = _CLASS.fullmatch(name)
    name = wrapped[1] if wrapped else name
    outside, count = name, 1
    while count:
        outside, count = _INSIDE.subn("", outside)
    if (name.startswith("(") and name.endswith(")")) or re.fullmatch(r"[\w.]+(\s*,\s*[\w.]+)+,?", outside):
        return "tuple"
    name = re.split(r"\[| of ", name, maxsplit=1)[0].rpartition(".")[2].strip().lower()
    return _SAME_TYPES.get(name, name)


def matches(true: Value, value: str, kind: str) -> bool:
    """Whether a value and a type as they were written are those that were observed."""
    types = {read_type(true.type), _NUMPY_SCALARS.get(true.type)}
    if not true.text or read_type(kind) not in types:
        return False
    if not true.literal:
        return value.split() == true.text.split()
    wanted = read_literal(true.text)
    if isinstance(wanted, str) and value == wanted:
        return True  # a text without quotes
    return any(
        kind_of(read) in _KINDS.get(true.type, (kind_of(read),)) and equal(read, wanted)
        for read in _possible_values(value, true.type)
    )


_NUMPY_SCALARS: Final = {
    f"numpy.{name}{bits}": plain
    for name, plain in (("int", "int"), ("uint", "int"), ("float", "float"), ("complex", "complex"))
    for bits in (8, 16, 32, 64, 128)
} | {"numpy.bool": "bool", "numpy.bool_": "bool", "numpy.str_": "str"}
"""Types of NumPy's scalars, each with that of the number that it prints."""
_KINDS: Final[dict[str, tuple[str, ...]]] = {
    "float": ("int", "float"), "complex": ("int", "float", "complex"), "bool": ("True", "False"),
    "frozenset": ("frozenset", "set"), "NoneType": ("None",),
    **{kind: (kind,) for kind in ("int", "str", "bytes", "list", "tuple", "set", "dict")},
}  # fmt: skip
"""By type what its literals are read as; a whole number may be a float."""


_BETWEEN_ITEMS: Final = re.compile(r"(?<=[\w.\]])\s+(?=[-\w.\[])")


def _possible_values(value: str, kind: str) -> Iterator[Any]:
    """The values that a text may mean: as a literal, or as `str()` writes dates, arrays and decimals."""
    bare = _VALUE_LABEL.sub("", value)
    marked = [unwrapped(text) for text in (value, bare) if text.startswith(("`", "**"))]
    texts = [form for text in (value, bare, *marked) for form in (text, text.translate(TYPOGRAPHIC))]
    if kind in ("numpy.ndarray", "numpy.matrix"):
        texts.append(_BETWEEN_ITEMS.sub(", ", value))
    if kind in ("bool", "NoneType"):
        texts.append(value.capitalize())  # upper and lower case make no difference
    for text in dict.fromkeys(texts):
        with suppress(NotALiteralError):
            yield read_literal(text)
    parser = _PARSERS.get(kind)
    if parser is not None:
        with suppress(ValueError, ArithmeticError):
            yield parser(value.strip("'\""))


_DURATION: Final = re.compile(r"(?:(-?\d{1,9}) days?, )?(\d{1,2}):(\d\d):(\d\d)(?:\.(\d{6}))?")


def _duration(text: str) -> timedelta:
    """As `str()` writes it: `1 day, 2:30:00`, `0:00:01.500000`.

    Raises:
        ValueError: the text is no such value.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(text)
    days, hours, minutes, seconds, microseconds = (int(part or 0) for part in match.groups())
    return timedelta(days, seconds, microseconds, minutes=minutes, hours=hours)


_PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "datetime.datetime": datetime.fromisoformat,
    "datetime.date": date.fromisoformat,
    "datetime.time": time.fromisoformat,
    "datetime.timedelta": _duration,
    "decimal.Decimal": lambda text: read_literal(f"Decimal({text!r})"),
    "fractions.Fraction": lambda text: read_literal(f"Fraction({text!r})"),
}
