"""Reading what a child wrote, whatever that is."""

import json
import struct
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon_runner.sandbox import MalformedError, Tagged, decode, encode
from triathlon_runner.sandbox._inside.child import MAX_DEPTH, ValueTooDeepError, ValueTooLargeError
from triathlon_runner.sandbox._wire import JsonWire, to_json

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
)  # fmt: skip
keys = st.integers() | st.text() | st.tuples(st.integers(), st.text())
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(keys, inner)
        | st.sets(keys)
        | st.frozensets(keys)
        | st.lists(st.integers(), min_size=4)
        | st.lists(st.text(), min_size=4)
        | st.lists(st.floats(allow_nan=False), min_size=4)
    ),
    max_leaves=30,
)


def shape(value: Any) -> Any:
    """The value with the types of all its parts."""
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


@given(values)
def test_what_is_encoded_comes_back(value: Any) -> None:
    """Decoding gives the value that was encoded, with every type."""
    assert shape(decode(encode(value, 1 << 20))) == shape(value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_malformed(data: bytes) -> None:
    """No input makes the decoder fail in another way."""
    assert is_value_or_malformed(data)


@given(values, st.integers(0, 200), st.integers(0, 255))
def test_damaged_values_are_a_value_or_malformed(value: Any, place: int, byte: int) -> None:
    """A changed byte, or a cut, never makes the decoder fail in another way."""
    data = bytearray(encode(value, 1 << 20))
    data[place % len(data)] = byte
    assert is_value_or_malformed(bytes(data))
    assert is_value_or_malformed(bytes(data[: place % len(data)]))


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
        b"",
        b"?",
    ],
    ids=["items", "column", "text", "lengths", "nested", "tagged", "unhashable", "two", "none", "tag"],
)
def test_lying_lengths_and_nesting_are_refused(data: bytes) -> None:
    """Counts beyond the data, bottomless nesting and leftovers are malformed."""
    with pytest.raises(MalformedError):
        decode(data)


def test_keys_that_collide_are_refused() -> None:
    """A set of numbers that share one hash, which would take quadratic time to build, is malformed."""
    prime = (1 << 61) - 1
    numbers = [(number * prime).to_bytes(12, "little", signed=True) for number in range(1, 100_001)]
    items = b"".join(b"I" + struct.pack("<I", 12) + number for number in numbers)
    start = time.process_time()
    for tag in (b"e", b"z", b"d"):
        with pytest.raises(MalformedError):
            decode(tag + b"*" + struct.pack("<I", len(numbers)) + items)
    assert time.process_time() - start < 30  # building one of them takes minutes


def test_honest_sets_are_not_refused() -> None:
    """Sets whose members share no hash on purpose are read whatever their size."""
    honest = {number * 7 for number in range(-1000, 100_000)} | {str(number) for number in range(1000)}
    assert decode(encode(honest, 1 << 24)) == honest


def test_encoding_is_bounded() -> None:
    """A value that would be too long, or is nested too deep, is refused before it is written out."""
    doubling: list[Any] = [1]
    for _ in range(60):
        doubling = [doubling, doubling]
    with pytest.raises(ValueTooLargeError):
        encode(doubling, 1 << 20)
    circular: list[Any] = []
    circular.append(circular)
    with pytest.raises(ValueTooDeepError):
        encode(circular, 1 << 20)
    with pytest.raises(ValueTooLargeError):
        encode(1 << 10**7, 1 << 20)


def test_maps_with_keys_that_no_dict_has_are_pairs() -> None:
    """Keys that are equal here only, or can't be a dict's, keep their map a list of pairs, however deep."""
    wire = JsonWire()
    assert wire.value(b'{"m": [["a", 1], [2, {"m": []}]]}') == {"a": 1, 2: {}}
    for keys in (b"[1,1.0]", b"[true,1]", b"[[1],2]", b'[null,"null"]', b'[{"y":"a"},"a"]'):
        first, second = json.loads(keys)
        text = json.dumps({"m": [[first, 0], [second, 1]]})
        read = wire.value(text.encode())
        assert isinstance(read, Tagged) and read.type == "map"
        assert to_json(read) == json.loads(text)
    deep: object = 0
    for _ in range(MAX_DEPTH // 2):
        deep = {"m": [[[1], deep]]}
    assert to_json(wire.value(json.dumps(deep).encode())) == deep
