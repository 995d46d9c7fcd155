"""Reads reply markup by its table: splits off reasoning, ends the answer at the turn's end, opens wrappers.

Every step takes time in proportion to the text, whatever its content.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from triathlon_runner.replies._fences import code_blocks
from triathlon_runner.replies._table import ENDS, HEAD, NEVER, REASONING, REASONING_MARKERS, WRAPPER_MARKERS

_WORD = re.compile(r"\s*\S")
_LIKE_A_MARKER = re.compile(
    r"\s*(<([\w:-]+)>(?=.*</\2>)|\[([A-Z_]{3,})\](?=.*\[/\3\])|<\|[\w:-]+>)", re.DOTALL
)
_TEX = re.compile(r"\\(?:text|texttt|mathrm|mathtt|mathbf)\{([^{}]*)\}")


class _Text:
    """A text with the places where a marker is text: code blocks, strings, comments and backticks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._fences = [(*block.span, block.closed) for block in code_blocks(text, blank=True)]
        self._quotes = list(_quotes_in(text, [fence[:2] for fence in self._fences]))

    def is_quoted(self, match: re.Match[str]) -> bool:
        """Whether it stands in a string, a comment or backticks."""
        at = bisect_right(self._quotes, match.start(), key=lambda quote: quote.begin) - 1
        if at < 0 or match.start() >= self._quotes[at].end:
            return False
        # A heading of Markdown looks like a comment: a marker behind all of it is no part of it.
        return not (self._quotes[at].is_heading and match.end() >= self._quotes[at].end)

    def is_fenced(self, match: re.Match[str]) -> bool:
        """Whether it stands in a code block; the start of a line does not where that is never closed."""
        at = bisect_right(self._fences, match.start(), key=lambda fence: fence[0]) - 1
        if at < 0 or match.start() >= self._fences[at][1]:
            return False
        return self._fences[at][2] or not _begins_line(self._text, match.start())

    def markers(self, pattern: re.Pattern[str], *, in_fences: bool = False) -> Iterator[re.Match[str]]:
        """The markers that are markup."""
        for match in pattern.finditer(self._text):
            if not self.is_quoted(match) and (in_fences or not self.is_fenced(match)):
                yield match


def _begins_line(text: str, at: int) -> bool:
    """Whether nothing but blank space stands in front of it on its line."""
    while at and text[at - 1] in " \t":
        at -= 1
    return not at or text[at - 1] == "\n"


def split_reasoning(text: str) -> tuple[str, str]:
    """(answer, reasoning) of a reply.

    Reasoning stands between two markers, in front of an end that nothing begins (chat templates often put
    the beginning into the prompt), and behind a beginning that nothing ends. A beginning inside a line counts
    only where its end comes next: elsewhere the answer talks about the marker.
    """
    markers = list(_Text(text).markers(REASONING_MARKERS)) if REASONING_MARKERS.search(text) else []
    split = _Split(text)
    split.last_end = {_number(marker): marker.start() for marker in markers if not _begins(marker)}
    for marker, following in zip(markers, [*markers[1:], None], strict=False):
        split.read(marker, following)
    return split.parts()


def markers_in(text: str) -> list[str]:
    """The markers of reasoning, and the tokens that end a turn, that a reply has as markup; each once."""
    found = _Text(text)
    return list(
        dict.fromkeys(
            marker[0]
            for pattern in (REASONING_MARKERS, ENDS)
            if pattern.search(text)
            for marker in found.markers(pattern)
        )
    )


def unknown_marker(text: str) -> str:
    """What begins an answer like a marker that the table does not have; empty where nothing does.

    A name in brackets counts only where something closes it: else `[YES]` or `<T>` may be the answer.
    """
    begin = _end_of_header(text)
    match = _LIKE_A_MARKER.match(text, begin)
    tables = (REASONING_MARKERS, WRAPPER_MARKERS, ENDS)
    if match is None or any(table.match(text, match.start(1)) for table in tables):
        return ""
    return match[1]


