"""How much memory is left for a new process."""

from collections.abc import Iterator
from pathlib import Path

_MEMORY = Path("/proc/meminfo")
_OWN_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")


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
