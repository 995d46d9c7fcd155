"""From a reply to a program, by rules that say what they changed: answers, and completions of base models."""

import ast
import asyncio
import re
import typing
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Any, Final

from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.replies._fences import code_blocks
from triathlon_runner.replies._markup import ended_text, final_answer
from triathlon_runner.replies._pieces import (
    MAX_CUTS,
    Piece,
    answer_piece,
    before_example,
    code_pieces,
    first_error,
    is_code,
    is_complete,
)
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
    used_names,
)

_DEPTH: Final = 4
"""Of a function's body."""
_LARGE: Final = 4_000
"""Characters from which a reply is read in a thread: a shorter one takes a few milliseconds."""
_ENDS_A_BODY = re.compile(r"^[ \t]*(return|yield|raise|pass)\b", re.MULTILINE)
_RUNS_THINGS = frozenset({"print", "input", "unittest", "doctest", "pytest", "exit", "quit", "SystemExit"})
_EXITS = frozenset({"sys.exit", "sys.argv", "sys.stdin", "sys.stdout", "os._exit"})
_TYPING = frozenset(typing.__all__)
_DEFINITIONS = Function | ast.ClassDef | ast.Import | ast.ImportFrom


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


async def extract(reply: Reply, **options: Any) -> Extraction:
    """`extract_program`, large replies in a thread, so that the event loop goes on."""
    if len(reply.text) < _LARGE:
        return extract_program(reply, **options)
    return await asyncio.to_thread(extract_program, reply, **options)


def extract_program(
    reply: Reply,
    *,
    entry_point: str,
    prompt: str,
    completes: bool = False,
    other_names: bool = True,
    as_written: bool = False,
    typing_names: bool = True,
) -> Extraction:
    """The last complete piece of code that defines the entry point, with what it needs from the others.

    A program that does not parse, or lacks the function, is still the model's answer: it is handed on, and
    executing it shows what is wrong. A reply cut at the token limit is `truncated`, unless its program was
    whole before the cut. A completion (`completes`) ends where it leaves the function.

    Args:
        reply: The model's reply.
        entry_point: The name that the tests call.
        prompt: Signature and docstring; its imports and helpers are added where the program lacks them.
        completes: Whether the reply continues the prompt (base models) or answers it.
        other_names: Whether one function under another name may be used for a missing `entry_point`.
        as_written: Whether the paper's own rule holds: the first code block, else the whole reply, with its
            self-tests. Only names that it lacks come from the prompt.
        typing_names: Whether names of `typing` that only annotations use are imported where they lack.
    """
    if reply.finish in (Finish.REFUSED, Finish.CONTEXT_OVERFLOW):
        return Extraction("", outcome=reply.finish.outcome_without_answer)
    text, ended = ended_text(reply.text)
    cut = reply.finish is Finish.LENGTH and not ended
    nothing = Extraction("", outcome=reply.finish.outcome_without_answer)
    if completes:
        extraction = _from_completion(text, entry_point, prompt, cut=cut)
        if extraction or cut:
            return extraction or nothing
    if as_written:
        return _first_block(text, entry_point, prompt, cut=cut) or nothing
    changes: list[str] = []
    if cut:
        text = _before_the_cut(text, entry_point, changes)
    pieces, answer = _answer(text, entry_point, methods=other_names)
    if cut and not (answer and is_complete(answer.code, entry_point)):
        return nothing
    if answer is None:
        return _from_body(text, entry_point, prompt) or nothing
    changes += answer.changes
    others = [piece.code for piece in pieces if piece is not answer]
    program = answer.code
    if other_names:
        program = _under_the_tests_name(program, entry_point, others, changes)
    program = _without_demonstration(program, entry_point, changes)
    program = _with_missing_names(program, others, "another block", entry_point, changes)
    program = _with_missing_names(program, [_parsing(prompt)], "the prompt", entry_point, changes)
    if typing_names:
        program = _with_typing_names(program, changes)
    return Extraction(program.strip("\n") + "\n", tuple(changes), written=answer.code.strip("\n"))


def _answer(text: str, entry_point: str, *, methods: bool) -> tuple[list[Piece], Piece | None]:
    """The pieces of code and the answer among them, in the wrapper of a final answer or in the whole text."""
    inside = final_answer(text)
    for part in dict.fromkeys((inside, text)):
        pieces = code_pieces(part, entry_point)
        if answer := answer_piece(pieces, entry_point, methods=methods):
            return pieces, answer
    return [], None


