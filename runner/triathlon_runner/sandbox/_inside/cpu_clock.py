"""Where a child's limits on CPU time and on time without any CPU time are measured."""

import time

from . import messages

CHECK_SECONDS = 0.25
"""Between two checks of a running child's CPU time."""
SLEEPING_SHARE = 0.03
"""A child that uses less than this share of a core counts as asleep, in proportion: with half the share half
of the time, without any CPU time all of it. A child that waits for a CPU gets more than this share, unless
the machine is overloaded. One that computes a little now and then, to seem awake, ends after 33 times its
limit."""
_SCHEDULED = 2
"""The kind of CPU clock that the scheduler keeps, exact to the nanosecond (CPUCLOCK_SCHED)."""


class CpuClock:
    """Measures how much CPU time a child uses and how long it sleeps, a few times a second.

    A child that waits until the runner reads its results, or sends it a call, uses no CPU time either. So
    time without CPU time counts as sleep only once the runner has confirmed that it is reading.
    """

    def __init__(self, pid: int, cpu_seconds: float, sleep_seconds: float) -> None:
        self._pid = pid
        self._cpu_limit = cpu_seconds
        self._sleep_limit = sleep_seconds
        self._time, self._cpu = time.monotonic(), 0.0
        self._slept, self._unconfirmed = 0.0, 0.0
        self._asked = False

    def next_check(self) -> float:
        """Seconds until the next check."""
        wait = max(0.001, min(CHECK_SECONDS, self._cpu_limit - self._cpu))
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

    def confirm(self) -> None:
        """Notes that the runner is reading: the child was asleep, not waiting for the runner."""
        self._slept += self._unconfirmed
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
