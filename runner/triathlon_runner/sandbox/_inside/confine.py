"""Confinement, prepared by a server and applied by each child: file rules, limits, user, syscall filter."""

import os
import re
import resource
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from . import syscalls, system

FILE_BYTES = 16 << 20
"""The largest file that a child may write."""
SCRATCH_BYTES, SCRATCH_DEPTH, SCRATCH_FOLDERS = 64 << 20, 64, 4096
"""Most bytes in a program's scratch directory while it runs, where no file system limits it."""
OPEN_FILES = 256
THREADS = 64
MORE_THREADS = 1024
"""Threads beyond all that the machine had when the server started, where the kernel counts those of all
processes of the user together: for an ordinary user at the level `lite`, or before Linux 5.14."""
PENDING_SIGNALS = 64
CPU_BACKSTOP_SECONDS = 4 * 3600
"""The kernel's limit of CPU time, above that of any job: it matters only if the server fails, which
otherwise ends a child at its job's limit. The kernel sends SIGKILL then; a child cannot raise the limit
(`syscalls`)."""
RULESET = 100
"""The descriptor that holds the Landlock rules, in the server and until a child has applied them."""

# Landlock: which files a child may open, whatever their permissions. What is not allowed here is denied.
_EXECUTE, _WRITE, _READ, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_ON_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE

_MAY_READ = _READ | _READ_DIR
_MAY_LIST = _READ_DIR
_MAY_READ_AND_RUN = _MAY_READ | _EXECUTE
_MAY_USE_DEVICE = _READ | _WRITE
_MAY_WRITE = (
    _MAY_READ | _WRITE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER | _TRUNCATE
)

_NOBODY = 65534
_COMMON_LIMITS = (
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_FSIZE, FILE_BYTES),
    (resource.RLIMIT_NOFILE, OPEN_FILES),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_MSGQUEUE, 0),
    (resource.RLIMIT_NICE, 0),
    (resource.RLIMIT_RTPRIO, 0),
    (resource.RLIMIT_SIGPENDING, PENDING_SIGNALS),
)


class Confinement:
    """Prepared by the server; `apply` is called by each child before it reads its job.

    As much as possible is prepared before the fork: in a fork every memory page that is written is copied.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Enters the namespaces of the level, if it has any, and prepares what children apply.

        Raises:
            OSError: the level does not work here.
        """
        threads = _most_threads(settings)
        directory, outer = settings["directory"], settings["outer_id"]
        visible, hidden, runnable = settings["visible"], settings["hidden"], settings["runnable"]
        in_namespaces = settings["level"] == "namespaces"
        if not in_namespaces and not system.landlock_version():
            raise OSError(
                "without namespaces only Landlock keeps files out of reach, and this kernel has none "
                "(5.13 or later, `landlock` among the active LSMs)"
            )
        user = None  # where everyone is the same unprivileged user
        if in_namespaces:
            system.enter_namespaces(directory, visible, hidden, outer)
            user = None if outer is None else system.CHILD_ID
        elif outer is not None:
            user = _mapped(outer)
            os.chown(directory, user, user)
        self.scratch: str = system.SCRATCH if in_namespaces else directory
        """The only directory that a child may write to; also its working directory."""
        system.take(system.NO_NEW_PRIVILEGES)
        # In namespaces, an empty directory is mounted over what is hidden.
        rules = [*_read_rules(visible, () if in_namespaces else hidden, runnable), (self.scratch, _MAY_WRITE)]
        ruleset = _ruleset([*rules, *((path, _MAY_USE_DEVICE) for path in system.DEVICES)])
        if ruleset is not None:
            os.dup2(ruleset, RULESET)
            os.close(ruleset)
        for which, wanted in (*_COMMON_LIMITS, (resource.RLIMIT_NPROC, threads)):
            _, hard = resource.getrlimit(which)
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(which, (value, value))
        system.take(system.NOT_DUMPABLE)
        os.chdir(self.scratch)
        keep = 0 if in_namespaces or user is None else _needed_capabilities([*visible, *runnable], user)
        self._steps = [system.drop_capabilities(keep), system.NOT_DUMPABLE, system.DIE_WITH_PARENT]
        if user is not None:
            with suppress(PermissionError):  # in a user namespace of one user, which has no groups
                os.setgroups([])
            self._steps[:0] = [
                system.KEEP_CAPABILITIES,  # until the step that drops all but `keep`
                ("setresgid", os.setresgid, (user, user, user)),
                ("setresuid", os.setresuid, (user, user, user)),
            ]
        self._rules: list[system.Step] = []
        if ruleset is not None:
            self._rules = [
                system.system_call("landlock_restrict_self", 446, RULESET, 0),
                ("close", os.close, (RULESET,)),
            ]
        self._filter = syscalls.Filter(syscalls.build_child_filter())
        self._memory_limit = resource.RLIMIT_DATA if settings["reserves_memory"] else resource.RLIMIT_AS
        counts_shared_memory = self._memory_limit == resource.RLIMIT_AS
        syscalls.Filter(
            syscalls.build_server_filter(may_exec=bool(runnable), counts_shared_memory=counts_shared_memory)
        ).install()

    def apply(self) -> None:
        """Confines the calling child for good.

        Raises:
            OSError: the kernel refused a part; no program may be executed then.
        """
        server = os.getppid()
        os.setsid()
        system.take(*self._steps)
        if os.getppid() != server:
            os._exit(1)
        system.take(*self._rules)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_BACKSTOP_SECONDS, CPU_BACKSTOP_SECONDS))
        self._filter.install()

    def apply_memory_limit(self, memory_bytes: int) -> None:
        """Applies the memory limit of one job, in the child that waited for it."""
        resource.setrlimit(self._memory_limit, (memory_bytes, memory_bytes))


