"""Decodes what a child wrote: arbitrary bytes become plain values or a `MalformedError`.

Nothing here executes, allocates or takes time beyond a small multiple of the input's length: counts are
checked against the bytes that are left, nesting is bounded, keys built to collide in a table are refused.
"""

import marshal
import struct
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from triathlon_runner.sandbox._inside.encode import MAX_DEPTH, NAME_LENGTH

MAX_SAME_HASH = 32
"""Items of one table that may share a hash: honest data has a few (-1 and -2), an attack thousands."""


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """A value of a named type, reduced to plain data: `Tagged("decimal.Decimal", "1.50")`.

    Decimal numbers are equal by their value, as Python has it; NaN equals itself, as in all
    comparisons of results.
    """

    type: str
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tagged) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, Any]:
        if self.type == "decimal.Decimal" and isinstance(self.value, str):
            try:
                number = Decimal(self.value)
            except InvalidOperation:  # a program can have sent any text
                return self.type, self.value
            return self.type, str(number) if number.is_nan() else number
        return self.type, self.value


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A value without an encoding, such as a generator or a function. Equal only to itself."""

    type: str


def is_plain(value: Any) -> bool:
    """Whether a decoded value can be sent into a sandbox: nothing tagged or opaque is in it."""
    try:
        marshal.dumps(value)
    except ValueError:
        return False
    return True


class MalformedError(ValueError):
    """The bytes are not an encoded value."""


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
