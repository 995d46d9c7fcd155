"""From a reply to a program, by rules that say what they changed: answers, and completions of base models."""

import ast
import re
from dataclasses import dataclass, replace
from textwrap import dedent, indent
from typing import Any, Final

from triathlon_runner import syntax
from triathlon_runner.concurrency import in_other_process
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.replies import _pieces, _repairs
from triathlon_runner.replies._fences import begins_again, code_blocks
from triathlon_runner.replies._markup import ended_text, final_answer

_DEPTH: Final = "    "
"""Of a function's body."""
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


async def extract(reply: Reply, **options: Any) -> Extraction:
    """`extract_program`, long replies in another process, so that the event loop goes on."""
    return await in_other_process(len(reply.text), extract_program, reply, **options)


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
    nothing = Extraction("", outcome=reply.finish.outcome_without_answer)
    if reply.finish in (Finish.REFUSED, Finish.CONTEXT_OVERFLOW):
        return nothing
    text, ended = ended_text(reply.text)
    cut = reply.finish is Finish.LENGTH and not ended
    if completes:
        extraction = _from_completion(text, entry_point, prompt, cut=cut)
        if extraction or cut:
            return extraction or nothing
    changes: list[str] = []
    parsing_prompt = prompt if syntax.parse_or_none(prompt) else prompt.rstrip() + "\n    pass\n"
    if as_written:
        written = _first_block(text, entry_point, cut=cut)
        program = _repairs.with_missing_names(written, [parsing_prompt], "the prompt", entry_point, changes)
        return _extracted(program, changes, written) if written else nothing
    if cut:
        text = _before_the_cut(text, entry_point, changes)
    pieces: list[_pieces.Piece] = []
    answer = None
    for part in dict.fromkeys((final_answer(text), text)):
        if answer is None:
            pieces = _pieces.code_pieces(part, entry_point)
            answer = _pieces.answer_piece(pieces, entry_point, methods=other_names)
    if cut and not (answer and _pieces.is_complete(answer.code, entry_point)):
        return nothing
    if answer is None or not _pieces.is_defined(answer.code, entry_point):
        body = _from_body(text, entry_point, prompt, answer)
        if body or answer is None:
            return body or nothing
    changes += answer.changes
    others = [piece.code for piece in pieces if piece is not answer]
    program = answer.code
    if other_names:
        program = _repairs.under_the_tests_name(program, entry_point, others, changes)
    program = _repairs.without_demonstration(program, entry_point, changes)
    program = _repairs.with_missing_names(program, others, "another block", entry_point, changes)
    program = _repairs.with_missing_names(program, [parsing_prompt], "the prompt", entry_point, changes)
    if typing_names:
        program = _repairs.with_typing_names(program, changes)
    return _extracted(program, changes, answer.code)


def _extracted(program: str, changes: list[str], written: str) -> Extraction:
    return Extraction(program.strip("\n") + "\n", tuple(changes), written=written.strip("\n"))


def _first_block(text: str, entry_point: str, *, cut: bool) -> str:
    """The program by the paper's rule: the first code block, else the reply; empty where it is no code."""
    blocks = code_blocks(text)
    if cut and not (blocks and blocks[0].closed):
        return ""
    code = blocks[0].code if blocks else text
    return code if _pieces.is_code(code) or re.search(rf"\b{re.escape(entry_point)}\s*=[^=]", code) else ""


def _before_the_cut(text: str, entry_point: str, changes: list[str]) -> str:
    """The text without the code that was cut; nothing where the cut took a definition that may be needed."""
    blocks = code_blocks(text)
    if blocks and blocks[-1].closed:
        return text
    code, begin = (blocks[-1].code, blocks[-1].span[0]) if blocks else (text, 0)
    whole = _pieces.before_example(code, entry_point, cut=True)
    if whole:
        changes.append("cut off an unfinished example")
        return f"{text[:begin]}\n```\n{whole}```\n"
    return "" if _pieces.may_be_needed(code) and not begins_again(blocks) else text[:begin]


# A body under the prompt's signature


def _from_body(text: str, entry_point: str, prompt: str, answer: _pieces.Piece | None) -> Extraction | None:
    """A body alone, a block or the text, under the prompt's signature; None where there is none.

    An `answer` that is a program stands: it may have the function under another name. One that only uses the
    function, such as tests, does not.
    """
    inside = final_answer(text)
    blocks = code_blocks(inside)
    codes = [block.code for block in blocks] or [inside]
    if answer and not _pieces.only_uses(answer.code, entry_point):
        codes = [code for code in codes if code == answer.code or not blocks]
    bodies = [code for code in codes if _ENDS_A_BODY.search(code) and not (answer and _compiles(code))]
    if not bodies:
        return None
    body = sorted(bodies, key=lambda code: not _compiles(code))[-1]
    if whole := _whole_join(prompt, body, entry_point):
        return replace(whole, changes=("put the body under the prompt's signature",))
    is_code = answer is None and (blocks or syntax.parse_or_none(dedent(body)))
    return Extraction(body, written=body) if is_code else None


