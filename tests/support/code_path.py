"""Which files of the runner something passes, beside those that docs/architecture.md names."""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Self

import triathlon_runner

PACKAGE = Path(triathlon_runner.__file__).parent
PAGE = Path(__file__).parents[2] / "docs/architecture.md"


def documented_steps(begin: str, end: str) -> list[list[str]]:
    """The files that each step of the numbered list between two phrases of the page names."""
    section = PAGE.read_text("utf-8").split(begin)[1].split(end)[0]
    steps = re.findall(r"^\d\. .*(?:\n   .*)*", section, re.MULTILINE)
    return [re.findall(r"`([\w/]+\.py)`", step) for step in steps]


def documented_path(begin: str, end: str) -> list[str]:
    """The files that all steps of such a list name."""
    return [file for step in documented_steps(begin, end) for file in step]


@dataclass
class Follower:
    """A profile function: notes the files of the package with a function that takes or returns something.

    That is a value of one of the types, or a text with one of the marks.
    """

    types: tuple[type, ...]
    marks: tuple[str, ...] = ()
    look_into: tuple[type, ...] = ()
    """Lists, tuples or bytes whose content counts, too."""
    in_locals: bool = False
    """Whether all variables of a function are looked at, in place of its arguments."""
    files: set[str] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        code, variables = frame.f_code, frame.f_locals
        if not code.co_filename.startswith(f"{PACKAGE}/"):
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if event == "call" else ()
        if self.in_locals:
            names = tuple(name for name in variables if name != "self")
        if any(map(self._is_followed, [value, *(variables.get(name) for name in names)])):
            self.files.add(Path(code.co_filename).relative_to(PACKAGE).as_posix())

    def _is_followed(self, value: object) -> bool:
        if isinstance(value, self.look_into):
            if isinstance(value, list | tuple):
                return any(map(self._is_followed, value))
            value = bytes(value).decode("latin-1")  # type: ignore[call-overload]  # bytes or a view of some
        has_mark = isinstance(value, str) and any(mark in value for mark in self.marks)
        return has_mark or isinstance(value, self.types)

    def __enter__(self) -> Self:
        """Begins to follow: what is executed in the block is looked at."""
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
