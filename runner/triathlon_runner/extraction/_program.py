"""From a reply to a program, by rules that say what they changed: answers, and completions of base models."""

import ast
import re
from dataclasses import dataclass

from triathlon_runner.extraction._pieces import answer_piece, code_pieces
from triathlon_runner.extraction._repair import (
    under_the_tests_name,
    with_missing_names,
    with_typing_names,
    without_demonstration,
)
from triathlon_runner.extraction._text import code_blocks, visible_text, without_end_tokens
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.syntax import Function, defined_names, parse_or_none, statements

_MAX_FLUSH_LINES = 200
"""Most unindented lines that a function may have within strings and brackets."""
_ENDS_A_BODY = re.compile(r"^[ \t]*(return|yield|raise|pass)\b", re.MULTILINE)


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
            program = under_the_tests_name(program, entry_point, other_blocks, changes)
        program = without_demonstration(program, entry_point, changes)
    program = with_missing_names(program, sources, entry_point, changes)
    if typing_names and not as_written:
        program = with_typing_names(program, changes)
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
