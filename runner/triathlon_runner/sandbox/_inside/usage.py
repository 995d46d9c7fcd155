"""Where a child's limits are measured: CPU time, time without any CPU time, and what it writes to disk."""

import math
import os
import time

from . import confine, messages

CPU_CHECK_SECONDS = 0.25
"""Between two checks of a running child's CPU time."""
SLEEPING_SHARE = 0.03
"""A child that uses less than this share of a core counts as asleep, in proportion: with half the share half
of the time, without any CPU time all of it. One that computes a little now and then, to seem awake, ends
after 33 times its limit."""
_SCHEDULED = 2
"""The kind of CPU clock that the scheduler keeps, exact to the nanosecond (CPUCLOCK_SCHED)."""
SCRATCH_CHECK_SECONDS, CHECK_SHARE = 0.01, 0.1
"""Seconds between two checks of the scratch directory (a child writes some 50 MiB in that time), and the
share of a core that checking may take where there are many files."""


class CpuClock:
    """Measures how much CPU time a child uses and how long it sleeps, a few times a second.

    A child that waits until the runner reads its results, or sends it a call, uses no CPU time either, nor
    does one that waits for a processor on a busy machine. So time without CPU time counts as sleep only once
    the runner has confirmed that it is reading, and has said how long the child waited for a processor, or
    for the runner, which had none.
    """

    def __init__(self, pid: int, cpu_seconds: float, sleep_seconds: float) -> None:
        self._pid = pid
        self._cpu_limit = cpu_seconds
        self._sleep_limit = sleep_seconds
        self._time, self._cpu = time.monotonic(), 0.0
        self._slept, self._unconfirmed = 0.0, 0.0
        self._counted = 0.0  # as sleep, at the last confirmation
        self._asked = False

    def next_check(self) -> float:
        """Seconds until the next check."""
        wait = max(0.001, min(CPU_CHECK_SECONDS, self._cpu_limit - self._cpu))
        return max(0.0, self._time + wait - time.monotonic())

    def check(self) -> int:
        """Returns the note of the limit that was reached, or 0; 0 also before the next check is due.

        Shorter intervals would count a child that waits for a CPU as asleep more often.
        """
        if self.next_check() > 0:
            return messages.NOTHING
        now, cpu = time.monotonic(), _cpu_used(self._pid)
        if not self._asked:
            self._unconfirmed += max(0.0, now - self._time - (cpu - self._cpu) / SLEEPING_SHARE)
        self._time, self._cpu = now, cpu
        if cpu >= self._cpu_limit:
            return messages.OUT_OF_TIME
        return messages.ASLEEP if self._slept >= self._sleep_limit else messages.NOTHING

    def must_ask_runner(self) -> bool:
        """Whether to ask the runner now if it is reading; after True, False until it has answered."""
        if self._asked or not self._unconfirmed:
            return False
        self._asked = True
        return True

    def confirm(self, waited: float) -> None:
        """Notes that the runner is reading: the child slept, but while it waited.

        The kernel adds a wait when it is over: one that began before the last confirmation, behind a moment
        of computing, was counted as sleep there, and is taken back here.
        """
        slept = self._unconfirmed - waited
        self._slept += max(slept, -self._counted)
        self._counted = max(0.0, slept)
        self._unconfirmed = 0.0
        self._asked = False


def _cpu_used(pid: int) -> float:
    """CPU seconds of all threads of a process, by its own clock.

    Not by RLIMIT_CPU, which counts timer ticks: on a busy machine these are off by a fifth, either way.
    """
    try:
        return time.clock_gettime((~pid << 3) | _SCHEDULED)
    except OSError:  # it has just ended
        return 0.0


class ScratchFolder:
    """The directory that children may write to; `watch` where no file system limits its size.

    What a child writes between two checks stays there, and is measured when the child has ended.
    """

    def __init__(self, folder: str, *, watch: bool) -> None:
        self._folder = folder
        self._watch = watch
        self._changed_at = os.stat(folder).st_ctime_ns
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
        self._due = now + max(SCRATCH_CHECK_SECONDS, (now - began) / CHECK_SHARE)
        return note

    def dirty(self) -> bool:
        """Whether a program wrote there: of files that it deleted the folder's time remains."""
        return os.stat(self._folder).st_ctime_ns != self._changed_at


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
