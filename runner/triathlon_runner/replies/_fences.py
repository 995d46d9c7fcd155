"""The fenced blocks of a reply, read more forgivingly than Markdown does: models write what they like.

Every step takes time in proportion to the text, whatever its content.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from textwrap import dedent

from triathlon_runner.languages import LANGUAGES
from triathlon_runner.replies._markers import AFTER_A_FENCE, HARMONY_TURN

_FENCE = re.compile(
    r"(?P<before>.*?)(?P<fence>`{3,}|(?<![^\s])~{3,})[ \t]*"
    rf"(?P<label>(?:(?!{HARMONY_TURN})[\w+#.-]+)?)(?P<rest>.*)"
)
_CODE_START = re.compile(r"\s*(def|async def|class|import|from|@)\b|\s*@")
_LABELS = frozenset({"python3", "py3"}).union(*(spec.fence_labels for spec in LANGUAGES.values()))
_TRIPLE_QUOTES = re.compile(r"\"{3}|'{3}")
_PROMPT_SIGN = re.compile(r"^(>>>|\.\.\.)( |$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `label` is the word behind the opening fence, in lower case."""

    label: str
    code: str
    closed: bool = True
    """False where the reply ended, or the next block began, before a closing fence."""
    span: tuple[int, int] = (0, 0)
    """Where it begins and ends in the text, fences included."""


def code_blocks(text: str, *, blank: bool = False) -> list[Block]:
    """Every fenced block in order, whatever its label; the last may lack its closing fence.

    Blocks without content are among them if `blank`.
    """
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    blocks: list[Block] = []
    at = 0
    strings = True  # whether a fence within triple quotes is text
    while at < len(lines):
        match = _FENCE.match(lines[at])
        begin = at
        at += 1
        if not match or re.match(HARMONY_TURN, match["rest"]):
            continue
        fence, label, rest = match["fence"], match["label"].lower(), match["rest"]
        if fence in rest:  # a block on one line
            known = label in _LABELS
            code, closed = ("" if known else match["label"]) + rest[: rest.index(fence)], True
            label, code = label if known else "", code.strip()
            end = starts[begin] + match.start("rest") + rest.index(fence) + len(fence)
        else:
            # The program may begin on the fence's line.
            first = [rest.strip()] if _CODE_START.match(rest) else []
            code_lines, closed, at, strings = _block_lines(lines, at, fence, first, strings=strings)
            code = _cleaned(code_lines)
            last = _FENCE.match(lines[at - 1]) if closed else None
            end = starts[at - 1] + last.end("fence") if last else min(starts[at], len(text))
        blocks.append(Block(label, code, closed, (starts[begin] + match.start("fence"), end)))
    return [block for block in blocks if blank or block.code.strip()]


def _block_lines(
    lines: list[str], at: int, fence: str, code: list[str], *, strings: bool
) -> tuple[list[str], bool, int, bool]:
    """The lines of a block from `at` on, whether it is closed, where the text goes on, and `strings`.

    Quotes that never close hold no fence: the block is then read again from the first fence in them, which
    had been taken for text, and from there on strings do not count (`strings`).
    """
    quotes = _open_quotes("", "".join(code))
    in_quotes: tuple[int, int] | None = None  # of the first fence in open quotes: its line, lines of code
    while at < len(lines) or in_quotes:
        if at == len(lines) and in_quotes:
            at, size = in_quotes
            code, quotes, strings, in_quotes = code[:size], "", False, None
        line = lines[at]
        match = _FENCE.match(line)
        if match and match["fence"].startswith(fence):
            before = match["before"].strip()
            if quotes and strings:
                in_quotes = in_quotes or (None if before else (at, len(code)))
            elif match["label"] and not before:  # an opening fence: the closing one was forgotten
                return code, False, at, strings
            elif not match["label"] and AFTER_A_FENCE.match(match["rest"]):
                return [*code, *([match["before"]] if before else [])], True, at + 1, strings
        code.append(line)
        quotes = _open_quotes(quotes, line)
        in_quotes = in_quotes if quotes else None
        at += 1
    return code, False, at, strings


def begins_again(blocks: Sequence[Block]) -> bool:
    """Whether the last block, which is not closed, only begins what two before it hold: a model in a loop."""
    *others, last = blocks or [Block("", "")]
    return not last.closed and sum(block.code.startswith(last.code.rstrip()) for block in others) > 1


def _open_quotes(quotes: str, line: str) -> str:
    """The triple quotes that are open behind a line, given those that are open before it."""
    for found in _TRIPLE_QUOTES.findall(line):
        quotes = found if not quotes else "" if found == quotes else quotes
    return quotes


def _cleaned(lines: list[str]) -> str:
    """Without the language's name alone on the first line, common indentation, and a session's signs."""
    first = next((n for n, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].strip().lower() in _LABELS:
        lines = lines[first + 1 :]
    code = "\n".join(lines)
    lines = (dedent(code) if code.lstrip("\n")[:1].isspace() else code).split("\n")
    session = [line for line in lines if _PROMPT_SIGN.match(line)]
    if session and lines[0].startswith(">>>"):
        lines = [_PROMPT_SIGN.sub("", line) for line in session]
    return "\n".join(lines)