def _first_block(text: str, entry_point: str, prompt: str, *, cut: bool) -> Extraction | None:
    """The program by the paper's rule: the first code block, else the reply; None where it is no code."""
    blocks = code_blocks(text)
    if cut and not (blocks and blocks[0].closed):
        return None
    code = blocks[0].code if blocks else text
    if not is_code(code) and not re.search(rf"\b{re.escape(entry_point)}\s*=[^=]", code):
        return None
    changes: list[str] = []
    program = _with_missing_names(code, [_parsing(prompt)], "the prompt", entry_point, changes)
    return Extraction(program.strip("\n") + "\n", tuple(changes), written=code.strip("\n"))


def _before_the_cut(text: str, entry_point: str, changes: list[str]) -> str:
    """The text without the code that was cut; nothing where the cut took a definition."""
    blocks = code_blocks(text)
    if blocks and blocks[-1].closed:
        return text
    code, begin = (blocks[-1].code, blocks[-1].span[0]) if blocks else (text, 0)
    whole = before_example(code, entry_point, cut=True)
    if whole:
        changes.append("cut off an unfinished example")
        return f"{text[:begin]}\n```\n{whole}```\n"
    return "" if is_code(code) else text[:begin]


def _parsing(prompt: str) -> str:
    """The prompt as a program that parses."""
    return prompt if parse_or_none(prompt) else prompt.rstrip() + "\n    pass\n"


# A body under the prompt's signature


def _from_body(text: str, entry_point: str, prompt: str) -> Extraction | None:
    """A body alone, the only block or the text, under the prompt's signature; None where there is no code."""
    inside = final_answer(text)
    blocks = code_blocks(inside)
    body = blocks[0].code if len(blocks) == 1 else inside
    if not _ENDS_A_BODY.search(body):
        return None
    for program, _ in _joined(prompt, body):
        if _is_whole(program, entry_point):
            written = _without_docstring(program, entry_point)
            return Extraction(program, ("put the body under the prompt's signature",), written=written)
    return Extraction(body, written=body) if blocks or parse_or_none(dedent(body)) else None


def _from_completion(text: str, entry_point: str, prompt: str, *, cut: bool) -> Extraction | None:
    """Prompt and continuation, cut where that leaves the function; None where it does not continue one.

    What follows the function is another example that the model invents, and no part of its answer; a server
    with a fitting stop sequence would have ended the reply there.
    """
    joins = _joined(prompt, text)
    for joined, change in joins:
        program = _until_left(joined, len(prompt), entry_point)
        if program is not None:
            rest = joined[len(program) :].strip()
            changes = (*change, *(["cut off what follows the function"] if rest else []))
            return Extraction(program, changes, written=_without_docstring(program, entry_point))
    if cut:
        return None
    for joined, change in joins:
        if _is_whole(joined, entry_point):
            return Extraction(joined, tuple(change), written=_without_docstring(joined, entry_point))
    is_body = _ENDS_A_BODY.search(text) and not code_blocks(text) and not is_code(text)
    return Extraction(prompt + text, written=text) if is_body else None


def _joined(prompt: str, text: str) -> list[tuple[str, list[str]]]:
    """The possible joins of both, with what was changed; the first is as the model wrote it."""
    joined: list[tuple[str, list[str]]] = [(prompt + text, [])]
    body = text.strip("\n")
    first, _, rest = body.partition("\n")
    margin = len(first) - len(first.lstrip())
    ends = bool(_ENDS_A_BODY.search(body))
    if first and ((margin == 0 and ends) or abs(margin - _DEPTH) == 1):
        joined.append(
            (f"{prompt}{' ' * _DEPTH}{first.strip()}\n{rest}", ["put the first line at the body's depth"])
        )
    flush = indent(dedent(body), " " * _DEPTH)
    if flush != body and ends:
        joined.append((f"{prompt}{flush}", ["indented the body"]))
    return joined


def _until_left(joined: str, asked: int, entry_point: str) -> str | None:
    """The text up to the first unindented line behind the function; None where the text does not leave it."""
    lines = joined.split("\n")
    end = first_error(joined) or len(lines)
    for _ in range(MAX_CUTS):
        code = "\n".join(lines[:end])
        function = next(filter(_has_body, _functions(code, entry_point)), None)
        if function:
            last = function.end_lineno or len(lines)
            behind = (n for n in range(last, len(lines)) if lines[n].strip() and not lines[n][0].isspace())
            left = next(behind, None)
            program = "" if left is None else "\n".join(lines[:left]).rstrip() + "\n"
            return program if program[asked:].strip() and _is_whole(program, entry_point) else None
        # The statement that does not parse is left out.
        end = next((n for n in range(end - 1, 0, -1) if lines[n].strip() and not lines[n][0].isspace()), 0)
        end = min(end, first_error("\n".join(lines[:end])) or end)
    return None


def _is_whole(program: str, entry_point: str) -> bool:
    """Whether it compiles and its function of this name has more in it than a docstring."""
    functions = _functions(program, entry_point)
    is_defined = any(map(_has_body, functions)) if functions else entry_point in defined_names(program)
    return is_defined and not any(map(_returns_outside, statements(program)))