def _mapped(outer: int) -> int:
    """The user id, or that of `nobody` in a container whose range of ids is too small."""
    with open("/proc/self/uid_map", encoding="ascii") as lines:
        ranges = [tuple(map(int, line.split())) for line in lines]
    return outer if any(first <= outer < first + count for first, _, count in ranges) else _NOBODY


def _needed_capabilities(readable: Sequence[str], user: int) -> int:
    """None, or reading: it keeps an interpreter in a private home directory readable.

    Landlock limits what it opens to the interpreter.
    """
    paths = [path for path in readable if os.path.exists(path)]
    pid = os.fork()
    if pid == 0:
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        os._exit(0 if all(os.access(path, os.R_OK) for path in paths) else 1)
    _, status = os.waitpid(pid, 0)
    return 0 if status == 0 else system.CAP_DAC_READ_SEARCH


def _most_threads(settings: Mapping[str, Any]) -> int:
    """The limit of threads: the kernel counts those of one user, since Linux 5.14 in one user namespace."""
    release = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
    if settings["outer_id"] is not None or (settings["level"] == "namespaces" and release >= (5, 14)):
        return THREADS
    with open("/proc/loadavg", encoding="ascii") as load:
        _, of_machine = load.read().split()[3].split("/")
    return int(of_machine) + MORE_THREADS


def _read_rules(
    visible: Sequence[str], hidden: Sequence[str], runnable: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """Paths to allow for reading: visible and not hidden. Landlock cannot deny a part of what it allows."""
    for path in visible:
        inside = [hidden_path for hidden_path in hidden if hidden_path.startswith(path + "/")]
        if not inside:
            yield path, _MAY_READ
            continue
        yield path, _MAY_LIST
        for entry in os.scandir(path) if os.path.isdir(path) else ():
            if entry.path not in inside:
                yield entry.path, _MAY_READ
    for path in runnable:
        yield path, _MAY_READ_AND_RUN


def _ruleset(rules: Iterable[tuple[str, int]]) -> int | None:
    """A descriptor of Landlock's rules (path, rights), or None where the kernel has no Landlock."""
    version = system.landlock_version()
    if version == 0:
        return None
    # All rights over files that this version has; it refuses rules with any other.
    handled = (1 << 13 + (version >= 2) + (version >= 3) + (version >= 5)) - 1
    network, scoped = (3 if version >= 4 else 0), (3 if version >= 6 else 0)
    request = struct.pack("<3Q", handled, network, scoped)
    request = request[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = system.take(system.system_call("landlock_create_ruleset", 444, request, len(request), 0))
    for path, rights in rules:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            continue  # a missing file cannot be opened anyway
        try:
            allowed = handled & (rights if os.path.isdir(path) else rights & _ON_FILES)
            rule = struct.pack("<Qi", allowed, descriptor)
            system.take(system.system_call("landlock_add_rule", 445, ruleset, 1, rule, 0))
        finally:
            os.close(descriptor)
    return ruleset
