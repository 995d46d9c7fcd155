"""Which lines and variables are chosen (REval, section III-D)."""

import ast
import textwrap
from pathlib import Path

import pytest

from support.case_files import programs
from support.traced import traced
from triathlon_runner.runtime._sandboxed.select import (
    blocks,
    candidate_statements,
    choose,
    functions,
    watches,
)
from triathlon_runner.runtime._sandboxed.tracer import questions


def chosen(program: str, arguments: str) -> list[tuple[int, str]]:
    """The pairs of `f`; without a variable where nothing can be asked about a block end."""
    places = candidate_statements(program)
    return choose(places, traced(program, arguments, watches(places)).changed)


BLOCKS = programs(Path(__file__).with_name("blocks.txt"))


@pytest.mark.parametrize(("body", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_blocks(body: str, expected: list[list[int]]) -> None:
    """Statements that are executed one after the other, breadth first."""
    tree = ast.parse("def f(a, b):\n" + textwrap.indent(body, "    "))
    found = blocks(functions(tree)[0])
    lines = [[statement.lineno for statement in block.statements] for block in found if block.statements]
    assert lines == expected


CHOSEN = programs(Path(__file__).with_name("chosen_pairs.txt"))


@pytest.mark.parametrize(("program", "arguments", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_chosen_pairs(program: str, arguments: tuple[object, ...], expected: list[tuple[int, str]]) -> None:
    """The last suitable statement of each block, with the first variable that it assigns or gives back."""
    assert chosen(program, repr(arguments)) == expected


NAIVE = ["0", "'a'", "None", "[]", "{}", "()", "[1, 2]", "(1, 'a')", "{1, 2}"]
OTHERS = ["[a]", "{'k': 1}", "-1", "a", "[[]]", "list()", "f'{a}'"]


@pytest.mark.parametrize(
    ("value", "variable"), [*((value, "") for value in NAIVE), *((value, "x") for value in OTHERS)]
)
def test_naive_assignments_are_skipped(value: str, variable: str) -> None:
    """A constant, an empty collection, or one of constants only; a dict counts, as REval has it."""
    program = f"def f(a):\n    x = {value}\n    for i in range(2): pass\n    return i"
    assert chosen(program, "(1,)") == [(2, variable), (4, "i")]


def test_a_borrowed_variable_has_the_value_of_its_own_method() -> None:
    """An index that is a parameter here and there is this method's."""
    program = next(program for heading, (program, *_) in CHOSEN.items() if "borrows" in heading)
    asked = questions(program, {"function": "f", "arguments": "()"}, [], 0)["statements"]
    assert [[state["text"] for state in one["states"]] for one in asked if one["line"] == 9] == [["1"]]
