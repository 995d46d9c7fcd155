"""Repairs of a program, each of which adds a description of what it changed to `changes`."""

import ast
import typing
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from triathlon_runner import syntax
from triathlon_runner.replies import _pieces

_RUNS_THINGS = frozenset({"print", "unittest", "doctest", "pytest", "argparse", "exit", "quit", "SystemExit"})
_EXITS = frozenset({"sys.exit", "sys.argv", "sys.stdin", "sys.stdout", "os._exit"})
_TYPING = frozenset(typing.__all__)
_DEFINITIONS = syntax.Function | ast.ClassDef | ast.Import | ast.ImportFrom


def with_missing_names(
    program: str, sources: Sequence[str], where: str, entry_point: str, changes: list[str]
) -> str:
    """The program with the imports and helpers that it lacks and a source has.

    Of several sources that have a name, the last counts. `entry_point` is never taken from them: the model
    has to write it.
    """
    wanted = syntax.missing_names(program) if syntax.parse_or_none(program) else set()
    if not wanted:
        return program
    offered: list[tuple[ast.stmt, str]] = []
    by_name: dict[str, list[int]] = {}
    for source in sources:
        lines = syntax.program_lines(source)
        places: dict[str, list[int]] = defaultdict(list)
        for statement in syntax.statements(source):
            if isinstance(statement, syntax.Function) and statement.name == entry_point:
                continue
            for name in syntax.bound_names(statement) | syntax.changed_names(statement):
                places[name].append(len(offered))
            offered.append((statement, "\n".join(lines[n - 1] for n in syntax.lines_of(statement))))
        by_name |= places
    # The statements that define the wanted names, and those that these need in turn.
    chosen: set[int] = set()
    waiting = ["*", *sorted(wanted)]
    while waiting:
        for number in by_name.get(name := waiting.pop(), ()):
            if number not in chosen:
                chosen.add(number)
                waiting += syntax.missing_names(offered[number][1]) - {name}
    if not chosen:
        return program
    names = set().union(*(syntax.bound_names(offered[n][0]) for n in chosen))
    changes.append(f"took {', '.join(sorted(names))} from {where}")
    return _insert_first(program, [offered[n][1] for n in sorted(chosen)])


def without_demonstration(program: str, entry_point: str, changes: list[str]) -> str:
    """The program without what it runs after the function: prints, asserts, examples, exits, a main part.

    Set-up stays: statements in front of the function, and those that bind or change what a function or other
    set-up uses, also by a call that has no result: `fill(9)`, `primes.append(2)`. `total = total([1, 2])`
    behind the function is an example of it; an annotation alone is none.
    """
    body = syntax.statements(program)
    tests = set[ast.stmt]()
    if "pytest" in program:
        tests = {statement for statement in body if _needs_pytest(statement, entry_point)}
    definitions = [each for each in body if isinstance(each, _DEFINITIONS) and each not in tests]
    # Most programs are only definitions.
    if len(definitions) == len(body) or entry_point not in syntax.defined_names(program):
        return program
    lines = syntax.program_lines(program)

    def missing_names(*parts: ast.stmt) -> set[str]:
        return syntax.missing_names("\n".join(lines[n - 1] for part in parts for n in syntax.lines_of(part)))

    own = {
        statement.name: statement
        for statement in definitions
        if isinstance(statement, syntax.Function | ast.ClassDef)
    }
    effects = {name: _effects(statement) for name, statement in own.items()}
    needed = {entry_point} | own.keys() | missing_names(*definitions)
    binding = [n for n, statement in enumerate(body) if entry_point in syntax.bound_names(statement)]
    is_function = (n for n in binding if syntax.function_values(body[n], entry_point))
    position = max(is_function, default=binding[-1])
    set_up: set[ast.stmt] = set(definitions)
    for n, statement in reversed([*enumerate(body)]):
        if statement in set_up:
            continue
        # Behind the function only a result is bound to its name.
        bound = syntax.bound_names(statement) - ({entry_point} if n > position else set())
        changed = syntax.changed_names(statement) | _changed_by_calls(statement, effects, entry_point)
        if (bound | changed) & needed:
            set_up.add(statement)
            needed |= missing_names(statement)
    relevant = own.keys() | {entry_point} | _RUNS_THINGS
    dropped: set[ast.stmt] = set()
    examples = {"input"}  # and names that an example binds: what follows from it is one
    for n, statement in enumerate(body):
        is_remark = isinstance(statement, ast.AnnAssign) and statement.value is None  # `Complexity: O(n)`
        is_example = is_remark or statement in tests or not examples.isdisjoint(syntax.used_names(statement))
        if statement not in set_up and (
            is_example or (n > position and _is_demonstration(statement, relevant))
        ):
            dropped.add(statement)
            examples |= syntax.bound_names(statement)
    dropped_lines = {line for statement in dropped for line in syntax.lines_of(statement)}
    remaining_lines = {
        line for statement in body if statement not in dropped for line in syntax.lines_of(statement)
    }
    if not dropped or dropped_lines & remaining_lines:  # two statements share a line
        return program
    changes.append(f"left out {len(dropped)} statement(s) that only run examples")
    remaining = [text for number, text in enumerate(lines, 1) if number not in dropped_lines]
    return "\n".join(remaining).rstrip() + "\n"


