"""System calls that Python has no function for, and the namespaces that are made of them.

Each call is a `Step`: those of a child are prepared before the fork and made after it.
"""

import ctypes
import os
import platform
import signal
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

Step = tuple[str, Callable[..., Any], tuple[Any, ...]]
"""The name of a call, a function of `os`, which raises its own errors, or of the C library, which returns -1,
and the arguments."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_ARM = platform.machine() == "aarch64"
_NEW_NAMESPACES, _NEW_USERS = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000, 0x10000000
"""Of mounts, names, IPC, processes and network; of users."""
_NO_SUID, _NO_DEVICES, _NO_EXEC, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_READ_ONLY = 1
CAP_DAC_READ_SEARCH = 1 << 2


def take(*steps: Step) -> int:
    """Makes the calls, one after the other, and returns the result of the last.

    Raises:
        OSError: the kernel refused one.
    """
    result = 0
    for name, call, arguments in steps:
        result = call(*arguments)
        if result is not None and result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def system_call(name: str, number: int, *arguments: object) -> Step:
    return name, _libc.syscall, (ctypes.c_long(number), *arguments)


def _prctl(name: str, option: int, value: int) -> Step:
    zero = ctypes.c_ulong(0)
    return name, _libc.prctl, (ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)


NO_NEW_PRIVILEGES = _prctl("no_new_privs", 38, 1)
NOT_DUMPABLE = _prctl("dumpable", 4, 0)
"""No core dump; no other process of the user may attach or read the memory."""
DIE_WITH_PARENT = _prctl("pdeathsig", 1, signal.SIGKILL)
KEEP_CAPABILITIES = _prctl("keepcaps", 8, 1)
"""The capabilities outlive a change of user, to be dropped one by one."""


def drop_capabilities(allowed: int = 0) -> Step:
    """Leaves only the capabilities of the mask `allowed` (of the first 32); exec passes none on."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0))
    data = ctypes.create_string_buffer(struct.pack("<6I", allowed, allowed, 0, 0, 0, 0))
    return system_call("capset", 91 if _ARM else 126, header, data)


def install_filter(program: ctypes.Array[ctypes.c_char]) -> Step:
    """Installs a seccomp filter: BPF instructions of 8 bytes each, as they are when the step is taken."""
    request = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(program))
    arguments = ctypes.c_long(1), ctypes.c_long(0), ctypes.create_string_buffer(request)
    return system_call("seccomp", 277 if _ARM else 317, *arguments)


def landlock_version() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    return max(0, int(_libc.syscall(ctypes.c_long(444), None, 0, 1)))


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process by its own clock (CPUCLOCK_SCHED); 0 where it has ended."""
    try:
        return time.clock_gettime((~pid << 3) | 2) if pid > 0 else 0.0
    except OSError:
        return 0.0


# The `namespaces` level: a process tree, a file tree, a network and users of the worker's own

SERVER_ID, CHILD_ID = 1000, 1001
"""User and group inside the namespaces: not 0, so that no exec ever gives capabilities back."""
SCRATCH = "/tmp"  # noqa: S108 (the namespace's own)
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


def enter_namespaces(
    directory: str, visible: Sequence[str], hidden: Sequence[str], outer_id: int | None
) -> None:
    """Moves this process into new namespaces and forks: only the fork, their pid 1, returns.

    On an empty directory a file tree is built that shows the visible paths, read-only, and the hidden ones
    under them empty. `outer_id` is the first of two unused user ids, where we are root; otherwise everyone
    inside is, seen from outside, the user who calls.

    Raises:
        OSError: a namespace or a mount was refused.
    """
    if outer_id is None:
        outer = os.getuid(), os.getgid()
        take(_unshare(_NEW_USERS | _NEW_NAMESPACES))
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{SERVER_ID} {outer[0]} 1")
        _write("/proc/self/gid_map", f"{SERVER_ID} {outer[1]} 1")
        _build(directory, visible, hidden)
    else:
        map_ids = _mapper(outer_id)
        take(_unshare(_NEW_NAMESPACES))
        _build(directory, visible, hidden)
        take(_unshare(_NEW_USERS))
        map_ids()
        os.setgroups([])
        os.setresgid(SERVER_ID, SERVER_ID, SERVER_ID)
        os.setresuid(SERVER_ID, SERVER_ID, SERVER_ID)
    go_on_in_a_fork()


def _unshare(flags: int) -> Step:
    return "unshare", _libc.unshare, (flags,)


def _mapper(outer_id: int) -> Callable[[], None]:
    """Starts a helper process outside, and returns what makes it map the ids into the new user namespace.

    Only a process outside may map other ids than its own.
    """
    wait, go = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(go)
            os.read(wait, 1)
            for name in ("uid_map", "gid_map"):
                _write(f"/proc/{parent}/{name}", f"{SERVER_ID} {outer_id} 2")
            status = 0
        finally:
            os._exit(status)

    def map_ids() -> None:
        os.close(wait)
        os.write(go, b"g")
        os.close(go)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            raise OSError(status, "the user ids of the namespace could not be mapped")

    return map_ids


def _build(directory: str, visible: Sequence[str], hidden: Sequence[str]) -> None:
    """Builds the file tree, a small tmpfs with read-only views of the visible paths, and enters it."""
    take(
        _mount("none", "/", None, _RECURSIVE | _PRIVATE),
        _mount("root", directory, "tmpfs", _NO_SUID, "size=1m,mode=755"),
    )
    os.makedirs(directory + SCRATCH, exist_ok=True)
    flags, options = _NO_SUID | _NO_DEVICES | _NO_EXEC, "size=64m,nr_inodes=4096,mode=1777"
    take(_mount("scratch", directory + SCRATCH, "tmpfs", flags, options))
    for path in visible:  # after the scratch folder: a checkout or an environment may lie under /tmp
        _show(path, directory + path, _READ_ONLY | _NO_SUID | _NO_DEVICES)
    for path in hidden:
        if os.path.isdir(directory + path):
            take(_mount("hidden", directory + path, "tmpfs", _NO_SUID, "size=4k,nr_inodes=1,mode=555"))
    for path in DEVICES:
        _show(path, directory + path, _READ_ONLY | _NO_SUID | _NO_EXEC)
    take(_restrict(directory, _READ_ONLY, recursive=False))
    os.chdir(directory)
    take(
        system_call("pivot_root", 41 if _ARM else 155, b".", b"."),
        ("umount", _libc.umount2, (b".", 2)),  # the old root, which nobody uses any more (MNT_DETACH)
    )
    os.chdir("/")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> Step:
    texts = (source.encode(), target.encode(), kind.encode() if kind else None)
    data = options.encode() if options else None
    return f"mount {target}", _libc.mount, (*texts, ctypes.c_ulong(flags), data)


def _restrict(target: str, attributes: int, *, recursive: bool) -> Step:
    """Adds attributes such as read-only to a mount, and to all under it."""
    request, flags = struct.pack("<4Q", attributes, 0, 0, 0), 0x8000 if recursive else 0
    return system_call(f"mount_setattr {target}", 442, -100, target.encode(), flags, request, len(request))


def _show(source: str, target: str, attributes: int) -> None:
    if not os.path.exists(source):
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    take(_mount(source, target, None, _BIND | _RECURSIVE), _restrict(target, attributes, recursive=True))


def go_on_in_a_fork() -> None:
    """Forks, into a new process namespace if there is one; the parent only waits for the end of the fork."""
    pid = os.fork()
    if pid == 0:
        return
    os.closerange(0, 1 << 16)
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
