"""Reads reply markup by its table: splits off reasoning, ends the answer at the turn's end, opens wrappers.

Every step takes time in proportion to the text, whatever its content.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from triathlon_runner.replies._fences import code_blocks
from triathlon_runner.replies._markers import ENDS, HEAD, NEVER, REASONING, REASONING_MARKERS, WRAPPER_MARKERS

_WORD = re.compile(r"\s*\S")
_LIKE_A_MARKER = re.compile(
    r"\s*(<([\w:-]+)>(?=.*</\2>)|\[([A-Z_]{3,})\](?=.*\[/\3\])|<\|[\w:-]+>)", re.DOTALL
)
_TEX = re.compile(r"\\(?:text|texttt|mathrm|mathtt|mathbf)\{([^{}]*)\}")


def _markers(text: str, pattern: re.Pattern[str], *, in_fences: bool = False) -> list[re.Match[str]]:
    """The markers that are markup, and not text in a string, a comment, backticks or a code block."""
    if not pattern.search(text):
        return []
    fences = [_Part(*block.span, block.closed) for block in code_blocks(text, blank=True)]
    quotes = list(_quotes_in(text, fences))
    found = []
    for marker in pattern.finditer(text):
        quote, fence = _part_around(quotes, marker.start()), _part_around(fences, marker.start())
        # A heading of Markdown looks like a comment: a marker behind all of it is no part of it.
        if quote and not (quote.is_heading and marker.end() >= quote.end):
            continue
        # A block that is never closed ends where a line begins with a marker.
        if fence and not in_fences and (fence.is_closed or not _begins_line(text, marker.start())):
            continue
        found.append(marker)
    return found


def _number(marker: re.Match[str]) -> int:
    """The number of the marker's pair in its table."""
    return ((marker.lastindex or 1) - 1) // 2


def _begins(marker: re.Match[str]) -> bool:
    return (marker.lastindex or 1) % 2 == 1


def _begins_line(text: str, at: int) -> bool:
    """Whether nothing but blank space stands in front of it on its line."""
    while at and text[at - 1] in " \t":
        at -= 1
    return not at or text[at - 1] == "\n"


def split_reasoning(text: str) -> tuple[str, str]:
    """(answer, reasoning) of a reply; the answer is the text itself where nothing is reasoning.

    Reasoning stands between two markers, in front of an end that nothing begins (chat templates often put
    the beginning into the prompt), and behind a beginning that nothing ends. A beginning inside a line counts
    only where its end comes next: elsewhere the answer talks about the marker.
    """
    markers = _markers(text, REASONING_MARKERS)
    last_ends = {_number(marker): marker.start() for marker in markers if not _begins(marker)}
    answer: list[str] = []
    reasoning: list[str] = []
    at = 0
    open_pair: int | None = None
    inner = 0  # beginnings inside of reasoning: as many ends may follow that seem to lack theirs
    has_answer = False
    for marker, following in zip(markers, [*markers[1:], None], strict=False):
        begin, pair = marker.start(), _number(marker)
        lone_end, is_final = REASONING[pair].lone_end, REASONING[pair].begin == NEVER
        if open_pair is not None:
            if _begins(marker):
                inner += 1
                continue
            # Another pair's end counts where the own one does not come any more.
            ends_another = is_final or (lone_end and last_ends.get(open_pair, -1) < begin)
            if pair != open_pair and not ends_another:
                continue
            reasoning.append(text[at:begin])
            open_pair = None
        elif not _begins(marker) and inner and lone_end:
            reasoning.append(text[at:begin])
            inner -= 1
        else:
            has_answer = has_answer or bool(_WORD.match(text, at, begin))
            if _begins(marker):
                ends_next = following is not None and not _begins(following) and _number(following) == pair
                if not (_begins_line(text, begin) or begin == at or ends_next):
                    continue
                answer.append(text[at:begin])
                open_pair = pair
            else:
                # All in front of an end is reasoning; behind other reasoning an answer may talk of it.
                talks_of_it = has_answer and bool(answer or reasoning)
                if not is_final and (talks_of_it or not lone_end):
                    continue
                reasoning += [*answer, text[at:begin]]
                answer, has_answer = [], False
        at = marker.end()
    if open_pair is not None and (end := _end_in_open_fence(text, at, open_pair)):
        reasoning.append(text[at : end.start()])
        at, open_pair = end.end(), None
    if not (answer or reasoning):
        return text, ""
    (answer if open_pair is None else reasoning).append(text[at:])
    parts = [part.strip() for part in reasoning]
    return "".join(answer).strip("\n"), "\n".join(part for part in parts if part)


