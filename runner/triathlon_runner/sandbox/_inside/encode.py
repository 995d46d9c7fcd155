"""Plain values as bytes, written by the child and by answer keys, read by `sandbox._decode`.

One tag byte a value. A container is its tag and a body; a body whose items are all of one simple type is one
column (`array`), so that long flat results cost C speed on both sides. Everything is little-endian.

    N T F            None, True, False
    i <q> / I <I> …  int in 64 bits / longer: length and two's complement
    f <d>, c <dd>    float, complex
    s <I> …, b <I> … str as UTF-8 with surrogates, bytes
    l t e z  body    list, tuple, set, frozenset
    d  body body     dict: keys, values
    x name  value    named type reduced to plain data       (name: <H> and UTF-8)
    o name           named type that can't cross
    body:  * <I> values | q <I> int64s | d <I> floats | u <I> lengths <I> text
"""

import struct
from array import array
from collections.abc import Callable, Iterable
from typing import Any

MAX_DEPTH = 200
NAME_LENGTH = 200

_pack_int = struct.Struct("<cq").pack
_pack_float = struct.Struct("<cd").pack
_pack_complex = struct.Struct("<cdd").pack
_pack_size = struct.Struct("<cI").pack
_INT64 = range(-(1 << 63), 1 << 63)


class ValueTooLargeError(Exception):
    """The encoded value would be longer than allowed."""


class ValueTooDeepError(Exception):
    """The value is nested deeper than `MAX_DEPTH`, or contains itself."""


def encode(value: object, limit: int) -> bytes:
    """Encodes one value.

    Raises:
        ValueTooLargeError: the result would be longer than `limit` bytes.
        ValueTooDeepError: see there.
    """
    writer = _Writer(limit)
    writer.value(value, 0)
    return b"".join(writer.chunks)


