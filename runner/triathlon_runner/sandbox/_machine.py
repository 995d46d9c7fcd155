"""What the machine has for a child: how much memory is left, and how long it made the child wait."""

import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_MEMORY = Path("/proc/meminfo")
_OWN_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")
_OWN = Path("/proc/thread-self/schedstat")
_NANOSECONDS = 1e9


def available_bytes() -> int:
    """Memory that the machine and all control groups of this process have left."""
    lines = _MEMORY.read_text(encoding="ascii").splitlines()
    left = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    return min((left, *_left_in_groups()))


def _left_in_groups() -> Iterator[int]:
    """One number for each control group that bounds memory, of either version."""
    for line in _OWN_GROUPS.read_text(encoding="ascii", errors="replace").splitlines():
        _, controllers, path = line.split(":", 2)
        root, names = _GROUPS, ("memory.max", "memory.current", "inactive_file")
        if "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            root = _GROUPS / "memory"
        elif controllers:
            continue
        folder = root / path.strip("/")
        for group in (folder, *folder.parents):
            if group.is_relative_to(root) and (left := _left_in_group(group, *names)) is not None:
                yield left


def _left_in_group(group: Path, limit: str, used: str, reclaimable: str) -> int | None:
    """The group's limit less what it uses and could not give back; None where it has no limit."""
    try:
        most = (group / limit).read_text(encoding="ascii").strip()
        if most == "max":
            return None
        now = int((group / used).read_text(encoding="ascii"))
        statistics = (group / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    cache = next((int(line.split()[1]) for line in statistics if line.split()[0] == reclaimable), 0)
    return max(0, int(most) - now + cache)


class RunQueue:
    """Measures one child: the kernel counts for each thread how long it ran, and how long it waited to."""

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
