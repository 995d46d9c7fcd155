"""Inputs read from replies and made by mutation; inputs chosen by what they kill."""

import ast
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon_runner.evolved.evolve._inputs import mutate, mutated, read_inputs
from triathlon_runner.evolved.evolve._mutants import select

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.sets(st.integers(), max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("line", "arity", "expected"),
    [
        ("f(1, 'a')", 2, "(1, 'a')"),
        (">>> f([1, 2])", 1, "([1, 2],)"),
        ("- f(3)", 1, "(3,)"),
        ("f(1) == 2", 1, "(1,)"),
        ("(1, 2)", 2, "(1, 2)"),
        ("[1, 2]", 1, "([1, 2],)"),
        ("f(1)", 2, None),
        ("f(x=1)", 1, None),
        ("f(*[1])", 1, None),
        ("g(1)", 1, None),
        ("Here are some calls", 1, None),
        ("f(" + "1," * 3000 + ")", 1, None),
        ("f(" + "-" * 1800 + "1)", 1, None),
        ("f(" + "[" * 150 + "]" * 150 + ")", 1, None),
        ("f(1); f(2)", 1, None),
        ("f = 1", 1, None),
    ],
)
def test_read_inputs(line: str, arity: int, expected: str | None) -> None:
    """A call of the function, or a bare argument tuple, becomes an argument tuple; the rest is left out."""
    assert read_inputs(line, "f", arity) == ([] if expected is None else [expected])


def test_read_inputs_from_a_block() -> None:
    """Calls are read from the code block, each once, whatever stands around it."""
    assert read_inputs("Sure: f(9)\n```\nf(1)\nf(1)\nf(2)\n```", "f", 1) == ["(1,)", "(2,)"]


@given(_VALUES, st.integers())
def test_mutation_keeps_the_type(value: Any, seed: int) -> None:
    """A mutated value has the type of the value, and a tuple its length."""
    changed = mutate(value, random.Random(seed))
    assert type(changed) is type(value)
    assert not isinstance(value, tuple) or len(changed) == len(value)


def test_mutated_inputs() -> None:
    """Mutated inputs are new, parse, keep the arity, and are the same for the same seed."""
    known = ["([1, 2, 3], 'ab')", "([], 'c')", "(list(range(9)), 'x')"]
    found = mutated(known, 20, "seed")
    assert len(found) == len(set(found)) == 20
    assert not set(found) & set(known)
    assert all(len(ast.literal_eval(text)) == 2 for text in found)
    assert found == mutated(known, 20, "seed")
    assert found != mutated(known, 20, "other")
    assert mutated(["(open('x'),)"], 5, "seed") == []


def test_selection_kills_what_all_kill() -> None:
    """The inputs chosen kill every mutant that any kills; the first ones are kept, the rest fills up."""
    kills: dict[str, set[int]] = {"a": {5}, "b": {5, 6}, "c": {7}, "d": set()}
    assert select(kills, count=4, inputs=9, first=2) == [0, 1, 5, 7]
    assert select(kills, count=6, inputs=9, first=2) == [0, 1, 2, 3, 5, 7]
