"""What a server prepares once and each child puts on: rules for files, limits, another user, the filter."""

import contextlib
import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import landlock, rooms, syscalls, system

FILE_BYTES = 16 << 20
"""The largest file that a child may write."""
OPEN_FILES = 256
THREADS = 64
RULESET = 100
"""The descriptor that holds the Landlock rules, in the server and until a child has put them on."""

_NOBODY = 65534
_COMMON_LIMITS = (
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_FSIZE, FILE_BYTES),
    (resource.RLIMIT_NOFILE, OPEN_FILES),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_MSGQUEUE, 0),
    (resource.RLIMIT_NICE, 0),
    (resource.RLIMIT_RTPRIO, 0),
    (resource.RLIMIT_SIGPENDING, 64),
)


@dataclass(frozen=True)
class Confinement:
    """Prepared by the server; `put_on` is called by each child before it reads its job."""

    scratch: str
    """The only directory that a child may write to; also its working directory."""
    ids: tuple[int, int] | None
    """User and group to become; None where everyone is the same unprivileged user."""
    keep: int
    """Capabilities kept by a child: none, or reading where the interpreter lies in a private directory."""
    ruleset: int | None
    filter: bytes
    memory_limit: int

    def put_on(self, cpu_seconds: float, memory_bytes: int) -> None:
        """Confines the calling child for good. The kernel's own CPU limit is only there if the server fails.

        Raises:
            OSError: the kernel refused a part; nothing untrusted may run then.
        """
        server = os.getppid()
        os.setsid()
        backstop = int(2 * cpu_seconds) + 5
        resource.setrlimit(resource.RLIMIT_CPU, (backstop, backstop))
        resource.setrlimit(self.memory_limit, (memory_bytes, memory_bytes))
        if self.ids is not None:
            system.keep_capabilities()  # until the next line but one drops all but `keep`
            self._become(*self.ids)
        system.drop_capabilities(self.keep)
        system.not_dumpable()
        system.die_with_parent(signal.SIGKILL)
        if os.getppid() != server:
            os._exit(1)
        if self.ruleset is not None:
            system.landlock_restrict(self.ruleset)
            os.close(self.ruleset)
        system.install_filter(syscalls.for_this_process(self.filter))

    def _become(self, user: int, group: int) -> None:
        with contextlib.suppress(PermissionError):  # denied in a user namespace of one user: there are none
            os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)


def prepare(settings: Mapping[str, Any]) -> Confinement:
    """Enters the room of the level, if it has one, and lays out what children put on.

    Raises:
        OSError: the level does not work here.
    """
    place, outer = settings["place"], settings["outer_id"]
    visible, hidden = settings["visible"], settings["hidden"]
    if settings["level"] == "namespaces":
        rooms.enter(place, visible, hidden, outer)
        scratch = rooms.SCRATCH
        ids = None if outer is None else (rooms.CHILD_ID, rooms.CHILD_ID)
    else:
        scratch = place
        ids = None if outer is None else _mapped(outer)
        if ids is not None:
            os.chown(place, *ids)
    system.no_new_privileges()
    rules = [*_read_rules(visible, hidden, settings["runnable"]), (scratch, landlock.SCRATCH)]
    ruleset = landlock.ruleset([*rules, *((path, landlock.DEVICE) for path in rooms.DEVICES)])
    if ruleset is None and settings["level"] != "namespaces":
        raise OSError("the kernel has no Landlock (5.13 or later, `landlock` among the active LSMs)")
    if ruleset is not None:
        os.dup2(ruleset, RULESET)
        os.close(ruleset)
    _limit(alone=ids is not None)
    system.not_dumpable()
    os.chdir(scratch)
    return Confinement(
        scratch=scratch,
        ids=ids,
        keep=_needed_capabilities(settings, ids),
        ruleset=None if ruleset is None else RULESET,
        filter=syscalls.build(may_exec=bool(settings["runnable"])),
        memory_limit=resource.RLIMIT_DATA if settings["reserves_memory"] else resource.RLIMIT_AS,
    )


def _mapped(outer: int) -> tuple[int, int]:
    """The id, or `nobody` in a container that does not have so many."""
    with open("/proc/self/uid_map", encoding="ascii") as lines:
        ranges = [tuple(map(int, line.split())) for line in lines]
    known = any(first <= outer < first + count for first, _, count in ranges)
    return (outer, outer) if known else (_NOBODY, _NOBODY)


def _needed_capabilities(settings: Mapping[str, Any], ids: tuple[int, int] | None) -> int:
    """Where no room can show it, an interpreter under a private home stays readable by this one capability.

    What else it would open is what Landlock allows: the interpreter.
    """
    if settings["level"] == "namespaces" or ids is None:
        return 0
    paths = [path for path in (*settings["visible"], *settings["runnable"]) if os.path.exists(path)]
    pid = os.fork()
    if pid == 0:
        os.setresgid(ids[1], ids[1], ids[1])
        os.setresuid(ids[0], ids[0], ids[0])
        os._exit(0 if all(os.access(path, os.R_OK) for path in paths) else 1)
    _, status = os.waitpid(pid, 0)
    return 0 if status == 0 else system.CAP_DAC_READ_SEARCH


def _limit(*, alone: bool) -> None:
    for which, wanted in _COMMON_LIMITS:
        _, hard = resource.getrlimit(which)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (value, value))
    if alone:  # counts all processes of a user: only meaningful for a user of the child's own
        resource.setrlimit(resource.RLIMIT_NPROC, (THREADS, THREADS))


def _read_rules(
    visible: Sequence[str], hidden: Sequence[str], runnable: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """Reading of the visible paths without the hidden ones; Landlock can't take back, so it allows around."""
    for path in visible:
        inside = [other for other in hidden if other.startswith(path + "/")]
        if not inside:
            yield path, landlock.READ
            continue
        yield path, landlock.LIST
        for entry in os.scandir(path) if os.path.isdir(path) else ():
            if entry.path not in inside:
                yield entry.path, landlock.READ
    for path in runnable:
        yield path, landlock.READ_AND_RUN