def _from_completion(text: str, entry_point: str, prompt: str, *, cut: bool) -> Extraction | None:
    """Prompt and continuation, cut where that leaves the function; None where it does not continue one.

    What follows the function is another example that the model invents, and no part of its answer; a server
    with a fitting stop sequence would have ended the reply there.
    """
    for joined, changes in _joined(prompt, text):
        program = _until_left(joined, len(prompt), entry_point)
        if program is not None:
            is_longer = bool(joined[len(program) :].strip())
            cut_off = ("cut off what follows the function",) if is_longer else ()
            written = _without_docstring(program, entry_point)
            return Extraction(program, (*changes, *cut_off), written=written)
    whole = None if cut else _whole_join(prompt, text, entry_point)
    is_body = _ENDS_A_BODY.search(text) and not code_blocks(text) and not _pieces.is_code(text)
    return whole or (Extraction(prompt + text, written=text) if is_body and not cut else None)


def _whole_join(prompt: str, text: str, entry_point: str) -> Extraction | None:
    """The first join that is a whole program."""
    for joined, changes in _joined(prompt, text):
        if _is_whole(joined, entry_point):
            return Extraction(joined, changes, written=_without_docstring(joined, entry_point))
    return None


def _joined(prompt: str, text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The possible joins of both, with what was changed; the first is as the model wrote it."""
    joined: list[tuple[str, tuple[str, ...]]] = [(prompt + text, ())]
    body = text.strip("\n")
    first, _, rest = body.partition("\n")
    margin = len(first) - len(first.lstrip())
    ends = bool(_ENDS_A_BODY.search(body))
    # Flush code that goes on flush is a body without its depth, or the whole program again.
    is_lone = bool(_ENDS_A_BODY.match(first) or rest.lstrip("\n")[:1].isspace())
    if first and ((margin == 0 and ends and is_lone) or abs(margin - len(_DEPTH)) == 1):
        moved = f"{prompt}{_DEPTH}{first.strip()}\n{rest}"
        joined.append((moved, ("put the first line at the body's depth",)))
    flush = indent(dedent(body), _DEPTH)
    if flush != body and ends:
        joined.append((f"{prompt}{flush}", ("indented the body",)))
    return joined


def _until_left(joined: str, asked: int, entry_point: str) -> str | None:
    """The text up to the first unindented line behind the function; None where the text does not leave it."""
    lines = syntax.program_lines(joined)
    flush = [n for n, line in enumerate(lines) if line.strip() and not line[0].isspace()]
    end = _pieces.first_error(joined) or len(lines)
    for _ in range(_pieces.MAX_CUTS):
        code = "\n".join(lines[:end])
        function = next(filter(_has_body, syntax.functions_named(code, entry_point)), None)
        if function:
            last = function.end_lineno or len(lines)
            left = next((n for n in flush if n >= last), None)
            program = "" if left is None else "\n".join(lines[:left]).rstrip() + "\n"
            return program if program[asked:].strip() and _is_whole(program, entry_point) else None
        # The statement that does not parse is left out.
        end = next((n for n in reversed(flush) if 0 < n < end), 0)
        end = min(end, _pieces.first_error("\n".join(lines[:end])) or end)
    return None


def _is_whole(program: str, entry_point: str) -> bool:
    """Whether it compiles and its function of this name has more in it than a docstring."""
    functions = syntax.functions_named(program, entry_point)
    is_defined = any(map(_has_body, functions)) if functions else entry_point in syntax.defined_names(program)
    return is_defined and not _returns_outside(program)


def _has_body(function: syntax.Function) -> bool:
    return len(function.body) > 1 or not syntax.is_bare_constant(function.body[0])


def _compiles(code: str) -> bool:
    flush = dedent(code)
    return syntax.parse_or_none(flush) is not None and not _returns_outside(flush)


def _returns_outside(program: str) -> bool:
    """Whether it has a `return` or `yield` that is in no function, which parses and does not compile."""
    waiting: list[ast.AST] = [*syntax.statements(program)]
    while waiting:
        match waiting.pop():
            case ast.Return() | ast.Yield() | ast.YieldFrom():
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                pass
            case node:
                waiting += ast.iter_child_nodes(node)
    return False


def _without_docstring(program: str, entry_point: str) -> str:
    """The program without the docstring under the function: it is the prompt's, not the model's."""
    lines = syntax.program_lines(program)
    for function in syntax.functions_named(program, entry_point):
        first = function.body[0]
        if syntax.is_bare_constant(first) and first.lineno > function.lineno and len(function.body) > 1:
            lines[first.lineno - 1 : first.end_lineno] = []
            break
    return "\n".join(lines).strip("\n")