@dataclass(slots=True)
class _Split:
    """A text on its way through its markers of reasoning."""

    text: str
    last_end: dict[int, int] = field(default_factory=dict)
    """By pair."""
    _answer: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _at: int = 0
    _open: int | None = None
    """The pair whose reasoning is open."""
    _inner: int = 0
    """Beginnings inside of reasoning: as many ends may follow that seem to lack theirs."""
    _any: bool = False
    _has_answer: bool = False

    def read(self, marker: re.Match[str], following: re.Match[str] | None) -> None:
        """Takes the text up to a marker as answer or reasoning."""
        pair = _number(marker)
        if self._open is not None:
            if _begins(marker):
                self._inner += 1
            elif pair == self._open or self._ends_another(pair, marker):
                self._take(self._reasoning, marker)
                self._open = None
            return
        if not _begins(marker) and self._inner and REASONING[pair].lone_end:
            self._take(self._reasoning, marker)
            self._inner -= 1
            return
        self._has_answer = self._has_answer or bool(_WORD.match(self.text, self._at, marker.start()))
        if _begins(marker):
            ends_next = following is not None and not _begins(following) and _number(following) == pair
            if _begins_line(self.text, marker.start()) or marker.start() == self._at or ends_next:
                self._take(self._answer, marker)
                self._open = pair
        elif REASONING[pair].begin == NEVER or self._is_lone_end(pair):
            self._take(self._answer, marker)
            self._reasoning += self._answer
            self._answer, self._has_answer = [], False

    def _take(self, part: list[str], marker: re.Match[str]) -> None:
        part.append(self.text[self._at : marker.start()])
        self._at, self._any = marker.end(), True

    def _ends_another(self, pair: int, marker: re.Match[str]) -> bool:
        """Whether it ends reasoning that another pair began, whose own end does not come any more."""
        own_end = self.last_end.get(self._open or 0, -1)
        is_final = REASONING[pair].begin == NEVER
        return is_final or (REASONING[pair].lone_end and own_end < marker.start())

    def _is_lone_end(self, pair: int) -> bool:
        """Whether all in front of an end is reasoning; behind other reasoning an answer may talk of it."""
        return REASONING[pair].lone_end and not (self._any and self._has_answer)

    def parts(self) -> tuple[str, str]:
        """(answer, reasoning); the answer is the text itself where nothing is reasoning."""
        rest = self.text[self._at :]
        if not self._any:
            return self.text, ""
        (self._answer if self._open is None else self._reasoning).append(rest)
        parts = [part.strip() for part in self._reasoning]
        return "".join(self._answer).strip("\n"), "\n".join(part for part in parts if part)


def _number(marker: re.Match[str]) -> int:
    return ((marker.lastindex or 1) - 1) // 2


def _begins(marker: re.Match[str]) -> bool:
    return (marker.lastindex or 1) % 2 == 1


def _end_of_header(text: str) -> int:
    end = 0
    while head := HEAD.match(text, end):
        end = head.end()
    return end


def visible_text(text: str) -> str:
    """The text that counts: without reasoning, what follows the end of the turn, and odd line ends."""
    return ended_text(text)[0]


def ended_text(text: str) -> tuple[str, bool]:
    """The visible text, and whether a token ended it: then a cut behind that took nothing from the answer."""
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    text, _ = split_reasoning(text.removeprefix("\ufeff"))
    begin = _end_of_header(text)
    text = text[begin:].removeprefix("\n") if begin else text
    end = next(_Text(text).markers(ENDS, in_fences=True), None) if ENDS.search(text) else None
    return (text[: end.start()], True) if end else (text, False)


def final_answer(text: str) -> str:
    """What stands in the last wrapper of a final answer; the whole text where none holds anything."""
    if not WRAPPER_MARKERS.search(text):
        return text
    markers = list(_Text(text).markers(WRAPPER_MARKERS))
    begins = [marker for marker in markers if _begins(marker)]
    ends = [marker for marker in markers if not _begins(marker)]
    if not begins:
        return (text[: ends[0].start()] if ends else "") or text
    last = begins[-1]
    if text.startswith("\\", last.start()):
        return _boxed(text, last.end()) or text
    end = next(
        (m.start() for m in ends if m.start() >= last.end() and _number(m) == _number(last)), len(text)
    )
    inside = text[last.end() : end].strip("\n")
    quote = inside.strip()[:1]
    if last[0].upper() == "[BEGIN]" and quote in ("'", '"') and inside.strip()[-1:] == quote:
        inside = inside.strip().strip(quote).strip("\n")
    return inside if inside.strip() else text


