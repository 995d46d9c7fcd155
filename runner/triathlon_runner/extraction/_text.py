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

_LITERAL_OR_COMMENT = re.compile(r"\"{3}|'{3}|[\"'#]")
_ENDS = {quotes: re.compile(rf"\\.|{quotes}", re.DOTALL) for quotes in ('"""', "'''")}
_ENDS |= {quote: re.compile(rf"\\.|{quote}|\n", re.DOTALL) for quote in "\"'"}
_INVISIBLE = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad\0]")
_SPACES = re.compile("[\u00a0\u2007\u202f\u3000]")


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


def without_end_tokens(text: str) -> str:
    """The text without the tokens that end a turn, which some servers send as text."""
    text = text.removeprefix("<s>")
    while match := _END_TOKEN.search(text := text.rstrip(), max(0, len(text) - _LONGEST_TOKEN)):
        text = text[: match.start()]
    return text


def with_visible_characters(code: str) -> str:
    """The code with plain spaces and without invisible characters, but for its literals and comments."""
    parts: list[str] = []
    at = 0
    while match := _LITERAL_OR_COMMENT.search(code, at):
        end = _end_of(code, match[0], match.end())
        parts += [_visible(code[at : match.start()]), code[match.start() : end]]
        at = end
    return "".join([*parts, _visible(code[at:])])


def code_blocks(text: str) -> list[Block]:
    """Every fenced block in order, whatever its label; the last may lack its closing fence."""
    lines = text.split("\n")
    scanner = _Scanner()
    for line in lines:
        scanner.feed(line)
    if scanner.skipped is not None:
        # Quotes that never close hold no fence: the block ended at the first fence that was taken for text.
        ended, rest = scanner.skipped, lines[-scanner.since :]
        scanner.end_at(ended)
        for line in rest:
            scanner.feed(line)
    scanner.close()
    return [block for block in scanner.blocks if block.code.strip()]


class _Scanner:
    """Reads lines, inside or outside a fence. More forgiving than CommonMark: models write what they like."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.skipped: int | None = None
        """Lines of the open block before the first fence inside a string; None without one."""
        self.since = 0
        """Lines fed from that fence on."""
        self._strings = True
        """Whether a fence within triple quotes is text."""
        self._fence = ""
        self._label = ""
        self._lines: list[str] = []
        self._lead: list[str] = []
        self._quotes = ""
        """The triple quotes that are open."""

    def feed(self, line: str) -> None:
        if self._fence:
            self._feed_inside(line)
        else:
            self._feed_outside(line)
        if self.skipped is not None:
            self.since += 1

    def close(self, *, closed: bool = False) -> None:
        if self._fence:
            self._add(self._label, _without_indentation("\n".join(self._lines)), closed=closed)
        self._fence, self._lines, self._quotes = "", [], ""
        self.skipped, self.since = None, 0

    def end_at(self, count: int) -> None:
        """Ends the open block before its line of this number; what is fed again is read without strings."""
        self._lines = self._lines[:count]
        self._quotes, self._strings = "", False
        self.skipped, self.since = None, 0

    def _add(self, label: str, code: str, *, closed: bool = True) -> None:
        self.blocks.append(Block(label, code, closed, "\n".join(self._lead)))
        self._lead = []

    def _feed_outside(self, line: str) -> None:
        match = _FENCE.match(line)
        if not match:
            self._lead.append(line)
            return
        fence, label, rest = match["fence"], match["label"], match["rest"]
        self._lead.append(match["before"])
        if fence in rest:  # a block on one line
            code = rest[: rest.index(fence)]
            known = label.lower() in _LABELS
            self._add(label.lower() if known else "", (code if known else label + code).strip())
            return
        self._fence, self._label = fence, label.lower()
        if _CODE_START.match(rest):  # the program begins on the fence's own line
            self._add_line(rest.strip())

    def _feed_inside(self, line: str) -> None:
        match = _FENCE.match(line)
        if not match or not match["fence"].startswith(self._fence):
            self._add_line(line)
        elif self._quotes and self._strings:
            if self.skipped is None and not match["before"].strip():
                self.skipped = len(self._lines)
            self._add_line(line)
        elif (
            not match["before"].strip() and match["label"]
        ):  # an opening fence: the closing one was forgotten
            self.close()
            self._feed_outside(line)
        elif not match["label"] and not match["rest"].strip():
            if match["before"].strip():
                self._add_line(match["before"])
            self.close(closed=True)
        else:
            self._add_line(line)

    def _add_line(self, line: str) -> None:
        """Adds a line to the open block; a fence inside its docstring belongs to it."""
        self._lines.append(line)
        for quotes in _TRIPLE_QUOTES.findall(line):
            if not self._quotes:
                self._quotes = quotes
            elif quotes == self._quotes:
                self._quotes = ""
        if not self._quotes:
            self.skipped, self.since = None, 0


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


def _end_of(code: str, begin: str, at: int) -> int:
    """Where a literal or comment that begins before `at` ends; one that never closes, where the code does."""
    if begin == "#":
        line_end = code.find("\n", at)
        return len(code) if line_end < 0 else line_end
    for match in _ENDS[begin].finditer(code, at):
        if not match[0].startswith("\\"):
            return match.end()
    return len(code)


def _visible(code: str) -> str:
    return _SPACES.sub(" ", _INVISIBLE.sub("", code))


def _without_indentation(code: str) -> str:
    """Without common indentation, and without the signs of an interactive session; else as it is."""
    lines = (dedent(code) if code.lstrip("\n")[:1].isspace() else code).split("\n")
    session = [line for line in lines if _PROMPT_SIGN.match(line)]
    if session and lines[0].startswith(">>>"):
        lines = [_PROMPT_SIGN.sub("", line) for line in session]
    return "\n".join(lines)
