"""From a reply to a program, by rules that say what they changed: answers, and completions of base models."""

import ast
import re
import typing
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass

from triathlon_runner.extraction._pieces import answer_piece, code_pieces
from triathlon_runner.extraction._text import code_blocks, visible_text, without_end_tokens
from triathlon_runner.records import Finish, Outcome, Reply
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

_MAX_FLUSH_LINES = 200
"""Most unindented lines that a function may have within strings and brackets."""
_ENDS_A_BODY = re.compile(r"^[ \t]*(return|yield|raise|pass)\b", re.MULTILINE)
_RUNS_THINGS = frozenset({"print", "input", "unittest", "doctest", "pytest"})
_TYPING = frozenset(typing.__all__)


@dataclass(frozen=True, slots=True)
class Extraction:
    """A program, or the outcome of a reply without one."""

    program: str
    """To be executed."""
    changes: tuple[str, ...] = ()
    """What happened between reply and program beyond taking it out of its fence, in words."""
    outcome: Outcome | None = None
    """None where there is a program."""
    written: str = ""
    """The model's own code as it wrote it, before those changes and without the prompt's docstring."""


def extract_program(
    reply: Reply,
    *,
    entry_point: str,
    prompt: str,
    completes: bool,
    other_names: bool = True,
    as_written: bool = False,
    typing_names: bool = True,
) -> Extraction:
    """The Python program in a reply.

    A program that does not parse, or lacks the function, is still the model's answer: it is handed on, and
    executing it shows what is wrong. A reply cut at the token limit is `truncated`, whatever could be taken
    out of it. A completion (`completes`) ends where it leaves the function: only one that had not got there
    when the limit came is truncated.

    Args:
        reply: the model's reply.
        entry_point: the name that the tests call.
        prompt: signature and docstring; its imports and helpers are added where the program lacks them.
        completes: whether the reply continues the prompt (base models) or answers it.
        other_names: whether one function under another name may be used for a missing `entry_point`.
        as_written: whether the program runs as the model wrote it: its self-tests stay, no name is bound, and
            nothing is put around a body alone. Names that it lacks still come from its other blocks and from
            the prompt.
        typing_names: whether names of `typing` that only annotations use are imported where they lack.
    """
    cut_short = reply.finish is Finish.LENGTH
    if reply.finish is not Finish.STOP and not (completes and cut_short):
        return Extraction("", outcome=reply.finish.outcome_without_answer)
    text = visible_text(reply.text)
    if completes:
        extraction = _from_completion(text, entry_point, prompt, cut_short=cut_short)
        if extraction:
            return extraction
    pieces = code_pieces(text if as_written else without_end_tokens(text), entry_point, as_written=as_written)
    answer = answer_piece(pieces, entry_point, methods=other_names and not as_written)
    if answer is None:
        return (
            Extraction("", outcome=Outcome.NO_ANSWER) if as_written else _from_body(text, entry_point, prompt)
        )
    other_blocks = [piece.code for piece in pieces if piece.code != answer.code]
    helpers = prompt if parse_or_none(prompt) else prompt.rstrip() + "\n    pass\n"
    sources = [*(("another block", code) for code in other_blocks), ("the prompt", helpers)]
    program, changes = answer.code, list(answer.changes)
    if not as_written:
        if other_names:
            program = _under_the_tests_name(program, entry_point, other_blocks, changes)
        program = _without_demonstration(program, entry_point, changes)
    program = _with_missing_names(program, sources, entry_point, changes)
    if typing_names and not as_written:
        program = _with_typing_names(program, changes)
    return Extraction(program.strip("\n") + "\n", tuple(changes), written=answer.code.strip("\n"))


def _from_body(text: str, entry_point: str, prompt: str) -> Extraction:
    """A body alone, the only block or the text, under the prompt's signature."""
    blocks = code_blocks(text)
    body = blocks[0].code if len(blocks) == 1 else text
    program = _unfinished(prompt, body if _ENDS_A_BODY.search(body) else "", entry_point)
    if not program:
        return Extraction("", outcome=Outcome.NO_ANSWER)
    written = _without_docstring(program, entry_point)
    return Extraction(program, ("put the body under the prompt's signature",), written=written)