def _boxed(text: str, begin: int) -> str:
    """The content of a LaTeX box up to its closing brace, without commands that only set the type."""
    depth = 1
    for brace in re.finditer(r"\\.|[{}]", text[begin:]):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if not depth:
            inside = _TEX.sub(r"\1", text[begin : begin + brace.start()])
            return re.sub(r"\\([_{}%&#$])", r"\1", inside).strip()
    return ""


# Quotes, in whose midst a marker is text

_TOKEN = re.compile(r"\"{3}|'{3}|[\"'#]|`+|\\.")
_PREFIX = re.compile(r"(?<!\w)[bfru]{1,2}$", re.IGNORECASE)
_BEFORE_TRIPLE = re.compile(r"(?:^|[=(,:\[{+]|\breturn)\s*(?:[bfru]{1,2})?$", re.IGNORECASE)
"""What a program has on a line in front of a string of several lines; prose that names the quotes has not."""


class _Quote(NamedTuple):
    """A stretch of the text, ends included."""

    begin: int
    end: int
    is_heading: bool = False
    """Whether it is a line outside of code blocks that begins with `#`: a heading of Markdown, perhaps."""


def _quotes_in(text: str, fences: Sequence[tuple[int, int]]) -> Iterator[_Quote]:
    """Every quote in order. Code blocks hold code; elsewhere an apostrophe or a `#` may belong to prose.

    Args:
        text: The reply.
        fences: Begin and end of each code block, in order. No quote reaches across one of these.
    """
    at = 0
    for begin, end in fences:
        yield from _in_part(text, at, begin, is_code=False)
        yield from _in_part(text, begin, end, is_code=True)
        at = end
    yield from _in_part(text, at, len(text), is_code=False)


def _in_part(text: str, begin: int, end: int, *, is_code: bool) -> Iterator[_Quote]:
    never_again: set[str] = set()  # triple quotes that do not occur in the rest of the part
    while begin < end:
        line_end = text.find("\n", begin, end)
        line_end = end if line_end < 0 else line_end
        tokens = list(_TOKEN.finditer(text, begin, line_end))
        last = {token[0]: index for index, token in enumerate(tokens)}
        index, begin_line, begin = 0, begin, line_end + 1
        while index < len(tokens):
            token, kind = tokens[index], tokens[index][0]
            if kind == "#":
                if is_code or _is_comment(text, begin_line, token.start()):
                    heading = not is_code and not text[begin_line : token.start()].strip()
                    yield _Quote(token.start(), line_end, heading)
                    break
            elif kind[0] != "\\" and (is_code or _opens(text, token)):
                if last[kind] > index:
                    while tokens[index := index + 1][0] != kind:
                        pass
                    yield _Quote(token.start(), tokens[index].end())
                elif len(kind) == 3 and kind[0] != "`" and kind not in never_again:
                    close = text.find(kind, token.end(), end)
                    if close < 0:
                        never_again.add(kind)
                    elif is_code or _BEFORE_TRIPLE.search(
                        text[max(begin_line, token.start() - 80) : token.start()]
                    ):
                        yield _Quote(token.start(), close + 3)
                        begin = close + 3
                        break
            index += 1


def _opens(text: str, token: re.Match[str]) -> bool:
    """Whether a quote in prose may begin a string: an apostrophe inside a word does not."""
    before = text[max(0, token.start() - 3) : token.start()]
    return token[0][0] != "'" or not before[-1:].isalnum() or bool(_PREFIX.search(before))


def _is_comment(text: str, begin_line: int, at: int) -> bool:
    """Whether a `#` outside of a code block begins a comment: `issue #3` has none."""
    return (at == begin_line or text[at - 1] in " \t") and text[at + 1 : at + 2] in ("", " ", "#", "\n")
