"""Inputs read from replies."""

import pytest

from triathlon_runner.evolved.evolve._inputs import read_inputs


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
