"""Changes that turn what a model wrote into a program; each adds a description to `changes`."""

import ast
import typing
from collections import Counter
from collections.abc import Iterator, Set

from triathlon_runner.syntax import (
    Function,
    bound_names,
    changed_names,
    defined_names,
    function_names,
    lines_of,
    method_of_class,
    missing_names,
    parse_or_none,
    statements,
    text_of,
    used_names,
)

_RUNS_THINGS = frozenset({"print", "input", "unittest", "doctest", "pytest"})
_TYPING = frozenset(typing.__all__)


def with_missing_names(
    program: str, sources: list[tuple[str, str]], entry_point: str, changes: list[str]
) -> str:
    """The program with the imports and helpers that it lacks and a source has.

    Args:
        program: what the model wrote.
        sources: (where from, code), the nearest first.
        entry_point: never taken from a source: the model has to write it.
        changes: gets a description of each change.
    """
    for where, code in sources:
        added = _statements_for(program, code, entry_point)
        if added:
            program = _insert_first(program, added)
            names = ", ".join(sorted(set().union(*map(defined_names, added))))
            changes.append(f"took {names} from {where}")
    return program


def _statements_for(program: str, code: str, entry_point: str) -> list[str]:
    """The statements of the code that define what the program lacks, and what these lack."""
    offered = [s for s in statements(code) if not (isinstance(s, Function) and s.name == entry_point)]
    wanted = missing_names(program)
    chosen: set[int] = set()
    while True:
        new = {n for n, s in enumerate(offered) if n not in chosen and _binds_or_changes(s, wanted)}
        if not new:
            return [text_of(code, offered[n]) for n in sorted(chosen)]
        chosen |= new
        wanted |= set().union(*(missing_names(text_of(code, offered[n])) for n in new))


def _binds_or_changes(statement: ast.stmt, wanted: set[str]) -> bool:
    imports_all = isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"
    return bool(wanted) and bool(imports_all or (bound_names(statement) | changed_names(statement)) & wanted)


def without_demonstration(program: str, entry_point: str, changes: list[str]) -> str:
    """The program without what it runs after the function: prints, asserts, examples, a main part.

    Set-up stays: statements in front of the function, and those that bind or change what a function uses.
    """
    body = statements(program)
    if entry_point not in defined_names(program):
        return program
    drop = _demonstration(program, body, entry_point)
    dropped_lines = {line for statement in drop for line in lines_of(statement)}
    remaining_lines = {line for statement in body if statement not in drop for line in lines_of(statement)}
    if not drop or dropped_lines & remaining_lines:  # two statements share a line
        return program
    changes.append(f"left out {len(drop)} statement(s) that only run examples")
    lines = [text for number, text in enumerate(program.split("\n"), 1) if number not in dropped_lines]
    return "\n".join(lines).rstrip() + "\n"


def _demonstration(program: str, body: list[ast.stmt], entry_point: str) -> list[ast.stmt]:
    definitions = [s for s in body if isinstance(s, Function | ast.ClassDef | ast.Import | ast.ImportFrom)]
    if len(definitions) == len(body):  # most programs: only definitions, no demonstration
        return []
    needed = {entry_point}.union(*(missing_names(text_of(program, statement)) for statement in definitions))
    own = {s.name for s in definitions if isinstance(s, Function | ast.ClassDef)}
    relevant = own | {entry_point} | _RUNS_THINGS
    position = max(n for n, statement in enumerate(body) if entry_point in bound_names(statement))
    return [
        statement
        for n, statement in enumerate(body)
        if statement not in definitions
        and not (bound_names(statement) | changed_names(statement)) & needed
        and (_is_demonstration(statement, relevant) if n > position else "input" in used_names(statement))
    ]


def _is_demonstration(statement: ast.stmt, relevant_names: Set[str]) -> bool:
    """Whether it is an assertion, a main part, or uses the program's own names, `print` or a test library."""
    is_main = isinstance(statement, ast.If) and "__name__" in used_names(statement.test)
    return is_main or isinstance(statement, ast.Assert) or bool(used_names(statement) & relevant_names)


def under_the_tests_name(program: str, entry_point: str, other_blocks: list[str], changes: list[str]) -> str:
    """The program with the tests' name bound, where no code has it and exactly one function can be meant.

    A method is meant where a class has it, as online judges ask for it: each call makes an object of its own.
    """
    if entry_point in defined_names(program):
        return program
    if class_and_method := method_of_class(program, entry_point):
        kind, method = class_and_method
        calls = f"{kind.name}().{method}"
        changes.append(f"{calls} stands for {entry_point}")
        bound = f"def {entry_point}(*arguments, **named):\n    return {calls}(*arguments, **named)"
        return _insert_after(program, kind, bound)
    names = {name for code in (program, *other_blocks) for name in function_names(code)}
    if len(names) != 1 or not function_names(program):
        return program
    (name,) = names
    changes.append(f"{name} stands for {entry_point}")
    statement = [s for s in statements(program) if name in bound_names(s)][-1]
    return _insert_after(program, statement, f"{entry_point} = {name}")


def with_typing_names(program: str, changes: list[str]) -> str:
    """The program with the names of `typing` that it lacks, of those that only annotations use.

    They say nothing about what the program does, but without them it cannot even be loaded.
    """
    tree = parse_or_none(program)
    wanted = missing_names(program) & _TYPING
    if tree is None or not wanted:
        return program
    inside = Counter(name for part in _annotations(tree) for name in _names(part))
    everywhere = Counter(_names(tree))
    names = ", ".join(sorted(name for name in wanted if inside[name] == everywhere[name]))
    if not names:
        return program
    changes.append(f"imported {names} from typing, which annotations name")
    return _insert_first(program, [f"from typing import {names}"])


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.returns:
            yield node.returns
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            yield node.annotation


def _names(node: ast.AST) -> list[str]:
    return [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]


def _insert_after(program: str, statement: ast.stmt, code: str) -> str:
    """Inserts code after a statement, or at the end of the program where that line has a second statement."""
    lines = program.rstrip().split("\n")
    last = lines_of(statement).stop - 1
    shared = any(s.lineno == last and s is not statement for s in statements(program))
    at = len(lines) if shared else last
    return "\n".join([*lines[:at], "", "", code, *lines[at:]]) + "\n"


def _insert_first(program: str, added: list[str]) -> str:
    """Inserts statements after a leading docstring and `from __future__` imports, which must stay first."""
    after = 0
    for statement in statements(program):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_text or is_future):
            break
        after = lines_of(statement).stop - 1
    lines = program.split("\n")
    return "\n".join([*lines[:after], *added, "", *lines[after:]])
