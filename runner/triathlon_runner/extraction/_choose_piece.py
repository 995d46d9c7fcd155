"""Which of several pieces of code is the answer, by what the model says of them; none is ever executed."""

import ast
import re
from collections.abc import Sequence

from triathlon_runner.extraction._code_pieces import CodePiece, is_code
from triathlon_runner.extraction._source import defined_names, method_of_class, segment
from triathlon_runner.syntax import Function, parse_or_none

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
    defining = [piece for piece in pieces if entry_point in defined_names(piece.code, imported=False)]
    if defining:
        return _best_of(defining, entry_point)
    classes = [piece for piece in pieces if methods and method_of_class(piece.code, entry_point)]
    broken = [piece for piece in pieces if not parse_or_none(piece.code) and named.search(piece.code)]
    parsing = [piece for piece in pieces if parse_or_none(piece.code) and is_code(piece.code)]
    rest = [piece for piece in pieces if is_code(piece.code)]
    return next((kind[-1] for kind in (classes, broken, parsing, rest) if kind), None)


def _best_of(pieces: Sequence[CodePiece], entry_point: str) -> CodePiece:
    whole = [piece for piece in pieces if not _is_stub(piece.code, entry_point)] or pieces
    right = [piece for piece in whole if not _shown_as_wrong(piece)] or whole
    first_choice = [piece for piece in right if not _ALTERNATIVE.search(_last_sentence(piece.lead))] or right
    return first_choice[-1]


def _is_stub(code: str, entry_point: str) -> bool:
    """Whether the function is only mentioned: no body, or one of which something is left out."""
    tree = parse_or_none(code)
    named = [s for s in (tree.body if tree else []) if isinstance(s, Function) and s.name == entry_point]
    if not named:
        return False
    function = named[-1]
    text = segment(code, function)
    does = [statement for statement in function.body if not _does_nothing(statement)]
    return (
        not does
        or any(_is_ellipsis(node) for node in ast.walk(function))
        or bool(_ELIDED.search(text))
        or (len(does) == 1 and _returns_constant(does[0]) and bool(_PLACEHOLDER.search(text)))
    )


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    if isinstance(statement, ast.Return):
        value = statement.value
        return value is None or (isinstance(value, ast.Constant) and value.value in (None, ...))
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass)


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


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
    if not sentences:
        return ""
    last = sentences[-1]
    return " ".join(sentences[-2:]) if _EXAMPLE.match(last.lstrip("#*- ")) else last
