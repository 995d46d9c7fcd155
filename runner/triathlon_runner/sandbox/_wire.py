"""What goes to children and comes from them: jobs, calls and answers, values and exceptions.

What goes to Python children is marshalled, which they may trust. What they wrote, in the form of
`_inside/child.py`, is decoded here: arbitrary bytes become plain values or a `MalformedError`. Nothing here
executes, allocates or takes time beyond a small multiple of the input's length: counts are checked against
the bytes that are left, nesting is bounded, keys built to collide in a table are refused.

With children of the other languages all is JSON, with values in this form:

    null, true, false, numbers, strings, lists   as they are
    {"m": [[key, value], …]}                     a map, whatever its keys
    {"f": "nan"}, {"i": "123…"}                  numbers that JSON has no form for, or takes for another kind
    {"s": […]}, {"y": name}, {"u": type}         a set, a symbol, something that can't cross
"""

import json
import marshal
import math
import struct
from array import array
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from triathlon_runner.sandbox._api import (
    Call,
    Job,
    MalformedError,
    Opaque,
    Raised,
    Returned,
    SandboxError,
    Source,
    Tagged,
)
from triathlon_runner.sandbox._inside import messages
from triathlon_runner.sandbox._inside.child import MAX_DEPTH, NAME_LENGTH

MAX_SAME_HASH = 32
"""Items of one table that may share a hash: honest data has a few (-1 and -2), an attack thousands."""
_REPORT_BYTES = 1 << 16
"""An exception's report is read up to here."""