class _Writer:
    def __init__(self, limit: int) -> None:
        self.chunks: list[bytes] = []
        self.left = limit

    def put(self, chunk: bytes) -> None:
        self.left -= len(chunk)
        if self.left < 0:
            raise ValueTooLargeError
        self.chunks.append(chunk)

    def value(self, value: Any, depth: int) -> None:
        write = _EXACT.get(type(value))
        if write is not None:
            write(self, value, depth)
        else:
            self._inexact(value, depth)

    def _inexact(self, value: Any, depth: int) -> None:
        """Reduces an instance of a subclass to its base class' value, without calling its overrides."""
        for base, reduce in _BASES:
            if isinstance(value, base):
                _EXACT[base](self, reduce(value), depth)
                return
        name, plain = reduce_to_plain(value)
        if name == "":
            self.value(plain, depth)
        elif plain is None:
            self.put(b"o" + _name(name))
        else:
            self.put(b"x" + _name(name))
            self.value(plain, depth + 1)

    def write_constant(self, value: object, _depth: int) -> None:
        self.put(b"N" if value is None else b"T" if value is True else b"F")

    def write_int(self, value: int, _depth: int) -> None:
        if value in _INT64:
            self.put(_pack_int(b"i", value))
        else:
            size = value.bit_length() // 8 + 1
            if size > self.left:
                raise ValueTooLargeError
            self.put(_pack_size(b"I", size))
            self.put(value.to_bytes(size, "little", signed=True))

    def write_float(self, value: float, _depth: int) -> None:
        self.put(_pack_float(b"f", value))

    def write_complex(self, value: complex, _depth: int) -> None:
        self.put(_pack_complex(b"c", value.real, value.imag))

    def write_str(self, value: str, _depth: int) -> None:
        if len(value) > self.left:
            raise ValueTooLargeError
        data = value.encode("utf-8", "surrogatepass")
        self.put(_pack_size(b"s", len(data)))
        self.put(data)

    def write_bytes(self, value: bytes, _depth: int) -> None:
        if len(value) > self.left:
            raise ValueTooLargeError
        self.put(_pack_size(b"b", len(value)))
        self.put(bytes(value))

    def write_list(self, value: list[Any], depth: int) -> None:
        self.put(b"l")
        self.body(value, depth)

    def write_tuple(self, value: tuple[Any, ...], depth: int) -> None:
        self.put(b"t")
        self.body(list(value), depth)

    def write_set(self, value: set[Any], depth: int) -> None:
        self.put(b"e")
        self.body(list(value), depth)

    def write_frozenset(self, value: frozenset[Any], depth: int) -> None:
        self.put(b"z")
        self.body(list(value), depth)

    def write_dict(self, value: dict[Any, Any], depth: int) -> None:
        self.put(b"d")
        self.body(list(value.keys()), depth)
        self.body(list(value.values()), depth)

    def body(self, items: list[Any], depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise ValueTooDeepError
        if len(items) > self.left:
            raise ValueTooLargeError
        if len(items) > 3 and self._column(items):
            return
        self.put(_pack_size(b"*", len(items)))
        for item in items:
            self.value(item, depth + 1)

    def _column(self, items: list[Any]) -> bool:
        """Writes items as one array where all are of one simple type."""
        kind, *more_kinds = set(map(type, items))
        if more_kinds:
            return False
        size = len(items)
        if kind is int:
            try:
                data = array("q", items).tobytes()
            except OverflowError:
                return False
            self.put(_pack_size(b"q", size) + data)
        elif kind is float:
            self.put(_pack_size(b"d", size) + array("d", items).tobytes())
        elif kind is str:
            self._texts(items)
        else:
            return False
        return True

    def _texts(self, items: list[str]) -> None:
        lengths = array("I", map(len, items))
        if sum(lengths) > self.left:
            raise ValueTooLargeError
        text = "".join(items).encode("utf-8", "surrogatepass")
        self.put(_pack_size(b"u", len(items)) + lengths.tobytes())
        self.put(_pack_size(b"s", len(text)) + text)


_EXACT: dict[type, Callable[[_Writer, Any, int], None]] = {
    type(None): _Writer.write_constant,
    bool: _Writer.write_constant,
    int: _Writer.write_int,
    float: _Writer.write_float,
    complex: _Writer.write_complex,
    str: _Writer.write_str,
    bytes: _Writer.write_bytes,
    list: _Writer.write_list,
    tuple: _Writer.write_tuple,
    set: _Writer.write_set,
    frozenset: _Writer.write_frozenset,
    dict: _Writer.write_dict,
}

_BASES: list[tuple[type, Callable[[Any], Any]]] = [
    (int, int.__pos__),
    (float, float.__pos__),
    (complex, lambda value: complex.__add__(value, 0j)),
    (str, str.__str__),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))),
    (list, list.copy),
    (tuple, lambda value: tuple.__getitem__(value, slice(None))),
    (set, lambda value: {*set.__iter__(value)}),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
    (dict, lambda value: dict(zip(dict.keys(value), dict.values(value), strict=True))),
]


def _name(name: str) -> bytes:
    data = name[:NAME_LENGTH].encode("utf-8", "replace")[:NAME_LENGTH]
    return struct.pack("<H", len(data)) + data


def reduce_to_plain(value: Any) -> tuple[str, Any]:
    """Returns (name of the type, plain data): no name for plain data as such, no data for an opaque value."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name == _TAGGED:
        return value.type, value.value
    if name in _TEXT_FORM:
        return name, str(value)
    if name in _ITEMS_FORM:
        return name, list(value)
    if kind is range:
        return name, [value.start, value.stop, value.step]
    if name.startswith("numpy."):
        return _numpy(name, value)
    return name, None


_TAGGED = "triathlon_runner.sandbox._decode.Tagged"
"""Encoded again by the trusted side, in answer keys."""
_TEXT_FORM: Iterable[str] = frozenset(
    f"{module}.{name}"
    for module, names in {
        "decimal": "Decimal",
        "fractions": "Fraction",
        "datetime": "date time datetime timedelta timezone",
        "uuid": "UUID",
        "pathlib": "PosixPath PurePosixPath",
    }.items()
    for name in names.split()
)
_ITEMS_FORM = frozenset(
    f"{module}.{name}"
    for module, names in {
        "collections": "deque",
        "array": "array",
        "builtins": "bytearray dict_keys dict_values dict_items",
    }.items()
    for name in names.split()
)


def _numpy(name: str, value: Any) -> tuple[str, Any]:
    """A numpy scalar as the Python number that it equals, an array as its shape and items."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        plain = value.tolist()
        if getattr(value, "shape", None) == ():
            return ("", plain) if type(plain) in _EXACT else (name, None)
        return name, [str(value.dtype), plain]
    return name, None
