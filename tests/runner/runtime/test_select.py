"""Which lines and variables are chosen (REval, section III-D)."""

import ast
import textwrap

import pytest

from support.traced import traced
from triathlon_runner.runtime._sandboxed.select import (
    blocks,
    candidate_statements,
    choose,
    functions,
    watches,
)
from triathlon_runner.runtime._sandboxed.tracer import questions


def block_lines(body: str) -> list[list[int]]:
    """The lines of each block of `f`, whose body begins on line 2."""
    tree = ast.parse("def f(a, b):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    "))
    found = blocks(functions(tree)[0])
    return [[statement.lineno for statement in block.statements] for block in found if block.statements]


def chosen(program: str, arguments: str = "()") -> list[tuple[int, str]]:
    """The pairs of `f`; without a variable where nothing can be asked about a block end."""
    program = textwrap.dedent(program).strip("\n")
    places = candidate_statements(program)
    return choose(places, traced(program, arguments, watches(places)).changed)


def pairs(program: str, arguments: str = "()") -> list[tuple[int, str]]:
    return [pair for pair in chosen(program, arguments) if pair[1]]


# Blocks


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # a branch: the header stands at the end of its block
        ("x = 1\nif a:\n    y = 2\nelif b:\n    y = 3\nelse:\n    y = 4\nz = 5",
         [[2, 3], [4], [5], [9], [6], [8]]),
        # the header of a loop is executed more often than what stands before it
        ("x = 1\nfor i in a:\n    x += i\n    x -= 1\nelse:\n    x = 0\nreturn x",
         [[2], [3], [4, 5], [7], [8]]),
        # behind `break`, `continue` and `return` comes only what control can reach
        ("while a:\n    if b:\n        break\n    if a:\n        continue\n    x = 1\nreturn 1\nx = 2",
         [[2], [3], [8], [4], [5], [6], [7]]),
        # `with` does not branch
        ("with a:\n    x = 1\nx = 2", [[2, 3, 4]]),
        # handlers are reached from the beginning of the body
        ("try:\n    x = 1\nexcept KeyError:\n    x = 2\nelse:\n    x = 3\nfinally:\n    x = 4\nx = 5",
         [[2, 3], [7], [5], [9], [10]]),
        # `match` may take none of its cases
        ("match a:\n    case 1:\n        x = 1\n    case _:\n        x = 2\nreturn x", [[2], [4], [6], [7]]),
    ],
)  # fmt: skip
def test_blocks(body: str, expected: list[list[int]]) -> None:
    """Statements that are executed one after the other, breadth first."""
    assert block_lines(body) == expected


def test_nested_functions_and_methods_have_blocks_of_their_own() -> None:
    """A `def` inside is one statement of the outer function."""
    tree = ast.parse(
        "def f():\n    def g():\n        return 1\n    return g\nclass C:\n    def m(self): pass\n"
    )
    assert [function.name for function in functions(tree)] == ["f", "g", "m"]


# Lines and variables


LAST = '''def f(a):
    """Documented."""
    x = a + 1
    y: int = x + 1
    "not a docstring"
    if y:
        y += 1
        pass
    return y
'''
NEAREST = "def f(a):\n    x = a + 1\n    if a:\n        y = a + 2\n        return True\n    return False"


def assigning(target: str) -> str:
    return f"def f(x, a):\n    {target} = a\n    if a: pass"


def returning(value: str) -> str:
    return f"def f(x, y):\n    if x:\n        pass\n    return {value}"


