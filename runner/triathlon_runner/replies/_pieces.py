"""The pieces of code in a reply, and which of them is the answer.

Pieces are fenced blocks, strings of a JSON document, statements between prose, indented blocks. None is ever
executed. Parsing is limited in proportion to the text.
"""

import ast
import json
import re
from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Final, NamedTuple

from triathlon_runner import syntax
from triathlon_runner.replies._fences import Block, code_blocks

_DEFINITION = re.compile(r"^[ \t]*(async[ \t]+def|def|class)[ \t]+\w+[ \t]*[(:]", re.MULTILINE)
_BEGINS_DEFINITION = re.compile(r"(async\b|def\b|class\b|@)")
TEST_OR_MAIN = re.compile(r"(run_)?test|main\b|pytest", re.IGNORECASE)
"""Begins the name of a test or of a main part."""
_MAY_BE_NEEDED = re.compile(
    rf"^(async\b|def\b|class\b|@)(?!\s*(?i:{TEST_OR_MAIN.pattern}))|=\s*lambda\b", re.MULTILINE
)
"""Begins a definition that an answer may need; it needs no tests and no main part."""
_NOTEBOOK_COMMAND = re.compile(
    r"^[ \t]*([!%]{1,2}[ \t]?\w.*|(python3? -m )?pip3? install\b.*)$", re.MULTILINE
)
_TEXT_LABELS = frozenset({"markdown", "md"})
"""Labels of a fence around a whole answer, which has fences inside."""
_MAX_DEPTH: Final = 3
"""Fences around fences that are opened."""
_LITERAL_OR_ODD = re.compile(
    r"""
    (?P<literal> (?P<triple>"{3}|'{3}) (?>\\.|[^\\]|\\\Z)*? (?:(?P=triple)|\Z)
               | (?P<quote>["']) (?>\\.|[^\\\n]|\\\Z)*? (?:(?P=quote)|\n|\Z)
               | \#[^\n]* )
    | (?P<space>[\u00a0\u2007\u202f\u3000])
    | [\u200b\u200c\u200d\u2060\ufeff\u00ad\0]
    """,
    re.VERBOSE | re.DOTALL,
)
"""A string or comment, as long as it reaches, or outside of one a wide space or an invisible character."""
_BEGINS = re.compile(
    r"(def|async|class|import|from|@|if|for|while|try|with)\b|@|[A-Za-z_][\w.\[\]'\", ]*[^=]?=[^=]"
)
_CONTINUES = re.compile(r"\s|$|[)\]}]|(else|elif|except|finally)\b|\"\"\"|'''")
_MAX_ENDS: Final = 20
"""Attempts at letting a statement reach past a line that looks like its end."""
MAX_CUTS: Final = 4
"""Attempts at leaving out the statement that does not parse."""
_CODE = (
    ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.If | ast.For | ast.While | ast.Try | ast.With
)  # fmt: skip
"""Statements that prose is not mistaken for: to Python, `Note` alone would be an expression."""


class Piece(NamedTuple):
    """A piece of code as the model wrote it, and in words what was done to read it."""

    code: str
    changes: tuple[str, ...] = ()


def is_code(text: str) -> bool:
    """Whether it holds a function or class, parsing or not."""
    return bool(_DEFINITION.search(text) or syntax.function_names(text))


def may_be_needed(code: str) -> bool:
    """Whether it holds code, parsing or not, that defines more than tests and a main part."""
    return is_code(code) and bool(_MAY_BE_NEEDED.search(code))


def code_pieces(text: str, entry_point: str) -> list[Piece]:
    """Pieces of code in order: each fenced block, or the text's statements where no block has a function.

    A block counts as it is; only where its closing fence is missing, prose may have got into it. A function
    may stand outside of the blocks that have its tests.
    """
    if in_json := _pieces_of_json(text):
        return in_json
    blocks = code_blocks(text)
    if not blocks and syntax.function_names(text) and _is_all_code(text):
        return [Piece(text)]
    pieces = [piece for block in blocks for piece in _pieces_of_block(block, entry_point)]
    with_code = [piece for piece in pieces if is_code(piece.code)]
    if all(only_uses(piece.code, entry_point) for piece in with_code):
        outside = _unfenced(text, entry_point)
        pieces += [Piece(code) for code in outside if not with_code or is_complete(code, entry_point)]
    return [piece for piece in pieces if piece.code.strip()]


