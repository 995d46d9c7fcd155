"""The pieces of code in a reply, and which of them is the answer, by what the model says of them.

Pieces are fenced blocks, statements between prose, code in JSON, indented blocks. None is ever executed.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any

from triathlon_runner.extraction._text import Block, code_blocks, with_visible_characters
from triathlon_runner.syntax import (
    Function,
    defined_names,
    function_names,
    method_of_class,
    parse_or_none,
    statements,
    text_of,
)

_DEFINITION = re.compile(r"^[ \t]*(async[ \t]+def|def|class)[ \t]+\w+[ \t]*[(:]", re.MULTILINE)
_NOTEBOOK_COMMAND = re.compile(
    r"^[ \t]*([!%]{1,2}[ \t]?\w.*|(python3? -m )?pip3? install\b.*)$", re.MULTILINE
)
_DIFF_HEADS = ("+++", "---", "@@", "diff ", "index ", "\\ ")
_DIFF_LABELS = frozenset({"diff", "patch"})
_TEXT_LABELS = frozenset({"markdown", "md"})
"""Labels of a fence around a whole answer, which has fences inside."""
_INDENTED = re.compile(r" {4}|\t")

_BEGINS = re.compile(
    r"(def|async|class|import|from|@|if|for|while|try|with)\b|@|[A-Za-z_][\w.\[\]'\", ]*[^=]?=[^=]"
)
_EXAMPLE_BEGINS = re.compile(r"assert\b|[A-Za-z_][\w.]*\(")
_CONTINUES = re.compile(r"\s|$|[)\]}]|(else|elif|except|finally)\b|\"\"\"|'''")
_MAX_ENDS = 20
"""Attempts at letting a statement reach past a line that looks like its end."""
_DEFINITIONS = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_ASSIGNMENTS = ast.Assign | ast.AugAssign | ast.AnnAssign
_CODE = _DEFINITIONS | _ASSIGNMENTS | ast.If | ast.For | ast.While | ast.Try | ast.With
"""Statements that prose is not mistaken for: to Python, `Note` alone would be an expression."""

_WRONG = re.compile(
    r"\b(mistakes?|wrong|incorrect(ly)?|buggy|pitfalls?|avoid|anti-?patterns?)\b|\b(do not|don['’]t|never) "
    r"(do|write|use)\b|\b(would|will|does|did)(n['’]t| not) work|\bwon['’]t work|\b(would|will) fail\b|❌",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"\b(correct(ed|ion)?|fixed|fixes|final|revised|updated|improved|should be|instead:|right)\b|✅",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"\balternative(ly)?\b|\banother (way|approach|option|version|solution)\b|\byou (could|can|might) also\b"
    r"|\bone[- ]liner\b|\bif you prefer\b|\bfor (comparison|reference)\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"(for example|for instance|example|e\.g\.|such as|like this|like so)\b", re.IGNORECASE)
_FIRST_COMMENT = re.compile(
    r"\s*#\s*(❌|(wrong|incorrect|bad|don['’]t|avoid|(common )?mistake)\b)", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_ELIDED = re.compile(
    r"#\s*(\.{3}|…)|#.*\b(same as|as) (above|before)\b|#.*\brest of the (code|function)\b", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"#.*\b(your (code|solution)|implement|todo|placeholder|goes here)", re.IGNORECASE)
_LEAD_CHARACTERS = 2_000
"""Characters in front of a piece of code that are searched: its last sentence is among them."""


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
    return bool(function_names(text) or _DEFINITION.search(text))


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
    if not blocks and function_names(text) and _is_all_code(text):
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
        return [piece for part in inner for piece in _pieces_of_block(part, as_written=as_written)]
    piece = CodePiece(block.code, block.lead)
    inside = [] if as_written else [replace(part, lead=block.lead) for part in _pieces_of_json(block.code)]
    if inside or parse_or_none(block.code):
        return inside or [piece]
    readable = None if as_written else _readable(piece, block.label)
    if readable or block.closed:
        return [readable or piece]
    flush = block.code if as_written else with_visible_characters(block.code)
    whole = "\n".join(part.code for part in _between_prose(flush, examples=as_written))
    return [replace(piece, code=(whole if is_code(whole) else _from_definition(block.code)) or block.code)]


def _readable(piece: CodePiece, label: str) -> CodePiece | None:
    """The piece without invisible characters, notebook commands and signs of a diff, where it parses then."""
    repairs: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("replaced invisible characters", with_visible_characters),
        ("left out notebook commands", lambda code: _NOTEBOOK_COMMAND.sub("", code)),
        ("took the new side of a diff", lambda code: _new_side(code, label)),
    )
    for change, repair in repairs:
        changed = repair(piece.code)
        if changed != piece.code:
            piece = replace(piece, code=changed, changes=(*piece.changes, change))
        if parse_or_none(changed):
            return piece
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
    if not text.lstrip().startswith(("{", "[")):
        return []
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return []
    return [
        CodePiece(code, changes=("took the code out of JSON",))
        for string in _strings(value)
        for code in [block.code for block in code_blocks(string)] or [string]
        if function_names(code)
    ]


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
    pieces = _between_prose(flush, examples=as_written)
    whole = "\n".join(piece.code for piece in pieces)
    if not is_code(whole):
        return _indented(flush) or [CodePiece(_from_definition(text))]
    versions = [piece for piece in pieces if entry_point in defined_names(piece.code)]
    return pieces if len(versions) > 1 and not as_written else [CodePiece(whole)]


def _from_definition(text: str) -> str:
    start = _DEFINITION.search(text)
    return text[start.start() :] if start else ""


def _indented(text: str) -> list[CodePiece]:
    """Markdown's other blocks of code: lines indented by four, between lines that are not."""
    pieces: list[CodePiece] = []
    lead: list[str] = []
    run: list[str] = []
    for line in (*text.split("\n"), "end"):
        if _INDENTED.match(line) or (run and not line.strip()):
            run.append(line)
            continue
        code = dedent("\n".join(run)).strip("\n")
        if function_names(code) or (parse_or_none(code) and is_code(code)):
            pieces.append(CodePiece(code, "\n".join(lead)))
            lead = []
        lead += [*([] if function_names(code) else run), line]
        run = []
    return pieces