def _functions(program: str, name: str) -> list[Function]:
    return [part for part in statements(program) if isinstance(part, Function) and part.name == name]


def _has_body(function: Function) -> bool:
    return len(function.body) > 1 or not _has_docstring(function)


def _returns_outside(statement: ast.stmt) -> bool:
    """Whether it has a `return` that is in no function, which parses and does not compile."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case) and not isinstance(node, Function):
            waiting += ast.iter_child_nodes(node)
    return False


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
    program: str, sources: Sequence[str], where: str, entry_point: str, changes: list[str]
) -> str:
    """The program with the imports and helpers that it lacks and a source has.

    Of several sources that have a name, the last counts. `entry_point` is never taken from them: the model
    has to write it.
    """
    wanted = missing_names(program) if parse_or_none(program) else set()
    if not wanted:
        return program
    offered: list[tuple[ast.stmt, str]] = []
    by_name: dict[str, list[int]] = defaultdict(list)
    for source in sources:
        lines = source.split("\n")
        places: dict[str, list[int]] = defaultdict(list)
        for statement in statements(source):
            if isinstance(statement, Function) and statement.name == entry_point:
                continue
            for name in bound_names(statement) | changed_names(statement):
                places[name].append(len(offered))
            offered.append((statement, "\n".join(lines[n - 1] for n in lines_of(statement))))
        by_name |= places
    chosen = _chosen(offered, by_name, wanted)
    if not chosen:
        return program
    names = set().union(*(bound_names(offered[n][0]) for n in chosen))
    changes.append(f"took {', '.join(sorted(names))} from {where}")
    return _insert_first(program, [offered[n][1] for n in sorted(chosen)])


def _chosen(
    offered: Sequence[tuple[ast.stmt, str]], by_name: dict[str, list[int]], wanted: set[str]
) -> set[int]:
    """The statements that define the wanted names, and those that these need in turn."""
    chosen: set[int] = set()
    waiting = ["*", *sorted(wanted)]
    while waiting:
        for number in by_name.get(name := waiting.pop(), ()):
            if number not in chosen:
                chosen.add(number)
                waiting += missing_names(offered[number][1]) - {name}
    return chosen


def _without_demonstration(program: str, entry_point: str, changes: list[str]) -> str:
    """The program without what it runs after the function: prints, asserts, examples, exits, a main part.

    Set-up stays: statements in front of the function, and those that bind or change what a function uses.
    """
    body = statements(program)
    if entry_point not in defined_names(program):
        return program
    lines = program.split("\n")
    drop = _demonstration(lines, body, entry_point)
    dropped_lines = {line for statement in drop for line in lines_of(statement)}
    dropped = set(map(id, drop))
    remaining_lines = {
        line for statement in body if id(statement) not in dropped for line in lines_of(statement)
    }
    if not drop or dropped_lines & remaining_lines:  # two statements share a line
        return program
    changes.append(f"left out {len(drop)} statement(s) that only run examples")
    return (
        "\n".join(text for number, text in enumerate(lines, 1) if number not in dropped_lines).rstrip() + "\n"
    )


def _demonstration(lines: Sequence[str], body: list[ast.stmt], entry_point: str) -> list[ast.stmt]:
    definitions = [statement for statement in body if isinstance(statement, _DEFINITIONS)]
    if len(definitions) == len(body):  # most programs: only definitions, no demonstration
        return []
    own = {statement.name for statement in definitions if isinstance(statement, Function | ast.ClassDef)}
    code = "\n".join(lines[n - 1] for statement in definitions for n in lines_of(statement))
    needed = {entry_point} | own | missing_names(code)
    relevant = own | {entry_point} | _RUNS_THINGS
    position = max(n for n, statement in enumerate(body) if entry_point in bound_names(statement))
    drop: list[ast.stmt] = []
    for n, statement in enumerate(body):
        bound = bound_names(statement)
        if isinstance(statement, _DEFINITIONS) or (bound | changed_names(statement)) & needed:
            continue
        if _is_demonstration(statement, relevant) if n > position else "input" in used_names(statement):
            drop.append(statement)
            relevant |= bound  # what follows from an example is one
    return drop


def _is_demonstration(statement: ast.stmt, relevant_names: Set[str]) -> bool:
    """Whether it asserts, exits, is a main part, or uses the program's names, `print` or a test library."""
    is_main = isinstance(statement, ast.If) and "__name__" in used_names(statement.test)
    exits = any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and f"{node.value.id}.{node.attr}" in _EXITS
        for node in ast.walk(statement)
    )
    return (
        is_main or exits or isinstance(statement, ast.Assert) or bool(used_names(statement) & relevant_names)
    )


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