def _pieces_of_json(text: str) -> list[Piece]:
    """The programs among the strings of a JSON document."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    try:
        waiting = [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        return []
    codes: list[str] = []
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            codes += [block.code for block in code_blocks(item)] or [item]
        elif isinstance(item, dict | list):
            waiting += reversed(list(item.values()) if isinstance(item, dict) else item)
    return [Piece(code, ("took the code out of JSON",)) for code in codes if syntax.function_names(code)]


def _pieces_of_block(block: Block, entry_point: str, depth: int = 1) -> list[Piece]:
    if block.label in _TEXT_LABELS and depth <= _MAX_DEPTH and (inner := code_blocks(block.code)):
        return [piece for part in inner for piece in _pieces_of_block(part, entry_point, depth + 1)]
    return _pieces_of_json(block.code) or [_readable(block, entry_point)]


def _readable(block: Block, entry_point: str) -> Piece:
    """The block where it parses, else without what keeps it from that, else as it is.

    That may be invisible characters, notebook commands, prose behind a block that is not closed, or an
    unfinished example.
    """
    if syntax.parse_or_none(block.code):
        return Piece(block.code)
    visible = with_visible_characters(block.code)
    changes = ("replaced invisible characters",) if visible != block.code else ()
    if changes and syntax.parse_or_none(visible):
        return Piece(visible, changes)
    code = _NOTEBOOK_COMMAND.sub("", visible)
    if code != visible and syntax.parse_or_none(code):
        return Piece(code, (*changes, "left out notebook commands"))
    if not block.closed:
        whole = "\n".join(_between_prose(visible))
        return Piece((whole if is_code(whole) else _from_definition(block.code)) or block.code)
    before = before_example(block.code, entry_point)
    return Piece(before, ("left out an example that does not parse",)) if before else Piece(block.code)


def with_visible_characters(code: str) -> str:
    """The code with plain spaces and without invisible characters, but for its literals and comments."""
    return _LITERAL_OR_ODD.sub(lambda odd: " " if odd["space"] else odd["literal"] or "", code)


def before_example(code: str, entry_point: str, *, cut: bool = False) -> str:
    """The code in front of the statement that does not parse, or (`cut`) in front of the last one.

    Empty where that statement or one behind it begins a definition, or where the function is not whole.
    """
    lines = syntax.program_lines(code)
    flush = [n for n, line in enumerate(lines) if not _CONTINUES.match(line)]
    last = len(lines) if cut else first_error(code)
    for _ in range(MAX_CUTS):
        behind = [n for n in flush if n >= last]
        flush = flush[: len(flush) - len(behind)]
        if not flush or any(_BEGINS_DEFINITION.match(lines[n]) for n in (*behind, flush[-1])):
            return ""
        last = flush.pop()
        before = "\n".join(lines[:last]).rstrip() + "\n"
        if syntax.parse_or_none(before):
            return before if is_complete(before, entry_point) else ""
        last = first_error(before)
    return ""


def first_error(code: str) -> int:
    """The number of the line that does not parse; 0 where the code does, or where nobody can tell."""
    try:
        syntax.parse(code)
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        pass
    return 0


# Code without fences


def _is_all_code(text: str) -> bool:
    """Whether the whole text is a program: it parses, and none of its statements may be prose."""
    tree = syntax.parse_or_none(text)
    return tree is not None and all(
        isinstance(statement, _CODE | ast.Assert)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.Constant))
        for statement in tree.body
    )


def _unfenced(text: str, entry_point: str) -> list[str]:
    """The statements between prose: one program, or several where prose parts versions of the function.

    Without any, Markdown's other blocks of code, which are indented, or all from a definition on.
    """
    flush = dedent(with_visible_characters(text))
    pieces = _between_prose(flush)
    whole = "\n".join(pieces)
    if is_code(whole):
        versions = [piece for piece in pieces if entry_point in syntax.defined_names(piece)]
        return pieces if len(versions) > 1 else [whole]
    indented: list[str] = []
    lines: list[str] = []
    for line in (*flush.split("\n"), "end"):
        if line.startswith(("    ", "\t")) or (lines and not line.strip()):
            lines.append(line)
            continue
        code = dedent("\n".join(lines)).strip("\n")
        if is_code(code) and syntax.parse_or_none(code):
            indented.append(code)
        lines = []
    return indented or [_from_definition(text)]


def _from_definition(text: str) -> str:
    start = _DEFINITION.search(text)
    return text[start.start() :] if start else ""


def _between_prose(text: str) -> list[str]:
    """The statements in the text, in order, parted where there is prose between them."""
    lines = text.split("\n")
    budget = 4 * len(text) + 200_000  # characters that may be parsed, so that time grows with the text
    pieces: list[str] = []
    code: list[str] = []
    at = 0
    while at < len(lines) and budget > 0:
        statement, parsed = _statement(lines, at)
        budget -= parsed
        if statement:
            code.append(statement)
        elif code and lines[at].strip() and not lines[at].startswith("#"):
            pieces.append("\n".join(code))
            code = []
        at += statement.count("\n") + 1
    return [*pieces, "\n".join(code)] if code else pieces


def _statement(lines: list[str], start: int) -> tuple[str, int]:
    """The statement that begins on this line, or nothing; and how many characters were parsed to tell."""
    parsed = tries = 0
    if not _BEGINS.match(lines[start]) or _CONTINUES.match(lines[start]):
        return "", parsed
    for end in range(start + 1, len(lines) + 1):
        if end < len(lines) and _CONTINUES.match(lines[end]):
            continue
        code = "\n".join(lines[start:end]).rstrip()
        parsed, tries = parsed + len(code), tries + 1
        if tree := syntax.parse_or_none(code):
            return (code if all(isinstance(part, _CODE) for part in tree.body) else ""), parsed
        # More may belong to it: a decorator's function, the rest of a string or of a bracket.
        is_open = (
            code.rsplit("\n", 1)[-1].startswith("@")
            or any(code.count(quotes) % 2 for quotes in ('"""', "'''"))
            or any(code.count(opened) > code.count(closed) for opened, closed in ("()", "[]", "{}"))
        )
        if tries == _MAX_ENDS or not is_open:
            break
    return "", parsed