# Statements between prose


def _is_all_code(text: str) -> bool:
    """Whether the whole text is a program: it parses, and none of its statements may be prose."""
    tree = parse_or_none(text)
    return tree is not None and all(
        isinstance(statement, _CODE | ast.Assert)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.Constant))
        for statement in tree.body
    )


def _between_prose(text: str, *, examples: bool) -> list[CodePiece]:
    """The statements in the text, in order, parted where there is prose between them.

    `examples`: whether assertions and calls are statements of the program, too.
    """
    lines = text.split("\n")
    pieces: list[CodePiece] = []
    code: list[str] = []
    lead: list[str] = []
    at = 0
    while at < len(lines):
        statement = _statement(lines, at, examples=examples)
        if statement:
            code.append(statement)
        elif lines[at].strip() and not lines[at].startswith("#"):
            if code:
                pieces.append(CodePiece("\n".join(code), "\n".join(lead)))
                code, lead = [], []
            lead.append(lines[at])
        at += statement.count("\n") + 1
    return [*pieces, CodePiece("\n".join(code), "\n".join(lead))] if code else pieces


def _statement(lines: list[str], start: int, *, examples: bool) -> str:
    """The statement that begins on this line, or nothing."""
    if not (_BEGINS.match(lines[start]) or (examples and _EXAMPLE_BEGINS.match(lines[start]))):
        return ""
    kinds = _CODE | ast.Assert | ast.Expr if examples else _CODE
    for end in _ends(lines, start):
        code = "\n".join(lines[start:end]).rstrip()
        tree = parse_or_none(code)
        if tree:
            return code if all(isinstance(statement, kinds) for statement in tree.body) else ""
    return ""


