"""Types of values, as far as they say which problem can follow which."""

import pytest

from pair_search import MIXED, common_type, fits, type_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "bool"),
        (3, "int"),
        ([], "list"),
        ([1, 2], "list[int]"),
        ([1, 2.0], "list[mixed]"),
        ([[], [1]], "list[list[int]]"),
        ((1, "a"), "tuple[mixed]"),
        ({}, "dict"),
        ({"a": [1]}, "dict[str, list[int]]"),
        (None, "NoneType"),
    ],
)
def test_types(value: object, text: str) -> None:
    """Int and bool are two types; a collection's type says what it holds, an empty one leaves it open."""
    assert str(type_of(value)) == text


def test_common_type() -> None:
    """Values of one function share a type where the empty ones fit the others, else they are mixed."""
    assert str(common_type(map(type_of, [[], [1], []]))) == "list[int]"
    assert common_type(map(type_of, [1, None])) is MIXED


def test_fits() -> None:
    """A result fits an argument of the same type; what is mixed or another type never does."""
    assert fits(type_of([1]), type_of([2]))
    assert fits(type_of([]), type_of(["a"]))
    assert not fits(type_of([1]), type_of(["a"]))
    assert not fits(type_of(True), type_of(1))
    assert not fits(MIXED, MIXED)
    assert not fits(type_of([1, "a"]), type_of([1, "a"]))
