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
from typing import Any

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


class PythonWire:
    """The frames of Python children, and their payloads."""

    def program(self, job: Job) -> bytes:
        """The first frame: the program, and what the child needs to know of its job."""
        return self._frame(
            messages.PROGRAM,
            {"program": job.program, "result_bytes": job.limits.result_bytes, "relayed": list(job.relayed)},
        )

    def call(self, call: Call) -> bytes:
        """One call, also for `Prepared`.

        Raises:
            SandboxError: its arguments are nothing that can be sent.
        """
        if isinstance(call.arguments, Source):
            return self._frame(messages.CALL, (call.function, None, call.arguments.text))
        return self._frame(messages.CALL, (call.function, call.arguments, None))

    def answer(self, result: Returned | Raised) -> bytes:
        """The answer to a child's question; views and queues go as the lists that a test takes them for."""
        if isinstance(result, Raised):
            return self._frame(messages.ANSWER, (False, (result.type, result.message)))
        value = result.value
        is_list = isinstance(value, Tagged) and isinstance(value.value, list)
        try:
            return self._frame(messages.ANSWER, (True, value.value if is_list else value))
        except SandboxError as error:
            return self._frame(messages.ANSWER, (False, ("TypeError", str(error))))

    def value(self, payload: bytes) -> Any:
        """Reads what a child wrote; raises MalformedError where it is no value."""
        return decode(payload)

    def raised(self, payload: bytes) -> Raised:
        """Reads a child's report of an exception; any bytes give one, without lone surrogates."""
        try:
            kind, message, line = self._report(payload[:_REPORT_BYTES])
            kind, message = (  # TypeError: one is no text
                str.encode(text, "utf-8", "backslashreplace").decode()
                for text in (kind[:200], message[:2000])
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            return Raised("Unreadable", "the report of the exception can't be read")
        return Raised(kind, message, line if type(line) is int else None)

    def _frame(self, kind: bytes, content: Any) -> bytes:
        payload = self._written(content)
        return messages.HEADER.pack(kind, len(payload)) + payload

    def _written(self, content: Any) -> bytes:
        try:
            return marshal.dumps(content)
        except ValueError:
            raise SandboxError("only plain data goes into a sandbox") from None

    def _report(self, payload: bytes) -> Any:
        """Type, message and line of an exception."""
        return decode(payload)


class JsonWire(PythonWire):
    """The same for children of the other languages."""

    def call(self, call: Call) -> bytes:
        if isinstance(call.arguments, Source):
            raise SandboxError("arguments as source text are for Python programs only")
        content = {"function": call.function, "arguments": to_json(call.arguments)}
        return self._frame(messages.CALL, content)

    def answer(self, result: Returned | Raised) -> bytes:
        if isinstance(result, Raised):
            return self._frame(messages.ANSWER, {"ok": False, "message": str(result)})
        return self._frame(messages.ANSWER, {"ok": True, "value": to_json(result.value)})

    def value(self, payload: bytes) -> Any:
        try:
            return from_json(json.loads(payload))
        except (ValueError, RecursionError, TypeError) as error:
            raise MalformedError(str(error)[:200]) from None

    def _written(self, content: Any) -> bytes:
        return json.dumps(content).encode()

    def _report(self, payload: bytes) -> Any:
        report = json.loads(payload)
        return report["type"], report["message"], report["line"]


# Values of Python children


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


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise MalformedError("cut short")
        return self.data[start : self.at]

    def unpack(self, form: struct.Struct) -> tuple[Any, ...]:
        start, self.at = self.at, self.at + form.size
        return form.unpack_from(self.data, start)

    def value(self, depth: int) -> Any:
        tag = self.data[self.at]
        self.at += 1
        read = _READ.get(tag)
        if read is None:
            raise MalformedError(f"unknown tag {tag}")
        return read(self, depth)

    def size(self) -> int:
        (size,) = self.unpack(_SIZE)
        return int(size)

    def text(self) -> str:
        return self.take(self.size()).decode("utf-8", "surrogatepass")

    def name(self) -> str:
        (size,) = self.unpack(_SHORT)
        if size > NAME_LENGTH:
            raise MalformedError("name too long")
        return self.take(size).decode("utf-8", "replace")

    def body(self, depth: int) -> list[Any]:
        if depth >= MAX_DEPTH:
            raise MalformedError("nested too deep")
        kind = self.take(1)
        size = self.size()
        if kind == b"*":
            if size > len(self.data) - self.at:
                raise MalformedError("more items than bytes")
            return [self.value(depth + 1) for _ in range(size)]
        if kind == b"u":
            return self._texts(size)
        if kind not in (b"q", b"d"):
            raise MalformedError(f"unknown column {kind!r}")
        column = array(kind.decode())
        column.frombytes(self.take(size * 8))
        return column.tolist()

    def _texts(self, size: int) -> list[str]:
        lengths = array("I")
        lengths.frombytes(self.take(size * 4))
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

    def tagged(self, depth: int) -> Tagged:
        if depth >= MAX_DEPTH:
            raise MalformedError("nested too deep")
        name = self.name()
        return Tagged(name, self.value(depth + 1))


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


_SIZE = struct.Struct("<I")
_SHORT = struct.Struct("<H")
_INT = struct.Struct("<q")
_FLOAT = struct.Struct("<d")
_COMPLEX = struct.Struct("<dd")

_READ: dict[int, Callable[[_Reader, int], Any]] = {
    ord("N"): lambda _reader, _: None,
    ord("T"): lambda _reader, _: True,
    ord("F"): lambda _reader, _: False,
    ord("i"): lambda reader, _: reader.unpack(_INT)[0],
    ord("I"): lambda reader, _: int.from_bytes(reader.take(reader.size()), "little", signed=True),
    ord("f"): lambda reader, _: reader.unpack(_FLOAT)[0],
    ord("c"): lambda reader, _: complex(*reader.unpack(_COMPLEX)),
    ord("s"): lambda reader, _: reader.text(),
    ord("b"): lambda reader, _: reader.take(reader.size()),
    ord("l"): lambda reader, depth: reader.body(depth),
    ord("t"): lambda reader, depth: tuple(reader.body(depth)),
    ord("e"): lambda reader, depth: set(reader.keys(depth)),
    ord("z"): lambda reader, depth: frozenset(reader.keys(depth)),
    ord("d"): _Reader.dict,
    ord("x"): _Reader.tagged,
    ord("o"): lambda reader, _: Opaque(reader.name()),
}


# Values of the other languages' children

_LARGEST_EXACT = 1 << 53
"""JavaScript's numbers are exact up to here."""


def to_json(value: Any) -> Any:
    """Encodes plain data in the JSON form above."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, set | frozenset):
        return {"s": [to_json(item) for item in value]}
    if isinstance(value, dict):
        return {"m": [[to_json(key), to_json(item)] for key, item in value.items()]}
    tag = {"symbol": "y", "set": "s", "map": "m"}.get(value.type) if isinstance(value, Tagged) else None
    if tag is None:
        tag, value = "u", value.type if isinstance(value, Opaque | Tagged) else type(value).__name__
    return {tag: to_json(value.value) if isinstance(value, Tagged) else value}


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
