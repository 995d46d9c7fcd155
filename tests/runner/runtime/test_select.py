"""Which lines and variables are chosen (REval, section III-D)."""

import ast
import textwrap

import pytest

from triathlon_runner.runtime._sandboxed.tracer import trace
from triathlon_runner.runtime._select import Choice, blocks, candidate_statements, choose, functions, watches
from triathlon_runner.runtime._trace import read_trace

LIMITS = {"steps": 5_000, "text": 2_000, "characters": 200_000}


def block_lines(body: str) -> list[list[int]]:
    """The lines of each block of `f`, whose body begins on line 2."""
    tree = ast.parse("def f(a, b):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    "))
    found = blocks(next(functions(tree)))
    return [[statement.lineno for statement in block.statements] for block in found if block.statements]


def chosen(program: str, arguments: str = "()") -> Choice:
    program = textwrap.dedent(program).strip("\n")
    wanted = watches(program)
    found = read_trace(trace(program, {"function": "f", "arguments": arguments}, wanted, LIMITS), wanted)
    return choose(candidate_statements(program), found)


def pairs(program: str, arguments: str = "()") -> list[tuple[int, str]]:
    return chosen(program, arguments).pairs


# Blocks


def test_a_branch_ends_a_block_and_both_ways_meet_again() -> None:
    """The header stands at the end of its block."""
    assert block_lines("x = 1\nif a:\n    y = 2\nelif b:\n    y = 3\nelse:\n    y = 4\nz = 5") == [
        [2, 3], [4], [5], [9], [6], [8],
    ]  # fmt: skip


def test_a_loop_header_is_a_block_of_its_own() -> None:
    """It is executed more often than what stands before it."""
    assert block_lines("x = 1\nfor i in a:\n    x += i\n    x -= 1\nelse:\n    x = 0\nreturn x") == [
        [2], [3], [4, 5], [7], [8],
    ]  # fmt: skip


def test_break_continue_and_return_end_blocks() -> None:
    """Behind them comes only what control can reach."""
    body = "while a:\n    if b:\n        break\n    if a:\n        continue\n    x = 1\nreturn 1\nx = 2"
    assert block_lines(body) == [[2], [3], [8], [4], [5], [6], [7]]


def test_with_does_not_branch_and_try_does() -> None:
    """Handlers are reached from the beginning of the body."""
    assert block_lines("with a:\n    x = 1\nx = 2") == [[2, 3, 4]]
    body = "try:\n    x = 1\nexcept KeyError:\n    x = 2\nelse:\n    x = 3\nfinally:\n    x = 4\nx = 5"
    assert sorted(block_lines(body)) == [[2, 3], [5], [7], [9], [10]]


def test_match_branches_into_its_cases() -> None:
    """And may take none of them."""
    assert block_lines("match a:\n    case 1:\n        x = 1\n    case _:\n        x = 2\nreturn x") == [
        [2], [4], [6], [7],
    ]  # fmt: skip


def test_nested_functions_and_methods_have_blocks_of_their_own() -> None:
    """A `def` inside is one statement of the outer function."""
    tree = ast.parse(
        "def f():\n    def g():\n        return 1\n    return g\nclass C:\n    def m(self): pass\n"
    )
    assert [function.name for function in functions(tree)] == ["f", "g", "m"]


# Lines


def test_the_last_suitable_statement_of_a_block_is_chosen() -> None:
    """Assignments, augmented or annotated ones, returns and expressions; not constants or docstrings."""
    program = '''
        def f(a):
            """Documented."""
            x = a + 1
            y: int = x + 1
            "not a docstring"
            if y:
                y += 1
                pass
            return y
        '''
    assert pairs(program, "(1,)") == [(4, "y"), (7, "y"), (9, "y")]


def test_lines_that_are_not_executed_are_chosen_too() -> None:
    """Coverage needs questions whose answer is NO."""
    assert pairs("def f(a):\n    if a:\n        a = a + 1\n    return a", "(0,)") == [(3, "a"), (4, "a")]