def _ends(lines: list[str], start: int) -> Iterator[int]:
    """Where a statement may end: before the next flush line, or further on where something is still open."""
    tries = 0
    for end in range(start + 1, len(lines) + 1):
        if end == len(lines) or not _CONTINUES.match(lines[end]):
            yield end
            tries += 1
            if tries == _MAX_ENDS or not _is_open("\n".join(lines[start:end])):
                return


def _is_open(code: str) -> bool:
    """Whether more may belong to it: a decorator's function, the rest of a string or of a bracket."""
    last = code.rstrip().rsplit("\n", 1)[-1]
    strings = code.count('"""') % 2 or code.count("'''") % 2
    brackets = any(code.count(opened) > code.count(closed) for opened, closed in ("()", "[]", "{}"))
    return bool(last.startswith("@") or strings or brackets)


# The answer


def answer_piece(pieces: Sequence[CodePiece], entry_point: str, *, methods: bool) -> CodePiece | None:
    """The piece that is the answer: the last that defines the tests' name, for models correct themselves.

    A piece that only imports the name tests or uses a program that is elsewhere. A stub, a program that
    is introduced as a mistake, or one that is offered as an alternative comes after any other.

    Args:
        pieces: In the order of the reply.
        entry_point: The name that the tests call.
        methods: Whether a class with a method of this name may be used.
    """
    named = re.compile(rf"\b(def|class)\s+{re.escape(entry_point)}\b|\b{re.escape(entry_point)}\s*=[^=]")
    best = [piece for piece in pieces if entry_point in defined_names(piece.code, imported=False)]
    if best:
        best = [piece for piece in best if not _is_stub(piece.code, entry_point)] or best
        best = [piece for piece in best if not _shown_as_wrong(piece)] or best
        best = [piece for piece in best if not _ALTERNATIVE.search(_last_sentence(piece.lead))] or best
        return best[-1]
    classes = [piece for piece in pieces if methods and method_of_class(piece.code, entry_point)]
    broken = [piece for piece in pieces if not parse_or_none(piece.code) and named.search(piece.code)]
    code = [piece for piece in pieces if is_code(piece.code)]
    parsing = [piece for piece in code if parse_or_none(piece.code)]
    return next((kind[-1] for kind in (classes, broken, parsing, code) if kind), None)


def _is_stub(code: str, entry_point: str) -> bool:
    """Whether the function is only mentioned: no body, or one of which something is left out."""
    named = [s for s in statements(code) if isinstance(s, Function) and s.name == entry_point]
    if not named:
        return False
    function = named[-1]
    text = text_of(code, function)
    does = [statement for statement in function.body if not _does_nothing(statement)]
    return (
        not does
        or any(isinstance(node, ast.Expr) and _is_constant(node.value, ...) for node in ast.walk(function))
        or bool(_ELIDED.search(text))
        or (len(does) == 1 and _returns_constant(does[0]) and bool(_PLACEHOLDER.search(text)))
    )


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    if isinstance(statement, ast.Return):
        return statement.value is None or any(_is_constant(statement.value, it) for it in (None, ...))
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass)


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _returns_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return) and not any(
        isinstance(node, ast.Name | ast.Call) for node in ast.walk(statement)
    )


def _shown_as_wrong(piece: CodePiece) -> bool:
    """Whether the model shows it as how not to do it."""
    if _FIRST_COMMENT.match(piece.code):
        return True
    sentence = _last_sentence(piece.lead)
    return bool(_WRONG.search(sentence)) and not _RIGHT.search(sentence)


def _last_sentence(lead: str) -> str:
    """What introduces a piece of code: the sentence in front of it, and that before a mere "For example"."""
    sentences = [part for part in _SENTENCE_END.split(lead[-_LEAD_CHARACTERS:]) if part.strip(" \t#*:-")]
    introduced = bool(sentences) and _EXAMPLE.match(sentences[-1].lstrip("#*- "))
    return " ".join(sentences[-2:] if introduced else sentences[-1:])
