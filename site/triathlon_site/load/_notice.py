"""What a reader of the site should know of the results."""

import os
import stat
from pathlib import Path
from typing import Any

from triathlon_runner.records import Strict


class Notice(Strict):
    """A fault in the results: what it is, and what became of it."""

    file: str
    """Relative to the results folder."""
    line: int | None = None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.message}"

    def below(self, results: Path) -> str:
        """With the path of the file, for whoever is to mend it."""
        return str(self.model_copy(update={"file": str(results / self.file)}))


def first_fault(error: Exception) -> str:
    """The first of a validation error's faults, in one line."""
    faults: list[Any] = getattr(error, "errors", list)()
    if not faults:
        return str(error)
    where = ".".join(str(part) for part in faults[0]["loc"])
    return f"{where}: {faults[0]['msg']}" if where else str(faults[0]["msg"])


def unreadable(path: Path) -> str:
    """Why this is no file to read, in words; empty where it is one. A pipe would be waited for for ever."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if not stat.S_ISREG(mode):
        return "is no plain file"
    return "" if os.access(path, os.R_OK) else "cannot be read (Permission denied)"


def readable(name: str) -> str:
    """A file's name as UTF-8: bytes that are none become question marks in a square."""
    return os.fsencode(name).decode("utf-8", errors="replace")