# The answer


def answer_piece(pieces: Sequence[Piece], entry_point: str, *, methods: bool) -> Piece | None:
    """The piece that is the answer: the last complete one that defines the tests' name.

    A definition comes before a value that may be a function, such as `total = partial(add, 1)`. Without such
    a piece it is one that only mentions the function, has it as a method, or does not parse.

    `pieces` are in the order of the reply. `methods`: a class with a method of this name may be used.
    """
    named = re.compile(rf"\b(def|class)\s+{re.escape(entry_point)}\b|\b{re.escape(entry_point)}\s*=[^=]")
    mentions = [piece for piece in pieces if entry_point in piece.code]
    kinds: tuple[tuple[Sequence[Piece], Callable[[str], object]], ...] = (
        (mentions, lambda code: is_complete(code, entry_point) and is_defined(code, entry_point)),
        (mentions, lambda code: is_complete(code, entry_point)),
        (mentions, lambda code: _function_values(code, entry_point)),
        (pieces, lambda code: methods and syntax.method_of_class(code, entry_point)),
        (mentions, lambda code: not syntax.parse_or_none(code) and named.search(code)),
        (pieces, lambda code: may_be_needed(code) and syntax.parse_or_none(code)),
        (pieces, lambda code: is_code(code) and syntax.parse_or_none(code)),
        (pieces, is_code),
        (mentions, lambda code: entry_point in syntax.defined_names(code, imported=False)),
    )
    fitting = (piece for candidates, fits in kinds for piece in reversed(candidates) if fits(piece.code))
    return next(fitting, None)


def is_complete(code: str, name: str) -> bool:
    """Whether it parses and defines the name, a function with a body of which nothing is left out (`...`).

    A piece that only imports the name tests or uses a program that is elsewhere; `total = total([1])`, too.
    """
    for function in syntax.functions_named(code, name)[-1:]:
        expressions = (node.value for node in ast.walk(function) if isinstance(node, ast.Expr))
        elided = any(isinstance(each, ast.Constant) and each.value is ... for each in expressions)
        if elided or all(map(_does_nothing, function.body)):
            return False
    return bool(_function_values(code, name))


def _function_values(code: str, name: str) -> list[ast.AST]:
    return [value for part in syntax.statements(code) for value in syntax.function_values(part, name)]


def is_defined(code: str, name: str) -> bool:
    """Whether the name is a definition, a lambda, or another name of a function of the code."""
    names = syntax.function_names(code)
    return any(
        value.id in names if isinstance(value, ast.Name) else not isinstance(value, ast.Attribute | ast.Call)
        for value in _function_values(code, name)
    )


def only_uses(code: str, name: str) -> bool:
    """Whether it reads the name and has no function for it, as tests and examples do."""
    tree = syntax.parse_or_none(code)
    return tree is not None and name in syntax.used_names(tree) and not _function_values(code, name)


def is_definition(code: str) -> bool:
    """Whether it parses and defines a function or class with a body, or names a lambda, at any depth."""
    for node in ast.walk(syntax.parse_or_none(code) or ast.Module([], [])):
        match node:
            case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) | ast.ClassDef(body=body):
                if not all(map(_does_nothing, body)):
                    return True
            case ast.Assign(value=ast.Lambda()) | ast.AnnAssign(value=ast.Lambda()):
                return True
    return False


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return syntax.is_bare_constant(statement) or isinstance(statement, ast.Pass)
