"""The harness of one child: loads the program, makes the calls, writes plain values. It compares nothing.

Values are bytes, written here and by answer keys, read by `sandbox/_wire.py`: one tag byte a value. A
container is its tag and a body; a body whose items are all of one simple type is one column (`array`), so
that long flat results cost C speed on both sides. Everything is little-endian.

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

import builtins
import marshal
import os
import struct
import sys
from array import array
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from . import messages

MAX_DEPTH = 200
NAME_LENGTH = 200

_pack_int = struct.Struct("<cq").pack
_pack_float = struct.Struct("<cd").pack
_pack_complex = struct.Struct("<cdd").pack
_pack_size = struct.Struct("<cI").pack
_INT64 = range(-(1 << 63), 1 << 63)

MODULE = "solution"
"""The program's `__name__`: a real module, so that dataclasses and pickling work, and not `__main__`."""
FILE = "<program>"
_QUESTION_BYTES = 64 << 20
_REPORT_BYTES = 1 << 16


class FrameStream:
    """Blocking frames over two descriptors, for the child's side."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = open(source, "rb", buffering=1 << 16, closefd=False)  # noqa: SIM115
        self._sink = sink

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        data = messages.HEADER.pack(kind, len(payload)) + payload
        written = os.write(self._sink, data)
        while written < len(data):
            written += os.write(self._sink, memoryview(data)[written:])

    def receive(self) -> Any:
        """The content of the next frame, which the runner wrote, or None at the end of the stream."""
        header = self._source.read(messages.HEADER.size)
        if len(header) < messages.HEADER.size:
            return None
        _, size = messages.HEADER.unpack(header)
        return marshal.loads(self._source.read(size))  # noqa: S302


def serve(source: int, sink: int) -> None:
    """Executes what comes over `source` until it ends."""
    stream = FrameStream(source, sink)
    job = stream.receive()
    if job is None:
        return
    program, result_bytes, relayed = job
    module = ModuleType(MODULE)
    module.__file__ = FILE
    for name in relayed:
        setattr(module, name, _question(stream, name))
    sys.modules[MODULE] = module
    try:
        exec(compile(program, FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 (the point)
    except BaseException as error:
        stream.send(messages.NOT_LOADED, _describe(error))
        return
    stream.send(messages.LOADED)
    while (call := stream.receive()) is not None:
        function, arguments, text, *named = call
        stream.send(*_answer(module.__dict__, function, arguments, text, result_bytes, dict(*named)))


def _answer(
    names: dict[str, Any],
    function: str,
    arguments: tuple[Any, ...] | None,
    text: str | None,
    limit: int,
    named: dict[str, Any],
) -> tuple[bytes, bytes]:
    """Makes one call and encodes what it gave."""
    try:
        if text is not None:
            arguments = eval(text, {})  # noqa: S307 (in the sandbox)
        value = names[function](*arguments, **named)  # type: ignore[misc]
        return messages.VALUE, encode(value, limit)
    except ValueTooLargeError:
        return messages.RAISED, _report("ResultTooLarge", f"encoded, the result exceeds {limit} bytes")
    except ValueTooDeepError:
        return messages.RAISED, _report("ResultTooDeep", "the result is nested too deep or contains itself")
    except BaseException as error:
        return messages.RAISED, _describe(error)


def _question(stream: FrameStream, function: str) -> Callable[..., Any]:
    """Returns a function whose calls are made in another process: plain data come back, or an exception."""

    def ask(*arguments: Any, **named: Any) -> Any:
        stream.send(messages.ASK, encode([function, list(arguments), named], _QUESTION_BYTES))
        answer = stream.receive()
        if answer is None:  # the runner has closed the pipe
            os._exit(1)
        good, value = answer
        if good:
            return value
        kind = getattr(builtins, value[0], None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            try:
                error = kind(value[1])
            except TypeError:  # UnicodeDecodeError, for one, wants more than a message
                error = kind.__new__(kind, value[1])
            raise error
        raise RuntimeError(f"{value[0]}: {value[1]}")

    return ask


def _describe(error: BaseException) -> bytes:
    """Type, message, the program's line and the built-in type of an exception; its own methods may raise."""
    try:
        message = str(error)[:2000]
    except BaseException:
        message = "(its message can't be read)"
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    if line is None and isinstance(error, SyntaxError):
        line = error.lineno
    builtin = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return _report(type(error).__name__[:200], message, line, builtin)


