"""From a reply to a program, by rules that say what they changed."""

import re
from dataclasses import dataclass
from textwrap import dedent

from triathlon_runner.extraction._completion import completed, unfinished, without_docstring
from triathlon_runner.extraction._prose import code_lines, is_all_code
from triathlon_runner.extraction._repair import (
    under_the_tests_name,
    with_missing_names,
    without_demonstration,
)
from triathlon_runner.extraction._source import defined_names, functions, parse
from triathlon_runner.extraction._text import code_blocks, spoken
from triathlon_runner.records import Finish, Outcome, Reply

_CUT_SHORT = {
    Finish.LENGTH: Outcome.TRUNCATED,
    Finish.REFUSED: Outcome.REFUSED,
    Finish.CONTEXT_OVERFLOW: Outcome.CONTEXT_OVERFLOW,
}
_DEFINITION = re.compile(r"^[ \t]*(async[ \t]+def|def|class)[ \t]+\w+[ \t]*[(:]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Extraction:
    """A program, or the outcome that says why there is none."""

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
) -> Extraction:
    """The Python program in a reply.

    A program that does not parse, or lacks the function, is still the model's answer: it is handed on, and
    executing it shows what is wrong. A reply cut at the token limit is `truncated`, whatever could be taken
    out of it. A completion (`completes`) ends where it leaves the function: only one that had not got there
    when the limit came is truncated.

    Args:
        reply: what the model said.
        entry_point: the name that the tests call.
        prompt: signature and docstring; its imports and helpers are added where the program lacks them.
        completes: whether the reply continues the prompt (base models) or answers it.
        other_names: whether one function under another name may stand for a missing `entry_point`.
        as_written: whether the program runs as the model wrote it: its self-tests stay, no name is bound, and
            nothing is put around a body alone. Names that it lacks still come from its other blocks and from
            the prompt.
    """
    if reply.finish is not Finish.STOP and not (completes and reply.finish is Finish.LENGTH):
        return Extraction("", outcome=_CUT_SHORT[reply.finish])
    text = spoken(reply.text)
    if completes:
        found = _from_completion(text, entry_point, prompt, cut_short=reply.finish is Finish.LENGTH)
        if found:
            return found
    return _from_answer(text, entry_point, prompt, other_names=other_names, as_written=as_written)


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


def _from_answer(
    text: str, entry_point: str, prompt: str, *, other_names: bool, as_written: bool
) -> Extraction:
    units = [unit for unit in _units(text) if unit.strip()]
    main = _main_unit(units, entry_point)
    if main is None and not as_written:
        body = unfinished(prompt, _body(text), entry_point)
        if body:
            written = without_docstring(body, entry_point)
            return Extraction(body, ("put the body under the prompt's signature",), written=written)
    if main is None:
        return Extraction("", outcome=Outcome.NO_ANSWER)
    others = [unit for unit in units if unit != main]
    program: str = main
    changes: list[str] = []
    dropped: list[str] = []
    if other_names and not as_written:
        program, changes = under_the_tests_name(program, entry_point, others)
    if not as_written:
        program, dropped = without_demonstration(program, entry_point)
    sources = [*(("another block", unit) for unit in others), ("the prompt", _closed(prompt))]
    program, added = with_missing_names(program, sources, entry_point)
    return Extraction(program.strip("\n") + "\n", (*changes, *dropped, *added), written=main.strip("\n"))


def _units(text: str) -> list[str]:
    """Pieces of code: each fenced block, or the statements of the text where no block holds a function.

    A block counts as it is; only where its closing fence is missing, prose may have got into it.
    """
    blocks = code_blocks(text)
    if not blocks and functions(text) and is_all_code(text):
        return [text]
    units = [
        block.code if block.closed or parse(block.code) else _unmixed(block.code) or block.code
        for block in blocks
    ]
    if any(_is_code(unit) for unit in units):
        return units
    return [*units, _unmixed(dedent(text))]


def _unmixed(text: str) -> str:
    """The statements, where prose had got between them; what begins like a function where none parses."""
    loose = code_lines(text)
    if _is_code(loose):
        return loose
    start = _DEFINITION.search(text)
    return text[start.start() :] if start else ""


def _is_code(unit: str) -> bool:
    """Whether it holds a function or class, parsing or not."""
    return bool(functions(unit) or _DEFINITION.search(unit))


def _main_unit(units: list[str], entry_point: str) -> str | None:
    """The unit that is the answer: the last that defines the tests' name, for models correct themselves.

    A unit that merely imports the name tests or uses a program that stands elsewhere.
    """
    named = re.compile(rf"\b(def|class)\s+{re.escape(entry_point)}\b")
    defining = [unit for unit in units if entry_point in defined_names(unit, imported=False)]
    broken = [unit for unit in units if not parse(unit) and named.search(unit)]
    other = [unit for unit in units if parse(unit) and _is_code(unit)]
    rest = [unit for unit in units if _is_code(unit)]
    return next((kind[-1] for kind in (defining, broken, other, rest) if kind), None)


def _closed(prompt: str) -> str:
    """The prompt as a program: a signature without a docstring gets a body."""
    return prompt if parse(prompt) else prompt.rstrip() + "\n    pass\n"


def _body(text: str) -> str:
    """What may be a function's body alone: the only block, or the text."""
    blocks = code_blocks(text)
    body = blocks[0].code if len(blocks) == 1 else text
    return body if re.search(r"^\s*(return|yield|pass|raise)\b", body, re.MULTILINE) else ""
