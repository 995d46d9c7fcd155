"""How long a child waited for a processor, or for the runner: time in which it could not do anything."""

import math
from contextlib import suppress
from pathlib import Path

_NANOSECONDS = 1e9
_OWN = Path("/proc/thread-self/schedstat")


class RunQueue:
    """Measures one child; the kernel counts for each thread how long it ran and how long it waited to."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, int]] = {}

    def seconds_waited(self, process: int) -> float:
        """Seconds that its threads waited since the last call; infinite where one has waited all the time.

        The kernel adds a wait when it is over: a thread that is ready to run and has done nothing since the
        last call is still waiting.

        Args:
            process: A descriptor of the child's process (pidfd).
        """
        waited, threads = 0.0, _threads(process)
        for thread, (state, ran, delayed) in threads.items():
            if state == "R" and self._last.get(thread) == (ran, delayed):
                waited = math.inf
            waited += max(0, delayed - self._last.get(thread, (0, 0))[1]) / _NANOSECONDS
        self._last = {thread: (ran, delayed) for thread, (_, ran, delayed) in threads.items()}
        return waited


def seconds_occupied() -> float:
    """Seconds that the calling thread has run or waited for a processor: all but those in which it slept."""
    try:
        ran, delayed, _ = map(int, _OWN.read_text(encoding="ascii").split())
    except OSError:  # a kernel that does not count them
        return 0.0
    return (ran + delayed) / _NANOSECONDS


def _threads(process: int) -> dict[str, tuple[str, int, int]]:
    """State, nanoseconds of running and of waiting, by thread; none where the process has ended."""
    described = Path(f"/proc/self/fdinfo/{process}").read_text(encoding="ascii")
    (pid,) = (line.split()[1] for line in described.splitlines() if line.startswith("Pid:"))
    threads = {}
    with suppress(OSError):
        for folder in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError, ValueError):  # this thread has just ended
                ran, delayed, _ = map(int, (folder / "schedstat").read_text(encoding="ascii").split())
                _, _, state = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(") ")
                threads[folder.name] = state[0], ran, delayed
    return threads
