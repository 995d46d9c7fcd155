"""What of a reply's text counts: reasoning left out, fenced blocks found."""

import re
from dataclasses import dataclass
from textwrap import dedent

_TAG = r"(?:think|thinking|thought|reasoning)"
# A tag that a program merely mentions stands in quotes; a model's own opens a line.
_CLOSED = re.compile(rf"^[ \t]*<({_TAG})>.*?</\1>", re.DOTALL | re.MULTILINE)
_OPEN = re.compile(rf"^[ \t]*<{_TAG}>", re.MULTILINE)
_LONE_END = re.compile(rf"(?<!['\"`])</{_TAG}>(?!['\"`])")

_FENCE = re.compile(r"(?P<before>.*?)(?P<fence>`{3,}|(?<![^\s])~{3,})[ \t]*(?P<label>[\w+#.-]*)(?P<rest>.*)")
_CODE_START = re.compile(r"\s*(def|async def|class|import|from|@)\b|\s*@")
_LANGUAGES = frozenset(
    {"python", "python3", "py", "py3", "php", "ruby", "rb", "javascript", "js", "perl", "pl"}
)
_TRIPLE_QUOTED = re.compile(r"(\"{3}|'{3}).*?\1", re.DOTALL)
_PROMPT_SIGN = re.compile(r"^(>>>|\.\.\.)( |$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `label` is the word behind the opening fence, in lower case."""

    label: str
    code: str
    closed: bool = True
    """False where the reply ended, or the next block began, before a closing fence."""


def spoken(text: str) -> str:
    """The text that counts: without reasoning, odd line ends, invisible marks and broken characters."""
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\ufeff", "").replace("\u200b", "").replace("\u00a0", " ").replace("\0", "")
    text = _CLOSED.sub("", text)
    ends = list(_LONE_END.finditer(text))
    if ends and not _OPEN.search(text):
        text = text[ends[-1].end() :]
    unclosed = _OPEN.search(text)
    return text[: unclosed.start()] if unclosed else text


def code_blocks(text: str) -> list[Block]:
    """Every fenced block in order, whatever its label; the last may lack its closing fence."""
    scanner = _Scanner()
    for line in text.split("\n"):
        scanner.feed(line)
    scanner.close()
    return [block for block in scanner.blocks if block.code.strip()]


class _Scanner:
    """Reads lines, inside or outside a fence. More forgiving than CommonMark: models write what they like."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._fence = ""
        self._label = ""
        self._lines: list[str] = []

    def feed(self, line: str) -> None:
        if self._fence:
            self._inside(line)
        else:
            self._outside(line)

    def close(self, *, closed: bool = False) -> None:
        if self._fence:
            self.blocks.append(Block(self._label, _plain("\n".join(self._lines)), closed))
        self._fence, self._lines = "", []

    def _outside(self, line: str) -> None:
        match = _FENCE.match(line)
        if not match:
            return
        fence, label, rest = match["fence"], match["label"], match["rest"]
        if fence in rest:  # a block on one line
            code = rest[: rest.index(fence)]
            known = label.lower() in _LANGUAGES
            self.blocks.append(
                Block(label.lower() if known else "", (code if known else label + code).strip())
            )
            return
        self._fence, self._label = fence, label.lower()
        if _CODE_START.match(rest):  # the program begins on the fence's own line
            self._lines.append(rest.strip())

    def _inside(self, line: str) -> None:
        match = _FENCE.match(line)
        if not match or not match["fence"].startswith(self._fence) or self._in_string():
            self._lines.append(line)
        elif (
            not match["before"].strip() and match["label"]
        ):  # an opening fence: the closing one was forgotten
            self.close()
            self._outside(line)
        elif not match["label"] and not match["rest"].strip():
            if match["before"].strip():
                self._lines.append(match["before"])
            self.close(closed=True)
        else:
            self._lines.append(line)

    def _in_string(self) -> bool:
        """Whether a docstring is open: a fence inside it belongs to the program."""
        rest = _TRIPLE_QUOTED.sub("", "\n".join(self._lines))
        return '"""' in rest or "'''" in rest


def _plain(code: str) -> str:
    """Without common indentation, and without the signs of an interactive session; else as it is."""
    lines = (dedent(code) if code.lstrip("\n")[:1].isspace() else code).split("\n")
    session = [line for line in lines if _PROMPT_SIGN.match(line)]
    if session and lines[0].startswith(">>>"):
        lines = [_PROMPT_SIGN.sub("", line) for line in session]
    return "\n".join(lines)
