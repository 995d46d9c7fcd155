"""Where a reply quotes: strings, comments and backticks, in whose midst a marker is text."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TOKEN = re.compile(r"\"{3}|'{3}|[\"'#]|`+|\\.")
_PREFIX = re.compile(r"(?<!\w)[bfru]{1,2}$", re.IGNORECASE)
_BEFORE_TRIPLE = re.compile(r"(?:^|[=(,:\[{+]|\breturn)\s*(?:[bfru]{1,2})?$", re.IGNORECASE)
"""What a program has on a line in front of a string of several lines; prose that names the quotes has not."""


class Quote(NamedTuple):
    """A stretch of the text, ends included."""

    begin: int
    end: int
    is_heading: bool = False
    """Whether it is a line outside of code blocks that begins with `#`: a heading of Markdown, perhaps."""


def quotes_in(text: str, fences: Sequence[tuple[int, int]]) -> Iterator[Quote]:
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


def _in_part(text: str, begin: int, end: int, *, is_code: bool) -> Iterator[Quote]:
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
                    yield Quote(token.start(), line_end, heading)
                    break
            elif kind[0] != "\\" and (is_code or _opens(text, token)):
                if last[kind] > index:
                    while tokens[index := index + 1][0] != kind:
                        pass
                    yield Quote(token.start(), tokens[index].end())
                elif len(kind) == 3 and kind[0] != "`" and kind not in never_again:
                    close = text.find(kind, token.end(), end)
                    if close < 0:
                        never_again.add(kind)
                    elif is_code or _BEFORE_TRIPLE.search(
                        text[max(begin_line, token.start() - 80) : token.start()]
                    ):
                        yield Quote(token.start(), close + 3)
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
