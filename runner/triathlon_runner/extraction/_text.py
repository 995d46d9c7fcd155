"""The text of a reply without reasoning, and its fenced blocks.

Every step takes time in proportion to the text, whatever its content.
"""

import re
from dataclasses import dataclass
from textwrap import dedent

from triathlon_runner.languages import LANGUAGES

_TAG = r"(?:think|thinking|thought|reasoning)"
# A tag that a program mentions is in quotes; a model's own tag begins a line.
_OPEN = re.compile(rf"^[ \t]*<({_TAG})>", re.MULTILINE)
_NEXT_OPEN = re.compile(rf"[ \t]*<({_TAG})>")
_LONE_END = re.compile(rf"(?<!['\"`])</{_TAG}>(?!['\"`])")
_END_TOKEN = re.compile(r"(</s>|<\|\w{1,30}\|>|<｜[^｜\n]{1,30}｜>|<end_of_turn>|<eos>|\[/INST\])$")
_LONGEST_TOKEN = 40

_FENCE = re.compile(r"(?P<before>.*?)(?P<fence>`{3,}|(?<![^\s])~{3,})[ \t]*(?P<label>[\w+#.-]*)(?P<rest>.*)")
_CODE_START = re.compile(r"\s*(def|async def|class|import|from|@)\b|\s*@")
_LABELS = frozenset().union(*(spec.fence_labels for spec in LANGUAGES.values()))
_TRIPLE_QUOTES = re.compile(r"\"{3}|'{3}")
_PROMPT_SIGN = re.compile(r"^(>>>|\.\.\.)( |$)")

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


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `label` is the word behind the opening fence, in lower case."""

    label: str
    code: str
    closed: bool = True
    """False where the reply ended, or the next block began, before a closing fence."""
    lead: str = ""
    """The text between the block before and this one."""


def visible_text(text: str) -> str:
    """The text that counts: without reasoning, odd line ends, a byte order mark and broken characters."""
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    text = _without_reasoning(text.removeprefix("\ufeff"))
    ends = list(_LONE_END.finditer(text))
    if ends and not _OPEN.search(text):
        text = text[ends[-1].end() :]
    unclosed = _OPEN.search(text)
    return text[: unclosed.start()] if unclosed else text


def _without_reasoning(text: str) -> str:
    """The text without reasoning that is opened and closed."""
    parts: list[str] = []
    at = 0
    match = _OPEN.search(text)
    while match:
        end = f"</{match[1]}>"
        close = text.find(end, match.end())
        if close < 0:
            break
        parts.append(text[at : match.start()])
        at = close + len(end)
        match = _NEXT_OPEN.match(text, at) or _OPEN.search(text, at)
    return "".join([*parts, text[at:]])


def without_end_tokens(text: str) -> str:
    """The text without the tokens that end a turn, which some servers send as text."""
    text = text.removeprefix("<s>")
    while match := _END_TOKEN.search(text := text.rstrip(), max(0, len(text) - _LONGEST_TOKEN)):
        text = text[: match.start()]
    return text


def with_visible_characters(code: str) -> str:
    """The code with plain spaces and without invisible characters, but for its literals and comments."""
    return _LITERAL_OR_ODD.sub(lambda odd: " " if odd["space"] else odd["literal"] or "", code)


def code_blocks(text: str) -> list[Block]:
    """Every fenced block in order, whatever its label; the last may lack its closing fence.

    More forgiving than CommonMark: models write what they like.
    """
    lines = text.split("\n")
    blocks: list[Block] = []
    lead: list[str] = []
    at = 0
    strings = True  # whether a fence within triple quotes is text
    while at < len(lines):
        match = _FENCE.match(lines[at])
        at += 1
        if not match:
            lead.append(lines[at - 1])
            continue
        lead.append(match["before"])
        fence, label, rest = match["fence"], match["label"].lower(), match["rest"]
        if fence in rest:  # a block on one line
            known = label in _LABELS
            code = ("" if known else match["label"]) + rest[: rest.index(fence)]
            block = Block(label if known else "", code.strip(), lead="\n".join(lead))
        else:
            begin = (
                [rest.strip()] if _CODE_START.match(rest) else []
            )  # the program begins on the fence's line
            code_lines, closed, at, strings = _block_lines(lines, at, fence, begin, strings=strings)
            block = Block(label, _without_indentation("\n".join(code_lines)), closed, "\n".join(lead))
        blocks.append(block)
        lead = []
    return [block for block in blocks if block.code.strip()]


def _block_lines(
    lines: list[str], at: int, fence: str, code: list[str], *, strings: bool
) -> tuple[list[str], bool, int, bool]:
    """The lines of a block from `at` on, whether it is closed, where the text goes on, and `strings`.

    Quotes that never close hold no fence: the block is then read again from the first fence in them, which
    had been taken for text, and from there on strings do not count (`strings`).
    """
    quotes = _open_quotes("", "".join(code))
    in_quotes: tuple[int, int] | None = (
        None  # the first fence within the open quotes: its line, lines of code
    )
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
            elif not match["label"] and not match["rest"].strip():
                return [*code, *([match["before"]] if before else [])], True, at + 1, strings
        code.append(line)
        quotes = _open_quotes(quotes, line)
        in_quotes = in_quotes if quotes else None
        at += 1
    return code, False, at, strings


def _open_quotes(quotes: str, line: str) -> str:
    """The triple quotes that are open behind a line, given those that are open before it."""
    for found in _TRIPLE_QUOTES.findall(line):
        quotes = found if not quotes else "" if found == quotes else quotes
    return quotes


def _without_indentation(code: str) -> str:
    """Without common indentation, and without the signs of an interactive session; else as it is."""
    lines = (dedent(code) if code.lstrip("\n")[:1].isspace() else code).split("\n")
    session = [line for line in lines if _PROMPT_SIGN.match(line)]
    if session and lines[0].startswith(">>>"):
        lines = [_PROMPT_SIGN.sub("", line) for line in session]
    return "\n".join(lines)
