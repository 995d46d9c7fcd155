"""Which files of the runner something passes, beside those that docs/architecture.md names."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import triathlon_runner

PACKAGE = Path(triathlon_runner.__file__).parent
PAGE = Path(__file__).parents[2] / "docs/architecture.md"


def documented_path(begin: str, end: str) -> list[str]:
    """The files that the numbered list between two phrases of the page names."""
    section = PAGE.read_text("utf-8").split(begin)[1].split(end)[0]
    steps = " ".join(re.findall(r"^\d\. .*(?:\n   .*)*", section, re.MULTILINE))
    return re.findall(r"`([\w/]+\.py)`", steps)


class Follower(ABC):
    """A profile function: notes the files of the package with a function that has what is followed."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        name = frame.f_code.co_filename
        if name.startswith(f"{PACKAGE}/") and any(map(self.is_followed, self.values(frame, event, value))):
            self.files.add(Path(name).relative_to(PACKAGE).as_posix())

    @abstractmethod
    def values(self, frame: FrameType, event: str, value: Any) -> Iterable[object]:
        """Which values of a call or a return are looked at."""

    @abstractmethod
    def is_followed(self, value: object) -> bool:
        """Whether a value is what is followed."""