def _end_in_open_fence(text: str, at: int, pair: int) -> re.Match[str] | None:
    """The end of reasoning that left a code block open, which seems to close where the answer's begins."""
    markers = REASONING_MARKERS.finditer(text, at)
    ends = (marker for marker in markers if _number(marker) == pair and not _begins(marker))
    return next((end for end in ends if _begins_line(text, end.start())), None)


def markers_in(text: str) -> list[str]:
    """The markers of reasoning, and the tokens that end a turn, that a reply has as markup; each once."""
    markers = [*_markers(text, REASONING_MARKERS), *_markers(text, ENDS)]
    return list(dict.fromkeys(marker[0] for marker in markers))


def unknown_marker(text: str) -> str:
    """What begins an answer like a marker that the table does not have; empty where nothing does.

    A name in brackets counts only where something closes it: else `[YES]` or `<T>` may be the answer.
    """
    match = _LIKE_A_MARKER.match(text, _end_of_header(text))
    tables = (REASONING_MARKERS, WRAPPER_MARKERS, ENDS)
    if match is None or any(table.match(text, match.start(1)) for table in tables):
        return ""
    return match[1]


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
    ends = _markers(text, ENDS, in_fences=True)
    return (text[: ends[0].start()], True) if ends else (text, False)


def final_answer(text: str) -> str:
    """What stands in the last wrapper of a final answer; the whole text where none holds anything."""
    markers = _markers(text, WRAPPER_MARKERS)
    begins = [marker for marker in markers if _begins(marker)]
    if not begins:
        return (text[: markers[0].start()] if markers else "") or text
    last = begins[-1]
    if text.startswith("\\", last.start()):
        return _boxed(text, last.end()) or text
    ends = (m.start() for m in markers if m.start() >= last.end() and _number(m) == _number(last))
    inside = text[last.end() : next(ends, len(text))].strip("\n")
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


class _Part(NamedTuple):
    """A code block or a quote, with its fences or quotation marks."""

    begin: int
    end: int
    is_closed: bool = True
    """Whether a code block has a closing fence."""
    is_heading: bool = False
    """Whether it is a line outside of code blocks that begins with `#`: a heading of Markdown, perhaps."""


def _part_around(parts: Sequence[_Part], at: int) -> _Part | None:
    """The one of these parts, which are in order, in which a place is."""
    index = bisect_right(parts, at, key=lambda part: part.begin) - 1
    return parts[index] if index >= 0 and at < parts[index].end else None


def _quotes_in(text: str, fences: Sequence[_Part]) -> Iterator[_Part]:
    """Every quote in order. Code blocks hold code; elsewhere an apostrophe or a `#` may belong to prose.

    No quote reaches across the beginning or the end of a code block.
    """
    at = 0
    for begin, end, *_ in fences:
        yield from _in_part(text, at, begin, is_code=False)
        yield from _in_part(text, begin, end, is_code=True)
        at = end
    yield from _in_part(text, at, len(text), is_code=False)


def _in_part(text: str, begin: int, end: int, *, is_code: bool) -> Iterator[_Part]:
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
                    yield _Part(token.start(), line_end, is_heading=heading)
                    break
            elif kind[0] != "\\" and (is_code or _opens(text, token)):
                if last[kind] > index:
                    while tokens[index := index + 1][0] != kind:
                        pass
                    yield _Part(token.start(), tokens[index].end())
                elif len(kind) == 3 and kind[0] != "`" and kind not in never_again:
                    close = text.find(kind, token.end(), end)
                    if close < 0:
                        never_again.add(kind)
                    elif is_code or _BEFORE_TRIPLE.search(
                        text[max(begin_line, token.start() - 80) : token.start()]
                    ):
                        yield _Part(token.start(), close + 3)
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
