"""The limit on what programs write to disk, where no file system has one."""

import math
import os
import time

from . import confine, messages

CHECK_SECONDS, CHECK_SHARE = 0.01, 0.1
"""Seconds between two checks of the scratch directory (a child writes some 50 MiB in that time), and the
share of a core that checking may take where there are many files."""


class ScratchFolder:
    """The directory that children may write to; `watch` where no file system limits its size.

    What a child writes between two checks stays there, and is measured when the child has ended.
    """

    def __init__(self, folder: str, *, watch: bool) -> None:
        self._folder = folder
        self._watch = watch
        self._first_entries = frozenset(os.listdir(folder))
        self._due = 0.0

    def next_check(self) -> float:
        """Seconds until the next check."""
        return max(0.0, self._due - time.monotonic()) if self._watch else math.inf

    def check(self) -> int:
        """Returns the note that it is too full, or 0; 0 also before the next check is due."""
        return messages.NOTHING if self.next_check() > 0 else self.measure()

    def measure(self) -> int:
        """Returns the note that it is too full, or 0."""
        if not self._watch:
            return messages.NOTHING
        began = time.monotonic()
        note = messages.SCRATCH if _overfull(self._folder) else messages.NOTHING
        now = time.monotonic()
        self._due = now + max(CHECK_SECONDS, (now - began) / CHECK_SHARE)
        return note

    def dirty(self) -> bool:
        """Whether a program left files there, or a folder that cannot be listed."""
        try:
            return not self._first_entries.issuperset(os.listdir(self._folder))
        except OSError:
            return True


def _overfull(folder: str) -> bool:
    """Whether the files under a folder take too much space, or cannot be counted: unreadable or too deep."""
    total, waiting = 0, [(folder, 0)]
    while waiting:
        parent, depth = waiting.pop()
        try:
            with os.scandir(parent) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            continue  # deleted meanwhile
        except OSError:
            return True
        if (
            total > confine.SCRATCH_BYTES
            or depth > confine.SCRATCH_DEPTH
            or len(waiting) > confine.SCRATCH_FOLDERS
        ):
            return True
    return False
