"""Printing for people: the one way by which text reaches the terminal.

Error texts, model names, file names and result lines come from servers, files and models. A control character
in them could clear the screen, colour it, or make text look like something else; so it is printed as `\\x1b`,
in the way Python writes it. Rich's markup and emoji names in such texts are left as they are.
"""

import os
import re
import sys
import time
import traceback
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cache
from json import dumps
from types import TracebackType
from typing import Any, Final

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories: control (C0, C1), format (bidirectional overrides, zero width), lone surrogates,
line and paragraph separators."""
_COMMAND: Final = re.compile(r"^([^\S\n]*)::|##\[", re.MULTILINE)
_KEPT: Final = frozenset("\n\t")
_WIDTH_OF_FILES: Final = 10_000
"""Columns where the output is no terminal: no message and no row of a table is broken there, for `grep`."""
_PROGRESS_SECONDS: Final = 10.0


def visible(text: str) -> str:
    """`text` with control and invisible characters as escapes, such as `\\x1b`; newlines and tabs stay.

    So are the colons and brackets by which a line of a workflow's log would be a command: `::error::`, `##[`.
    """
    if "::" in text or "##[" in text:
        text = _COMMAND.sub(lambda start: f"{start[1]}\\x3a:" if start[1] is not None else "##\\x5b", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def in_markdown(text: str) -> str:
    """`text` as one line in which Markdown shows no link, picture, heading, mention, HTML or end of a cell.

    Behind `@`, `#`, `:` and `www` stands a space without width where a mention or address would go on.
    """
    line = " ".join(visible(text.replace("\\", "\\\\")).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"[`*_\[\]()#!|~]|^[-+=]", r"\\\g<0>", line)
    return re.sub(r"[@#]|:(?=//)|www(?=\.)", "\\g<0>\u200b", line)


@cache
def _visible(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in _HIDDEN:
        return character
    return character.encode("unicode_escape").decode()


def indented(text: str) -> str:
    """`text` with later lines indented, so that none of them looks like a message of its own."""
    return text.replace("\n", "\n  ")


def counted(number: int, noun: str) -> str:
    """`1 unit` or `2 units`; `reply` becomes `replies`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def duration(seconds: float) -> str:
    """`45 s`, `1 min 30 s`, `10 min` or `23 h 59 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    if minutes:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{rest} s"


def shortened(text: str, most: int) -> str:
    """The first `most` characters of `text`, and `…` behind them where there are others."""
    return text if len(text) <= most else f"{text[:most]}…"


def first_of(lines: Sequence[str], most: int, about_others: str = "") -> list[str]:
    """The first `most` lines, and behind them `and 3 more` with `about_others` where there are others."""
    others = len(lines) - most
    return [*lines[:most], f"and {others} more{about_others}"] if others > 0 else list(lines)


def table(*columns: str, right: Collection[str] = (), whole: Collection[str] = ()) -> Table:
    """A table without lines; cells too long for it are continued in the next line.

    `right` are titles of columns that stand on the right, `whole` of those whose cells stay in one line.
    """
    made = Table(box=None, pad_edge=False, header_style="bold")
    for title in columns:
        side: JustifyMethod = "right" if title in right else "left"
        made.add_column(title, justify=side, no_wrap=title in whole, overflow="fold")
    return made


def money(usd: float) -> str:
    """USD in plain decimals, to a millionth: `0.00001`, never `1e-05`."""
    return f"{usd:.6f}".rstrip("0").rstrip(".")


class Screen(Console):
    """A console on which every string is data: escaped, and never read as markup, emoji name or number."""

    def __init__(self, **settings: Any) -> None:
        """Takes rich's settings; NO_COLOR takes away bold and dim, too."""
        if os.environ.get("NO_COLOR"):
            settings.setdefault("color_system", None)
        super().__init__(markup=False, emoji=False, highlight=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        """As rich's, which every string passes that is printed or stands in a table."""
        return super().render_str(visible(text), **{**settings, "markup": False, "emoji": False})

    def print(self, *objects: Any, **settings: Any) -> None:
        """As rich's; where the output is no terminal, no line ends with the blanks that fill a table."""
        if self.is_terminal:
            super().print(*objects, **settings)
            return
        with self.capture() as captured:
            super().print(*objects, **settings)
        self.file.write(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE))
        self.file.flush()

    def print_message(self, message: str) -> None:
        """One message, its later lines indented; broken between words where the output is a terminal."""
        self.print(indented(message), soft_wrap=not self.is_terminal)

    def print_json(self, *_: Any, data: Any = None, **__: Any) -> None:
        """One JSON document for machines; what must not reach a terminal stands as JSON's own escapes."""
        text = dumps(data, indent=2, ensure_ascii=False)
        self.file.write("".join(map(_json_visible, text)) + "\n")


@cache
def _json_visible(character: str) -> str:
    if character == "\n" or _visible(character) == character:
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else dumps(character)[1:-1]


def write(text: str) -> None:
    """`text` and a newline on standard output, escaped."""
    sys.stdout.write(visible(text) + "\n")
    sys.stdout.flush()


def console() -> Screen:
    """Standard output; lines stay whole where it is no terminal."""
    screen = Screen()
    return screen if screen.is_terminal else Screen(width=_WIDTH_OF_FILES)


def print_error(message: str) -> None:
    """One message on standard error, after the command's name."""
    Screen(stderr=True).print_message(f"triathlon: {message}")
    sys.stderr.flush()


def progress_lines(title: str, noun: str) -> Callable[[int, int], None]:
    """What prints `title: 12 of 80 samples` on standard error, at most one line every ten seconds."""
    last_line = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last_line
        if done < total and time.monotonic() - last_line >= _PROGRESS_SECONDS:
            last_line = time.monotonic()
            Screen(stderr=True).print_message(f"{title}: {done} of {counted(total, noun)}")

    return show


def print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A `sys.excepthook`: an exception may quote a server's reply."""
    sys.stderr.write(visible("".join(traceback.format_exception(kind, error, trace))))
