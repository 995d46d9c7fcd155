"""Which files of the runner something passes, beside those that docs/architecture.md names."""

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
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


class Follower(ABC):
    """A profile function: notes the files of the package with a function that has what is followed."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        name = frame.f_code.co_filename
        if name.startswith(f"{PACKAGE}/") and any(map(self.is_followed, self.values(frame, event, value))):
            self.note(Path(name).relative_to(PACKAGE).as_posix())

    def note(self, file: str) -> None:
        """Takes up a file that is passed."""
        self.files.add(file)

    def __enter__(self) -> Self:
        """Begins to follow: what is executed in the block is looked at."""
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    @abstractmethod
    def values(self, frame: FrameType, event: str, value: Any) -> Iterable[object]:
        """Which values of a call or a return are looked at."""

    @abstractmethod
    def is_followed(self, value: object) -> bool:
        """Whether a value is what is followed."""


class CallFollower(Follower):
    """Notes files with a function that takes or returns what is followed."""

    def values(self, frame: FrameType, event: str, value: Any) -> Iterable[object]:
        if event != "call":
            return [value]
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return [frame.f_locals.get(name) for name in names]
