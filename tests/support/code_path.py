"""Which files of the runner execute something, beside those that docs/architecture.md names."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Self

import triathlon_runner

PACKAGE = Path(triathlon_runner.__file__).parent
PAGE = Path(__file__).parents[2] / "docs/architecture.md"
BESIDE = {"concurrency.py", "records/_base.py", "suites.py", "sandbox/_inside/system.py"}
"""Files that no path names where they only serve it: values made once, checks of records, clocks."""


def documented_steps(begin: str, end: str) -> list[list[str]]:
    """The files that each step of the numbered list between two phrases of the page names."""
    section = PAGE.read_text("utf-8").split(begin)[1].split(end)[0]
    steps = re.findall(r"^\d\. .*(?:\n   .*)*", section, re.MULTILINE)
    return [re.findall(r"`([\w/]+\.py)`", step) for step in steps]


def documented_path(begin: str, end: str) -> set[str]:
    """The files that all steps of such a list name."""
    return {file for step in documented_steps(begin, end) for file in step}


class Follower:
    """A profile function: notes the files of the package whose functions are called, or return."""

    def __init__(self, is_followed: Callable[[FrameType, object], bool] | None = None) -> None:
        """Looks only at those frames, and at what they return, that are to be followed."""
        self.files: set[str] = set()
        self._is_followed = is_followed

    def __call__(self, frame: FrameType, _event: str, value: object) -> None:
        path = Path(frame.f_code.co_filename)
        is_ours = path.is_relative_to(PACKAGE) and frame.f_code.co_name != "<module>"
        if is_ours and (self._is_followed is None or self._is_followed(frame, value)):
            self.files.add(path.relative_to(PACKAGE).as_posix())

    def __enter__(self) -> Self:
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
