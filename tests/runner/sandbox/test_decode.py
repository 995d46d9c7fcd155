"""Reading what a child wrote, whatever that is."""

import json
import struct
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.values import nested
from triathlon_runner.sandbox import MalformedError, Tagged, decode, encode
from triathlon_runner.sandbox._inside.child import MAX_DEPTH
from triathlon_runner.sandbox._wire import read_json, to_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
COLUMNS = st.lists(st.integers()) | st.lists(st.text()) | st.lists(st.floats(allow_nan=False))
VALUES = nested(SCALARS | COLUMNS, st.integers() | st.text() | st.tuples(st.integers(), st.text()))


def shape(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value), [shape(item) for item in value]
    if isinstance(value, dict):
        return dict, [(shape(key), shape(item)) for key, item in value.items()]
    return type(value), value


def is_value_or_malformed(data: bytes) -> bool:
    """Whether the decoder refuses it, or gives a value that reads the same a second time."""
    try:
        found = decode(data)
    except MalformedError:
        return True
    return repr(shape(decode(data))) == repr(shape(found))


@given(VALUES, st.integers(0, 200), st.integers(0, 255), st.binary(max_size=200))
def test_values_come_back_undamaged(value: Any, place: int, byte: int, other: bytes) -> None:
    """With every type; a changed byte, a cut or any other bytes never make the decoder fail otherwise."""
    data = bytearray(encode(value, 1 << 20))
    assert shape(decode(bytes(data))) == shape(value)
    data[place % len(data)] = byte
    assert is_value_or_malformed(bytes(data))
    assert is_value_or_malformed(bytes(data[: place % len(data)]))
    assert is_value_or_malformed(other)


@pytest.mark.parametrize(
    "data",
    [
        b"l*" + struct.pack("<I", 0xFFFFFFF0) + b"N",
        b"lq" + struct.pack("<I", 0x1FFFFFFF),
        b"s" + struct.pack("<I", 0xFFFFFFFF),
        b"lu" + struct.pack("<III", 1, 5, 0) + b"s" + struct.pack("<I", 1) + b"x",
        b"l*\1\0\0\0" * 10_000 + b"N",
        b"x\1\0a" * 10_000 + b"N",
        b"e*" + struct.pack("<I", 1) + b"l*\0\0\0\0",
        b"NN",
        b"i\0\0",
        b"",
        b"?",
    ],
    ids=["items", "column", "text", "lengths", "nested", "tagged", "unhashable", "two", "cut", "none", "tag"],
)
def test_lying_lengths_and_nesting_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(data)


def test_keys_that_collide_are_refused() -> None:
    """Numbers that share one hash take quadratic time to put into a table; large honest sets do not."""
    prime = (1 << 61) - 1
    numbers = [(number * prime).to_bytes(12, "little", signed=True) for number in range(1, 100_001)]
    items = b"".join(b"I" + struct.pack("<I", 12) + number for number in numbers)
    start = time.process_time()
    for tag in (b"e", b"z", b"d"):
        with pytest.raises(MalformedError):
            decode(tag + b"*" + struct.pack("<I", len(numbers)) + items)
    assert time.process_time() - start < 30  # building one of them takes minutes
    honest = {number * 7 for number in range(-1000, 100_000)} | {str(number) for number in range(1000)}
    assert decode(encode(honest, 1 << 24)) == honest


def test_maps_with_keys_that_no_dict_has_are_pairs() -> None:
    """Keys that are equal here only, or can't be a dict's, keep their map a list of pairs, however deep."""
    assert read_json(b'{"m": [["a", 1], [2, {"m": []}]]}') == {"a": 1, 2: {}}
    for first, second in ([1, 1.0], [True, 1], [[1], 2], [None, "null"], [{"y": "a"}, "a"]):
        text = json.dumps({"m": [[first, 0], [second, 1]]})
        read = read_json(text.encode())
        assert isinstance(read, Tagged) and read.type == "map"
        assert to_json(read) == json.loads(text)
    deep: object = 0
    for _ in range(MAX_DEPTH // 2):
        deep = {"m": [[[1], deep]]}
    assert to_json(read_json(json.dumps(deep).encode())) == deep
