"""What is wrong with a results file, or with it and its manifest together, although both parse."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.records import Manifest, UnitRecord


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


def contradictions(manifest: Manifest, records: Sequence[UnitRecord], lines: int) -> Iterator[str]:
    """What the manifest says and the lines do not bear out, in words."""
    counted = sum(manifest.outcomes.values())
    if counted > lines:
        yield f"its manifest counts {counted} units, lines in the file: {lines}; some were lost"
    tasks = len({record.task_id for record in records})
    if tasks > manifest.tasks_in_suite:
        yield f"{tasks} tasks, but its manifest says that the suite has {manifest.tasks_in_suite}"
    if records and (engine := graded_otherwise(manifest.engine_versions)):
        yield engine
