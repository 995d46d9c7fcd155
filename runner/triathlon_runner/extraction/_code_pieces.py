"""The pieces of code in a reply: fenced blocks, unfenced statements, code in JSON, indented blocks."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any, Final

from triathlon_runner.extraction._prose import Chunk, chunks_of, is_all_code
from triathlon_runner.extraction._source import defined_names, functions
from triathlon_runner.extraction._text import Block, code_blocks, with_visible_characters
from triathlon_runner.syntax import parse_or_none

DEFINITION: Final = re.compile(r"^[ \t]*(async[ \t]+def|def|class)[ \t]+\w+[ \t]*[(:]", re.MULTILINE)
_NOTEBOOK_COMMAND = re.compile(
    r"^[ \t]*([!%]{1,2}[ \t]?\w.*|(python3? -m )?pip3? install\b.*)$", re.MULTILINE
)
_DIFF_HEADS = ("+++", "---", "@@", "diff ", "index ", "\\ ")
_DIFF_LABELS = frozenset({"diff", "patch"})
_TEXT_LABELS = frozenset({"markdown", "md"})
"""Labels of a fence around a whole answer, which has fences inside."""
_INDENTED = re.compile(r" {4}|\t")


@dataclass(frozen=True, slots=True)
class CodePiece:
    """A piece of code as the model wrote it, without the text around it."""

    code: str
    lead: str = ""
    """The text in front of it, up to the piece before."""
    changes: tuple[str, ...] = ()
    """What was done to read it, in words."""


def is_code(text: str) -> bool:
    """Whether it holds a function or class, parsing or not."""
    return bool(functions(text) or DEFINITION.search(text))


def code_pieces(text: str, entry_point: str, *, as_written: bool) -> list[CodePiece]:
    """Pieces of code: each fenced block, or the statements of the text where no block holds a function.

    A block counts as it is; only where its closing fence is missing, prose may have got into it.

    Args:
        text: The reply without reasoning.
        entry_point: The name that the tests call.
        as_written: Whether only prose and fences are removed: notebook commands, signs of a diff and
            invisible characters stay, and code in JSON is not looked for.
    """
    pieces = [] if as_written else _pieces_of_json(text)
    if pieces:
        return pieces
    blocks = code_blocks(text)
    if not blocks and functions(text) and is_all_code(text):
        return [CodePiece(text)]
    pieces = [piece for block in blocks for piece in _pieces_of_block(block, as_written=as_written)]
    assigned = re.compile(rf"\b{re.escape(entry_point)}\s*=[^=]")
    if as_written and any(assigned.search(piece.code) for piece in pieces):
        return pieces
    if not any(is_code(piece.code) for piece in pieces):
        pieces += _unfenced(text, entry_point, as_written=as_written)
    return [piece for piece in pieces if piece.code.strip()]


def _pieces_of_block(block: Block, *, as_written: bool) -> list[CodePiece]:
    if block.label in _TEXT_LABELS and (inner := code_blocks(block.code)):
        return [
            piece for inner_block in inner for piece in _pieces_of_block(inner_block, as_written=as_written)
        ]
    piece = CodePiece(block.code, block.lead)
    inside = [] if as_written else [replace(piece, lead=block.lead) for piece in _pieces_of_json(block.code)]
    if inside or parse_or_none(block.code):
        return inside or [piece]
    readable = None if as_written else _readable(piece, block.label)
    if readable or block.closed:
        return [readable or piece]
    return [replace(piece, code=_without_prose(block.code, as_written=as_written) or block.code)]


def _readable(piece: CodePiece, label: str) -> CodePiece | None:
    """The piece without invisible characters, notebook commands and signs of a diff, where it parses then."""
    repairs: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("replaced invisible characters", with_visible_characters),
        ("left out notebook commands", lambda code: _NOTEBOOK_COMMAND.sub("", code)),
        ("took the new side of a diff", lambda code: _new_side(code, label)),
    )
    code, changes = piece.code, piece.changes
    for change, repair in repairs:
        changed = repair(code)
        if changed != code:
            code, changes = changed, (*changes, change)
        if parse_or_none(code):
            return replace(piece, code=code, changes=changes)
    return None


def _new_side(code: str, label: str) -> str:
    """The code that a diff results in; code that is no diff stays as it is."""
    lines = code.split("\n")
    marked = all(line[:1] in ("", "+", "-", " ") or line.startswith(_DIFF_HEADS) for line in lines)
    if label not in _DIFF_LABELS and not (marked and any(line.startswith("+") for line in lines)):
        return code
    code_lines = [line for line in lines if not line.startswith(("-", *_DIFF_HEADS))]
    return "\n".join(line[1:] if line[:1] in ("+", " ") else line for line in code_lines)


def _pieces_of_json(text: str) -> list[CodePiece]:
    """The programs among the strings of a JSON document."""
    begin = text.lstrip()[:1]
    if not begin or begin not in "{[":
        return []
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return []
    pieces = []
    for string in _strings(value):
        inside = [block.code for block in code_blocks(string)] or [string]
        pieces += [
            CodePiece(code, changes=("took the code out of JSON",)) for code in inside if functions(code)
        ]
    return pieces


def _strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, in its order."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += reversed(list(item.values()))
        elif isinstance(item, list):
            waiting += reversed(item)


def _unfenced(text: str, entry_point: str, *, as_written: bool) -> list[CodePiece]:
    """The statements between prose: one program, or several where prose parts versions of the function."""
    flush = dedent(text if as_written else with_visible_characters(text))
    chunks = chunks_of(flush, examples=as_written)
    whole = "\n".join(chunk.code for chunk in chunks)
    if is_code(whole):
        versions = [chunk for chunk in chunks if entry_point in defined_names(chunk.code)]
        if len(versions) > 1 and not as_written:
            return [CodePiece(chunk.code, chunk.lead) for chunk in chunks]
        return [CodePiece(whole)]
    return [CodePiece(chunk.code, chunk.lead) for chunk in _indented(flush)] or [
        CodePiece(_from_definition(text))
    ]


def _without_prose(code: str, *, as_written: bool) -> str:
    """The statements of a text without its prose; if none is code, the text from the first `def` on."""
    flush = code if as_written else with_visible_characters(code)
    whole = "\n".join(chunk.code for chunk in chunks_of(flush, examples=as_written))
    return whole if is_code(whole) else _from_definition(code)


def _from_definition(text: str) -> str:
    start = DEFINITION.search(text)
    return text[start.start() :] if start else ""


def _indented(text: str) -> list[Chunk]:
    """Markdown's other blocks of code: lines indented by four, between lines that are not."""
    chunks: list[Chunk] = []
    lead: list[str] = []
    run: list[str] = []
    for line in (*text.split("\n"), "end"):
        if _INDENTED.match(line) or (run and not line.strip()):
            run.append(line)
            continue
        code = dedent("\n".join(run)).strip("\n")
        if functions(code) or (parse_or_none(code) and is_code(code)):
            chunks.append(Chunk(code, "\n".join(lead)))
            lead = []
        lead += [*([] if functions(code) else run), line]
        run = []
    return chunks