def _report(kind: str, message: str, line: int | None = None, builtin: str = "") -> bytes:
    return encode((kind, message, line, builtin), _REPORT_BYTES)


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

    def put_sized(self, tag: bytes, data: bytes) -> None:
        self.put(_pack_size(tag, len(data)))
        self.put(data)

    def must_fit(self, size: int) -> None:
        """Refuses a value before it is written out: it takes at least so many bytes."""
        if size > self.left:
            raise ValueTooLargeError

    def value(self, value: Any, depth: int) -> None:
        write = _EXACT.get(type(value))
        if write is not None:
            write(self, value, depth)
            return
        # An instance of a subclass is reduced to its base class' value, without calling its overrides.
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

    def write_int(self, value: int, _depth: int) -> None:
        if value in _INT64:
            self.put(_pack_int(b"i", value))
        else:
            size = value.bit_length() // 8 + 1
            self.must_fit(size)
            self.put_sized(b"I", value.to_bytes(size, "little", signed=True))

    def write_str(self, value: str, _depth: int) -> None:
        self.must_fit(len(value))
        self.put_sized(b"s", value.encode("utf-8", "surrogatepass"))

    def write_items(self, value: Any, depth: int) -> None:
        kind = type(value)
        self.put(_ITEMS[kind])
        self.body(value if kind is list else list(value), depth)

    def write_dict(self, value: dict[Any, Any], depth: int) -> None:
        self.put(b"d")
        self.body(list(value.keys()), depth)
        self.body(list(value.values()), depth)

    def body(self, items: list[Any], depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise ValueTooDeepError
        self.must_fit(len(items))
        if len(items) > 3 and self.column(items):
            return
        self.put(_pack_size(b"*", len(items)))
        for item in items:
            self.value(item, depth + 1)

    def column(self, items: list[Any]) -> bool:
        """Writes items as one array where all are of one simple type."""
        kind, *more_kinds = set(map(type, items))
        if more_kinds or not (kind is int or kind is float or kind is str):
            return False
        if kind is str:
            lengths = array("I", map(len, items))
            self.must_fit(sum(lengths))
            self.put(_pack_size(b"u", len(items)) + lengths.tobytes())
            self.put_sized(b"s", "".join(items).encode("utf-8", "surrogatepass"))
            return True
        code = "q" if kind is int else "d"
        try:
            data = array(code, items).tobytes()
        except OverflowError:
            return False
        self.put(_pack_size(code.encode(), len(items)) + data)
        return True


_ITEMS: dict[type, bytes] = {list: b"l", tuple: b"t", set: b"e", frozenset: b"z"}
_EXACT: dict[type, Callable[[_Writer, Any, int], None]] = {
    type(None): lambda writer, _value, _depth: writer.put(b"N"),
    bool: lambda writer, value, _depth: writer.put(b"T" if value is True else b"F"),
    int: _Writer.write_int,
    float: lambda writer, value, _depth: writer.put(_pack_float(b"f", value)),
    complex: lambda writer, value, _depth: writer.put(_pack_complex(b"c", value.real, value.imag)),
    str: _Writer.write_str,
    bytes: lambda writer, value, _depth: writer.put_sized(b"b", value),
    **dict.fromkeys(_ITEMS, _Writer.write_items),
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
    """Returns (name of the type, plain data): no name for plain data as such, no data for an opaque value.

    A numpy scalar is the Python number that it equals, an array its type and items.
    """
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    plain: Any = None
    if name == _TAGGED:
        name, plain = value.type, value.value
    elif name in _TEXT_FORM:
        plain = str(value)
    elif name in _ITEMS_FORM:
        plain = list(value)
    elif kind is range:
        plain = [value.start, value.stop, value.step]
    elif issubclass(kind, Mapping):  # ChainMap and its like equal the dict of their items
        name, plain = "", dict(value)
    elif name.startswith("numpy.") and hasattr(value, "dtype") and hasattr(value, "tolist"):
        plain = value.tolist()
        if getattr(value, "shape", None) != ():
            plain = [str(value.dtype), plain]
        elif type(plain) in _EXACT:
            name = ""
        else:
            plain = None
    return name, plain


_TAGGED = "triathlon_runner.sandbox._api.Tagged"
"""Encoded again by the trusted side, in answer keys."""
_TEXT_FORM = frozenset(
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
_ITEMS_FORM = (
    *("collections.deque", "array.array", "builtins.bytearray"),
    *("builtins.dict_keys", "builtins.dict_values", "builtins.dict_items"),
)