def _needs_pytest(statement: ast.stmt, entry_point: str) -> bool:
    """Whether it imports or uses pytest, which no program has here, and is not the function."""
    bound = syntax.bound_names(statement)
    return entry_point not in bound and "pytest" in bound | syntax.used_names(statement)


class _Effects(NamedTuple):
    """What a statement, or the body of a function, does where it is executed."""

    used: set[str]
    """Names, and dotted names such as `sys.exit`."""
    changed: set[str]
    """Variables, also those whose method is called without a result."""
    called: set[str]
    """Names of functions that are called without a result."""


def _effects(statement: ast.stmt) -> _Effects:
    values = [node.value for node in ast.walk(statement) if isinstance(node, ast.Expr)]
    called = [value.func for value in values if isinstance(value, ast.Call)]
    changed = syntax.changed_names(statement)
    changed |= {name for node in ast.walk(statement) if isinstance(node, ast.Global) for name in node.names}
    changed |= {syntax.root_name(func) for func in called if isinstance(func, ast.Attribute)}
    names = {func.id for func in called if isinstance(func, ast.Name)}
    return _Effects(syntax.used_names(statement) | _dotted_names(statement), changed, names)


def _changed_by_calls(statement: ast.stmt, own: Mapping[str, _Effects], entry_point: str) -> set[str]:
    """Variables that a statement changes by calls without a result, of its own functions, too.

    None where it is an example, which uses the function or `input`, a main part, or ends the program.
    """
    changed, seen, waiting = set[str](), set[str](), [_effects(statement)]
    while waiting:
        part = waiting.pop()
        if not part.used.isdisjoint({entry_point, "__name__", "input", *_EXITS}):
            return set()
        changed |= part.changed
        waiting += [own[name] for name in (part.called & own.keys()) - seen]
        seen |= part.called
    return changed - own.keys()


def _dotted_names(statement: ast.stmt) -> set[str]:
    return {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


def _is_demonstration(statement: ast.stmt, relevant_names: set[str]) -> bool:
    """Whether it asserts, exits, is a main part, or uses the program's names, `print` or a test library."""
    is_main = isinstance(statement, ast.If) and "__name__" in syntax.used_names(statement.test)
    is_used = not _EXITS.isdisjoint(_dotted_names(statement)) or not relevant_names.isdisjoint(
        syntax.used_names(statement)
    )
    return is_main or is_used or isinstance(statement, ast.Assert)


def under_the_tests_name(program: str, entry_point: str, other_blocks: list[str], changes: list[str]) -> str:
    """The program with the tests' name bound, where no code has it and exactly one function can be meant.

    Functions that are tests or a main part are not, beside others.
    A method is meant where a class has it, as online judges ask for it: each call makes an object of its own.
    """
    if entry_point in syntax.defined_names(program):
        return program
    if class_and_method := syntax.method_of_class(program, entry_point):
        kind, method = class_and_method
        calls = f"{kind.name}().{method}"
        changes.append(f"{calls} stands for {entry_point}")
        bound = f"def {entry_point}(*arguments, **named):\n    return {calls}(*arguments, **named)"
        return _insert_after(program, kind, bound)
    names = {name for code in (program, *other_blocks) for name in syntax.function_names(code)}
    names = {name for name in names if not _pieces.TEST_OR_MAIN.match(name)} or names
    if len(names) != 1 or names.isdisjoint(syntax.function_names(program)):
        return program
    (name,) = names
    changes.append(f"{name} stands for {entry_point}")
    statement = [s for s in syntax.statements(program) if name in syntax.bound_names(s)][-1]
    return _insert_after(program, statement, f"{entry_point} = {name}")


def with_typing_names(program: str, changes: list[str]) -> str:
    """The program with the names of `typing` that it lacks, of those that only annotations use.

    They say nothing about what the program does, but without them it cannot even be loaded.
    """
    tree = syntax.parse_or_none(program)
    wanted = syntax.missing_names(program) & _TYPING
    if tree is None or not wanted:
        return program
    everywhere: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            everywhere[node.id] += 1
        annotation = getattr(node, "returns" if isinstance(node, syntax.Function) else "annotation", None)
        if annotation:
            inside.update(each.id for each in ast.walk(annotation) if isinstance(each, ast.Name))
    names = ", ".join(sorted(name for name in wanted if inside[name] == everywhere[name]))
    if not names:
        return program
    changes.append(f"imported {names} from typing, which annotations name")
    return _insert_first(program, [f"from typing import {names}"])


def _insert_after(program: str, statement: ast.stmt, code: str) -> str:
    """Inserts code after a statement, or at the end of the program where that line has a second statement."""
    lines = syntax.program_lines(program.rstrip())
    last = syntax.lines_of(statement).stop - 1
    shared = any(s.lineno == last and s is not statement for s in syntax.statements(program))
    at = len(lines) if shared else last
    return "\n".join([*lines[:at], "", "", code, *lines[at:]]) + "\n"


def _insert_first(program: str, added: list[str]) -> str:
    """Inserts statements after a leading docstring and `from __future__` imports, which must stay first."""
    after = 0
    for statement in syntax.statements(program):
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (syntax.is_bare_constant(statement) or is_future):
            break
        after = syntax.lines_of(statement).stop - 1
    lines = syntax.program_lines(program)
    return "\n".join([*lines[:after], *added, "", *lines[after:]])