@pytest.mark.parametrize("value", ["0", "'a'", "None", "[]", "{}", "()", "[1, 2]", "(1, 'a')", "{1, 2}"])
def test_naive_assignments_are_skipped(value: str) -> None:
    """A constant, an empty collection, or one of constants only."""
    choice = chosen(f"def f():\n    x = {value}\n    for i in range(2): pass\n    return i")
    assert [line for line, _ in choice.pairs] == [4]
    assert choice.left_out == {2: "an assignment of a plain constant"}


@pytest.mark.parametrize("value", ["[a]", "{'k': 1}", "-1", "a", "[[]]", "list()", "f'{a}'"])
def test_other_assignments_are_kept(value: str) -> None:
    """A dict with something in it is one of them, as REval has it."""
    assert pairs(f"def f(a):\n    x = {value}\n    for i in range(2): pass\n    return i", "(1,)")[0] == (
        2,
        "x",
    )


def test_augmented_assignments_of_constants_are_kept() -> None:
    """`a += 1` changes a."""
    assert pairs("def f(a):\n    a += 1\n    if a: a = 0\n    return a", "(1,)")[0] == (2, "a")


# Variables


@pytest.mark.parametrize(
    ("target", "variable"),
    [
        ("x[0]", "x[0]"),
        ("(p, q)", "(p, q)"),
        ("p, q", "(p, q)"),
        ("x[0], q", "(x[0], q)"),
        ("*p, q", "(*p, q)"),
    ],
)
def test_targets_are_variables(target: str, variable: str) -> None:
    """Names, subscripts and tuples of them, as they are written."""
    assert pairs(f"def f(x, a):\n    {target} = a\n    if a: pass", "([0], (1, 2))") == [(2, variable)]


def test_the_underscore_is_no_variable() -> None:
    """It says that nobody looks."""
    assert pairs("def f(a):\n    _ = a + 1\n    if a: pass", "(1,)") == []


def test_a_target_that_calls_is_its_container() -> None:
    """Reading a variable must not call anything."""
    assert pairs("def f(x):\n    x[len('a')] = x\n    if x: pass", "([0, 0],)") == [(2, "x")]


@pytest.mark.parametrize(
    ("returned", "variable"), [("x", "x"), ("x, y", "x"), ("(x + 1, y)", "y"), ("x + 1", None), ("[x]", None)]
)
def test_returned_names_are_variables(returned: str, variable: str | None) -> None:
    """Alone or in a tuple; other expressions have no variable."""
    found = pairs(f"def f(x, y):\n    if x:\n        pass\n    return {returned}", "(1, 2)")
    assert found == ([(4, variable)] if variable else [])


def test_a_constant_return_takes_the_nearest_earlier_variable() -> None:
    """Nearest in the control flow: what a branch assigns does not count behind another branch's end."""
    program = """
        def f(a):
            x = a + 1
            if a:
                y = a + 2
                return True
            return False
        """
    assert pairs(program, "(1,)") == [(2, "x"), (5, "y"), (6, "y")]
    assert pairs("def f():\n    if 0: pass\n    return 1") == []


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
    choice = chosen(program)
    assert choice.pairs == [(7, "xs"), (10, "self.n")]
    assert choice.left_out[9] == "an expression that did not run"
    assert choice.left_out[12] == "an expression that changed no variable"


def test_self_is_never_a_variable() -> None:
    """It is hard to express and compare."""
    program = (
        "class C:\n    def m(self):\n        self.x = 1\n        return self\ndef f():\n    return C().m()\n"
    )
    assert all(variable != "self" for _, variable in pairs(program))


def test_the_choice_is_the_same_every_time() -> None:
    """By line; among several candidates always the same one."""
    program = "def f(a, b):\n    a.append(b.append(1))\n    if a: pass\n    return a, b"
    assert pairs(program, "([], [])") == [(2, "a"), (4, "a")]