@pytest.mark.parametrize(
    ("program", "arguments", "expected"),
    [
        # the last suitable statement of a block: no constants or docstrings
        (LAST, "(1,)", [(4, "y"), (7, "y"), (9, "y")]),
        # lines that are not executed, too: coverage needs questions whose answer is NO
        ("def f(a):\n    if a:\n        a = a + 1\n    return a", "(0,)", [(3, "a"), (4, "a")]),
        ("def f(a):\n    a += 1\n    if a: a = 0\n    return a", "(1,)", [(2, "a"), (4, "a")]),
        # targets as they are written; `_` says that nobody looks, and reading must not call anything
        (assigning("x[0]"), "([0], (1, 2))", [(2, "x[0]")]),
        (assigning("p, q"), "([0], (1, 2))", [(2, "(p, q)")]),
        (assigning("x[0], q"), "([0], (1, 2))", [(2, "(x[0], q)")]),
        (assigning("*p, q"), "([0], (1, 2))", [(2, "(*p, q)")]),
        (assigning("x[len('a')]"), "([0, 0], 1)", [(2, "x")]),
        (assigning("_"), "(1, 2)", []),
        # returned names, alone or in a tuple
        (returning("x"), "(1, 2)", [(4, "x")]),
        (returning("x, y"), "(1, 2)", [(4, "x")]),
        (returning("(x + 1, y)"), "(1, 2)", [(4, "y")]),
        (returning("x + 1"), "(1, 2)", []),
        (returning("[x]"), "(1, 2)", []),
        # a constant return takes the variable before it that is nearest in the control flow
        (NEAREST, "(1,)", [(2, "x"), (5, "y"), (6, "y")]),
        ("def f():\n    if 0: pass\n    return 1", "()", []),
        # among several changed variables always the same one
        ("def f(a, b):\n    a.append(b.append(1))\n    if a: pass\n    return a, b", "([], [])",
         [(2, "a"), (4, "a")]),
        # never `self`
        ("class C:\n    def m(self):\n        self.x = 1\n        return self\ndef f():\n    C().m()", "()",
         []),
    ],
)  # fmt: skip
def test_chosen_pairs(program: str, arguments: str, expected: list[tuple[int, str]]) -> None:
    """The last suitable statement of each block, with the first variable that it assigns or gives back."""
    assert pairs(program, arguments) == expected


NAIVE = ["0", "'a'", "None", "[]", "{}", "()", "[1, 2]", "(1, 'a')", "{1, 2}"]
OTHERS = ["[a]", "{'k': 1}", "-1", "a", "[[]]", "list()", "f'{a}'"]


@pytest.mark.parametrize(
    ("value", "variable"), [*((value, "") for value in NAIVE), *((value, "x") for value in OTHERS)]
)
def test_naive_assignments_are_skipped(value: str, variable: str) -> None:
    """A constant, an empty collection, or one of constants only; a dict counts, as REval has it."""
    program = f"def f(a):\n    x = {value}\n    for i in range(2): pass\n    return i"
    assert chosen(program, "(1,)") == [(2, variable), (4, "i")]


def test_a_constant_return_borrows_from_another_method_only_what_it_has_itself() -> None:
    """Attributes of self, with indices that are its own parameters."""
    program = """
        class Shop:
            def __init__(self):
                self.stock = {}
            def add(self, name, n):
                local = n
                self.stock[name] = local
            def has(self, name):
                if name in self.stock:
                    return True
                return False
        def f():
            shop = Shop()
            shop.add('a', 1)
            return shop.has('a')
        """
    assert (9, "self.stock[name]") in pairs(program)
    assert (10, "self.stock[name]") in pairs(program)
    run = {"function": "f", "arguments": "()"}
    asked = questions(textwrap.dedent(program).strip("\n"), run, [], 0)["statements"]
    assert [[state["text"] for state in one["states"]] for one in asked if one["line"] == 9] == [["1"]]


def test_a_bare_expression_is_asked_for_what_it_changed() -> None:
    """New variables, changed ones, attributes of self; nothing where it did not run or changed nothing."""
    program = """
        class C:
            def __init__(self):
                self.n = []
            def m(self, xs, go):
                ys = [1]
                if go:
                    xs.append(self.n.append(1))
                if not go:
                    xs.append(2)
                self.n.append(2)
                if go:
                    len(xs)
        def f():
            C().m([], True)
        """
    assert pairs(program) == [(7, "xs"), (10, "self.n")]
    assert {(9, ""), (12, "")} <= set(chosen(program))