def _from_completion(text: str, entry_point: str, prompt: str, *, cut_short: bool) -> Extraction | None:
    """Prompt and continuation, cut where that leaves the function; None where it does not continue one.

    What follows the function is another example that the model invents, and no part of its answer; a server
    with a fitting stop sequence would have ended the reply there.
    """
    for joined, change in _joined(prompt, text):
        program = _cut(joined, len(prompt), entry_point)
        if program is not None:
            rest = joined[len(program) :].strip()
            changes = (*change, *(["cut off what follows the function"] if rest else []))
            return Extraction(program, changes, written=_without_docstring(program, entry_point))
    if cut_short:
        return Extraction("", outcome=Outcome.TRUNCATED)
    program = _unfinished(prompt, text, entry_point)
    return Extraction(program, written=_without_docstring(program, entry_point)) if program else None


def _unfinished(prompt: str, text: str, entry_point: str) -> str | None:
    """Prompt and whole continuation, where together they parse and define the function with a body."""
    for joined, _ in _joined(prompt, text):
        if entry_point in defined_names(joined) and _has_body(joined, entry_point):
            return joined
    return None


def _joined(prompt: str, text: str) -> list[tuple[str, list[str]]]:
    """The possible joins of both, with what was changed; the first is as the model wrote it."""
    joined: list[tuple[str, list[str]]] = [(prompt + text, [])]
    stripped = text.lstrip("\n")
    if stripped and not stripped[0].isspace() and _ENDS_A_BODY.search(stripped):
        joined.append((f"{prompt}    {stripped}", ["indented the first line"]))
        body = "\n".join(f"    {line}" if line.strip() else line for line in stripped.split("\n"))
        joined.append((prompt + body, ["indented the body"]))
    return joined


def _cut(joined: str, asked: int, entry_point: str) -> str | None:
    """The text up to the first unindented line after the function that leaves it complete."""
    position = tries = 0
    for line in joined.splitlines(keepends=True):
        if position >= asked and line.strip() and not line[0].isspace():
            program = joined[:position]
            if program[asked:].strip() and _has_body(program, entry_point):
                return program.rstrip() + "\n"
            tries += 1
            if tries == _MAX_FLUSH_LINES:
                return None
        position += len(line)
    return None


def _has_body(program: str, entry_point: str) -> bool:
    """Whether a function of this name has more in it than a docstring."""
    functions = [s for s in statements(program) if isinstance(s, Function) and s.name == entry_point]
    return any(len(function.body) > 1 or not _has_docstring(function) for function in functions)


def _without_docstring(program: str, entry_point: str) -> str:
    """The program without the docstring under the function: it is the prompt's, not the model's."""
    lines = program.split("\n")
    for statement in statements(program):
        if isinstance(statement, Function) and statement.name == entry_point and _has_docstring(statement):
            first = statement.body[0]
            if first.lineno > statement.lineno and len(statement.body) > 1:
                lines[first.lineno - 1 : first.end_lineno] = []
                break
    return "\n".join(lines).strip("\n")


def _has_docstring(function: Function) -> bool:
    first = function.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)


# Repairs: each adds a description of what it changed to `changes`


def _with_missing_names(
    program: str, sources: list[tuple[str, str]], entry_point: str, changes: list[str]
) -> str:
    """The program with the imports and helpers that it lacks and a source has.

    `sources` are pairs of a description and code, the nearest first. `entry_point` is never taken from them:
    the model has to write it.
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


def _without_demonstration(program: str, entry_point: str, changes: list[str]) -> str:
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


def _under_the_tests_name(program: str, entry_point: str, other_blocks: list[str], changes: list[str]) -> str:
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


def _with_typing_names(program: str, changes: list[str]) -> str:
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