class Wire(NamedTuple):
    """The frames of the children of a language, whose contents are lists and tuples of plain data."""

    dumps: Callable[[Any], bytes]
    """Raises SandboxError where the content is nothing that can be sent."""
    loads: Callable[[bytes], Any]
    """Raises MalformedError where a child wrote no value."""

    def frame(self, kind: bytes, content: Any) -> bytes:
        payload = self.dumps(content)
        return messages.HEADER.pack(kind, len(payload)) + payload

    def program(self, job: Job) -> bytes:
        """The first frame: the program, and what the child needs to know of its job."""
        return self.frame(messages.PROGRAM, [job.program, job.limits.result_bytes, list(job.relayed)])

    def call(self, call: Call) -> bytes:
        """One call, also for `Prepared`; raises SandboxError where its arguments cannot be sent."""
        if isinstance(call.arguments, Source):
            return self.frame(messages.CALL, (call.function, None, call.arguments.text))
        named = [call.named] if call.named else []
        return self.frame(messages.CALL, (call.function, call.arguments, None, *named))

    def answer(self, result: Returned | Raised) -> bytes:
        """The answer to a child's question; Python's views and queues go as the lists that tests expect."""
        if isinstance(result, Raised):
            return self.frame(messages.ANSWER, [False, [result.builtin or result.type, result.message]])
        value = result.value
        if isinstance(value, Tagged) and isinstance(value.value, list) and "." in value.type:
            value = value.value
        try:
            return self.frame(messages.ANSWER, [True, value])
        except SandboxError as error:
            return self.frame(messages.ANSWER, [False, ["TypeError", str(error)]])

    def question(self, payload: bytes) -> Call:
        """Reads a child's question: the call that is to be made for it; raises MalformedError."""
        match self.loads(payload):
            case [str(function), list(arguments)]:
                return Call(function, tuple(arguments))
            case [str(function), list(arguments), dict(named)]:
                return Call(function, tuple(arguments), named)
        raise MalformedError("expected a call, got another message")

    def raised(self, payload: bytes) -> Raised:
        """Reads a child's report of an exception; any bytes give one, without lone surrogates."""
        try:
            kind, message, line, *builtin = self.loads(payload[:_REPORT_BYTES])
            kind, message, builtin = (  # TypeError: one is no text
                str.encode(text, "utf-8", "backslashreplace").decode()
                for text in (kind[:200], message[:2000], "".join(builtin)[:200])
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            return Raised("Unreadable", "the report of the exception can't be read")
        return Raised(kind, message, line if type(line) is int else None, builtin)


# Values of Python children


def _marshalled(content: Any) -> bytes:
    try:
        return marshal.dumps(content)
    except ValueError:
        raise SandboxError("only plain data goes into a sandbox") from None


def is_plain(value: Any) -> bool:
    """Whether a decoded value can be sent into a sandbox: nothing tagged or opaque is in it."""
    try:
        marshal.dumps(value)
    except ValueError:
        return False
    return True


def decode(data: bytes) -> Any:
    """Decodes one value.

    Raises:
        MalformedError: the bytes are not one encoded value of bounded depth.
    """
    reader = _Reader(data)
    try:
        value = reader.value(0)
    except (struct.error, IndexError, UnicodeDecodeError, TypeError, RecursionError) as error:
        raise MalformedError(str(error)) from None
    if reader.at != len(data):
        raise MalformedError(f"{len(data) - reader.at} bytes after the value")
    return value


PYTHON_WIRE = Wire(_marshalled, decode)


class _Reader:
    """Reads the form of `_inside/child.py`. `depth` is that of the value, or of the items of a body."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise MalformedError("cut short")
        return self.data[start : self.at]

    def unpack(self, form: struct.Struct) -> tuple[Any, ...]:
        return form.unpack(self.take(form.size))

    def sized(self) -> bytes:
        """Bytes behind their number."""
        return self.take(*self.unpack(_SIZE))

    def text(self) -> str:
        return self.sized().decode("utf-8", "surrogatepass")

    def name(self) -> str:
        (size,) = self.unpack(_SHORT)
        if size > NAME_LENGTH:
            raise MalformedError("name too long")
        return self.take(size).decode("utf-8", "replace")

    def value(self, depth: int) -> Any:
        read = _READ.get(self.take(1))
        if read is None or depth > MAX_DEPTH:
            raise MalformedError("an unknown tag, or nested too deep")
        return read(self, depth + 1)

    def body(self, depth: int) -> list[Any]:
        kind = self.take(1)
        (size,) = self.unpack(_SIZE)
        if kind == b"*":
            if size > len(self.data) - self.at:
                raise MalformedError("more items than bytes")
            return [self.value(depth) for _ in range(size)]
        if kind == b"u":
            return self.texts(size)
        if kind not in (b"q", b"d"):
            raise MalformedError(f"unknown column {kind!r}")
        column = array(kind.decode(), self.take(size * 8))
        return column.tolist()

    def texts(self, size: int) -> list[str]:
        lengths = array("I", self.take(size * 4))
        if self.take(1) != b"s":
            raise MalformedError("column without text")
        text = self.text()
        items, start = [], 0
        for length in lengths:
            items.append(text[start : start + length])
            start += length
        if start != len(text):
            raise MalformedError("lengths do not add up")
        return items

    def keys(self, depth: int) -> list[Any]:
        items = self.body(depth)
        if len(items) > MAX_SAME_HASH:
            refuse_collisions(items)
        return items

    def dict(self, depth: int) -> dict[Any, Any]:
        keys, values = self.keys(depth), self.body(depth)
        if len(keys) != len(values):
            raise MalformedError("keys without values")
        return dict(zip(keys, values, strict=True))


def refuse_collisions(items: Iterable[Any]) -> None:
    """Looks for many different items of one hash before a table is made of them.

    They are gathered under the hash's decimal digits: strings, whose own hashes this process draws at random.

    Raises:
        MalformedError: too many items share one.
        TypeError: an item has none.
    """
    different: dict[str, list[Any]] = {}
    for item in items:
        known = different.setdefault(str(hash(item)), [])
        if item not in known:
            known.append(item)
            if len(known) > MAX_SAME_HASH:
                raise MalformedError("items that collide")


_SIZE, _SHORT = struct.Struct("<I"), struct.Struct("<H")
_INT, _FLOAT, _COMPLEX = struct.Struct("<q"), struct.Struct("<d"), struct.Struct("<dd")

_READ: dict[bytes, Callable[[_Reader, int], Any]] = {
    b"N": lambda _reader, _: None,
    b"T": lambda _reader, _: True,
    b"F": lambda _reader, _: False,
    b"i": lambda reader, _: reader.unpack(_INT)[0],
    b"I": lambda reader, _: int.from_bytes(reader.sized(), "little", signed=True),
    b"f": lambda reader, _: reader.unpack(_FLOAT)[0],
    b"c": lambda reader, _: complex(*reader.unpack(_COMPLEX)),
    b"s": lambda reader, _: reader.text(),
    b"b": lambda reader, _: reader.sized(),
    b"l": _Reader.body,
    b"t": lambda reader, depth: tuple(reader.body(depth)),
    b"e": lambda reader, depth: set(reader.keys(depth)),
    b"z": lambda reader, depth: frozenset(reader.keys(depth)),
    b"d": _Reader.dict,
    b"x": lambda reader, depth: Tagged(reader.name(), reader.value(depth)),
    b"o": lambda reader, _: Opaque(reader.name()),
}


# Values of the other languages' children

_LARGEST_EXACT = 1 << 53
"""JavaScript's numbers are exact up to here."""
_TAGS = {"symbol": "y", "set": "s", "map": "m"}


def to_json(value: Any) -> Any:
    """Encodes plain data in the JSON form above."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple | set | frozenset):
        items = [to_json(item) for item in value]
        return items if isinstance(value, list | tuple) else {"s": items}
    if isinstance(value, dict):
        return {"m": [[to_json(key), to_json(item)] for key, item in value.items()]}
    if isinstance(value, Tagged) and value.type in _TAGS:
        return {_TAGS[value.type]: to_json(value.value)}
    return {"u": value.type if isinstance(value, Opaque | Tagged) else type(value).__name__}


def _number(value: float) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else {"f": repr(value)}
    try:
        return value if abs(value) <= _LARGEST_EXACT else {"i": str(value)}
    except ValueError:
        raise SandboxError("an int of more digits than can be written") from None


def from_json(value: Any, depth: int = 0) -> Any:
    """Decodes plain data from the JSON form above.

    Raises:
        MalformedError: the data are no value.
    """
    if depth > MAX_DEPTH:
        raise MalformedError("nested too deep")
    if isinstance(value, list):
        return [from_json(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise MalformedError("an object that is not of the closed form")
    ((tag, content),) = value.items()
    if tag == "s" and isinstance(content, list):
        return Tagged("set", [from_json(item, depth + 1) for item in content])
    if tag == "m" and isinstance(content, list):
        pairs = [[from_json(key, depth + 1), from_json(item, depth + 1)] for key, item in content]
        by_key = {key: item for key, item in pairs if _is_key(key)}
        return by_key if len(by_key) == len(pairs) else Tagged("map", pairs)
    if tag not in _SCALARS or not isinstance(content, str):
        raise MalformedError(f"unknown form {tag[:20]!r}")
    return _SCALARS[tag](content)


_SCALARS: dict[str, Callable[[str], Any]] = {
    "f": float,
    "i": int,
    "y": lambda name: Tagged("symbol", name),
    "u": lambda name: Opaque(name[:200]),
}


def _is_key(key: Any) -> bool:
    """Whether a value can be a key of a dict: text or a small number.

    Others could be made to collide in its table, or are equal in Python only. A map with such a key (a list,
    a symbol, a truth value, 1 beside 1.0) stays a list of pairs.
    """
    return isinstance(key, str) or (type(key) in (int, float) and abs(key) < _LARGEST_EXACT)


def read_json(payload: bytes) -> Any:
    """Reads what a child of another language wrote; raises MalformedError where it is no value."""
    try:
        return from_json(json.loads(payload))
    except (ValueError, RecursionError, TypeError) as error:
        raise MalformedError(str(error)[:200]) from None


JSON_WIRE = Wire(lambda content: json.dumps(to_json(content)).encode(), read_json)
