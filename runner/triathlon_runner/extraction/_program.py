"""From a reply to a program, by rules that say what they changed."""

import re
from dataclasses import dataclass

from triathlon_runner.extraction._choose_piece import answer_piece
from triathlon_runner.extraction._code_pieces import code_pieces
from triathlon_runner.extraction._completion import completed, unfinished, without_docstring
from triathlon_runner.extraction._repair import (
    under_the_tests_name,
    with_missing_names,
    with_typing_names,
    without_demonstration,
)
from triathlon_runner.extraction._text import code_blocks, visible_text, without_end_tokens
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.syntax import parse_or_none


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


@dataclass(frozen=True, slots=True)
class _Rules:
    """What may be done to an answer beyond taking it out of the reply; see `extract_program`."""

    other_names: bool
    as_written: bool
    typing_names: bool


_NO_ANSWER = Extraction("", outcome=Outcome.NO_ANSWER)


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
    if reply.finish is not Finish.STOP and not (completes and reply.finish is Finish.LENGTH):
        return Extraction("", outcome=reply.finish.outcome_without_answer)
    text = visible_text(reply.text)
    if completes:
        extraction = _from_completion(text, entry_point, prompt, cut_short=reply.finish is Finish.LENGTH)
        if extraction:
            return extraction
    rules = _Rules(other_names and not as_written, as_written, typing_names and not as_written)
    return _from_answer(text, entry_point, prompt, rules)


def _from_completion(text: str, entry_point: str, prompt: str, *, cut_short: bool) -> Extraction | None:
    """None where the reply does not continue the prompt: it may answer it."""
    whole = completed(prompt, text, entry_point)
    if whole:
        return Extraction(whole[0], tuple(whole[1]), written=without_docstring(whole[0], entry_point))
    if cut_short:
        return Extraction("", outcome=Outcome.TRUNCATED)
    program = unfinished(prompt, text, entry_point)
    if program:
        return Extraction(program, written=without_docstring(program, entry_point))
    return None


def _from_answer(text: str, entry_point: str, prompt: str, rules: _Rules) -> Extraction:
    as_written = rules.as_written
    pieces = code_pieces(text if as_written else without_end_tokens(text), entry_point, as_written=as_written)
    answer = answer_piece(pieces, entry_point, methods=rules.other_names)
    if answer is None:
        return _from_body(text, entry_point, prompt) if not as_written else _NO_ANSWER
    other_blocks = [piece.code for piece in pieces if piece.code != answer.code]
    sources = [*(("another block", code) for code in other_blocks), ("the prompt", _with_body(prompt))]
    program, changes = answer.code, list(answer.changes)
    if rules.other_names:
        program, bound = under_the_tests_name(program, entry_point, other_blocks)
        changes += bound
    if not as_written:
        program, dropped = without_demonstration(program, entry_point)
        changes += dropped
    program, added = with_missing_names(program, sources, entry_point)
    changes += added
    if rules.typing_names:
        program, imported = with_typing_names(program)
        changes += imported
    return Extraction(program.strip("\n") + "\n", tuple(changes), written=answer.code.strip("\n"))


def _from_body(text: str, entry_point: str, prompt: str) -> Extraction:
    """A body alone, under the prompt's signature."""
    body = unfinished(prompt, _possible_body(text), entry_point)
    if not body:
        return _NO_ANSWER
    written = without_docstring(body, entry_point)
    return Extraction(body, ("put the body under the prompt's signature",), written=written)


def _with_body(prompt: str) -> str:
    """The prompt as a program: a signature without a docstring gets a body."""
    return prompt if parse_or_none(prompt) else prompt.rstrip() + "\n    pass\n"


def _possible_body(text: str) -> str:
    """What may be a function's body alone: the only block, or the text."""
    blocks = code_blocks(text)
    body = blocks[0].code if len(blocks) == 1 else text
    return body if re.search(r"^[ \t]*(return|yield|pass|raise)\b", body, re.MULTILINE) else ""
