"""System calls that Python has no function for, and the namespaces that are made of them.

Each call of a child is a `Step`, prepared before the fork and made after it.
"""

import ctypes
import os
import platform
import signal
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Step = tuple[Callable[..., Any], tuple[Any, ...]]
"""One call: a function of `os`, which raises its own errors, or of the C library, which returns -1."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_ARM = platform.machine() == "aarch64"

_MOUNT_SETATTR, _LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 442, 444, 445, 446
_SECCOMP = 277 if _ARM else 317
_CAPSET = 91 if _ARM else 126
_PIVOT_ROOT = 41 if _ARM else 155

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8

_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS, _PR_SET_NO_NEW_PRIVS = 1, 4, 8, 38
CAP_DAC_READ_SEARCH = 1 << 2


def _checked(what: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(what: str, number: int, *arguments: object) -> int:
    return _checked(what, _libc.syscall(ctypes.c_long(number), *arguments))


def take(steps: Iterable[Step]) -> None:
    """Makes the calls, one after the other; raises OSError where the kernel refuses one."""
    for call, arguments in steps:
        result = call(*arguments)
        if result is not None and result < 0:
            _checked(call.__name__, result)


def _prctl(option: int, value: int) -> Step:
    zero = ctypes.c_ulong(0)
    return _libc.prctl, (ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)


NO_NEW_PRIVILEGES = _prctl(_PR_SET_NO_NEW_PRIVS, 1)
NOT_DUMPABLE = _prctl(_PR_SET_DUMPABLE, 0)
"""No core dump; no other process of the user may attach or read the memory."""
DIE_WITH_PARENT = _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
KEEP_CAPABILITIES = _prctl(_PR_SET_KEEPCAPS, 1)
"""The capabilities outlive a change of user, to be dropped one by one."""


def drop_capabilities(allowed: int = 0) -> Step:
    """Leaves only the capabilities of the mask `allowed` (of the first 32); exec passes none on."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0))
    data = ctypes.create_string_buffer(struct.pack("<6I", allowed, allowed, 0, 0, 0, 0))
    return _libc.syscall, (ctypes.c_long(_CAPSET), header, data)


def unshare(flags: int) -> None:
    _checked("unshare", _libc.unshare(flags))


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mounts; the arguments are those of the system call."""
    texts = (source.encode(), target.encode(), kind.encode() if kind else None)
    data = options.encode() if options else None
    _checked(f"mount {target}", _libc.mount(*texts, ctypes.c_ulong(flags), data))


def restrict_mount(target: str, attributes: int, *, recursive: bool = True) -> None:
    """Adds attributes such as read-only to a mount and, by default, all under it."""
    request = struct.pack("<4Q", attributes, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    _syscall(f"mount_setattr {target}", _MOUNT_SETATTR, _AT_FDCWD, target.encode(), flags, request, 32)


def pivot_root_here() -> None:
    """Makes the working directory (a mount) the root and unmounts the old root."""
    _syscall("pivot_root", _PIVOT_ROOT, b".", b".")
    _checked("umount", _libc.umount2(b".", MNT_DETACH))
    os.chdir("/")


def install_filter(program: ctypes.Array[ctypes.c_char]) -> Step:
    """Installs a seccomp filter: BPF instructions of 8 bytes each, as they are when the step is taken."""
    request = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(program))
    )
    return _libc.syscall, (ctypes.c_long(_SECCOMP), ctypes.c_long(1), ctypes.c_long(0), request)


def landlock_version() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    return max(0, int(_libc.syscall(ctypes.c_long(_LANDLOCK_CREATE), None, 0, 1)))


def landlock_ruleset(request: bytes) -> int:
    return _syscall("landlock_create_ruleset", _LANDLOCK_CREATE, request, len(request), 0)


def landlock_allow(ruleset: int, request: bytes) -> None:
    _syscall("landlock_add_rule", _LANDLOCK_ADD, ruleset, 1, request, 0)


def landlock_restrict(ruleset: int) -> Step:
    return _libc.syscall, (ctypes.c_long(_LANDLOCK_RESTRICT), ctypes.c_long(ruleset), ctypes.c_long(0))


# The `namespaces` level: a process tree, a file tree, a network and users of the worker's own

SERVER_ID, CHILD_ID = 1000, 1001
"""User and group inside the namespaces: not 0, so that no exec ever gives capabilities back."""
SCRATCH = "/tmp"  # noqa: S108 (the namespace's own)
SCRATCH_OPTIONS = "size=64m,nr_inodes=4096,mode=1777"

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_SPACES = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS


def enter_namespaces(
    directory: str, visible: Sequence[str], hidden: Sequence[str], outer_id: int | None
) -> None:
    """Moves this process into new namespaces and forks: only the fork, their pid 1, returns.

    Args:
        directory: An empty one, to build the file tree on.
        visible: The paths that it shows, read-only.
        hidden: Directories under them that it shows empty.
        outer_id: The first of two unused user ids, where we are root; otherwise everyone inside is, seen from
            outside, the user who calls.

    Raises:
        OSError: a namespace or a mount was refused.
    """
    if outer_id is None:
        outer = os.getuid(), os.getgid()
        unshare(CLONE_NEWUSER | _SPACES)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{SERVER_ID} {outer[0]} 1")
        _write("/proc/self/gid_map", f"{SERVER_ID} {outer[1]} 1")
        _build(directory, visible, hidden)
    else:
        map_ids = _mapper(outer_id)
        unshare(_SPACES)
        _build(directory, visible, hidden)
        unshare(CLONE_NEWUSER)
        map_ids()
        os.setgroups([])
        os.setresgid(SERVER_ID, SERVER_ID, SERVER_ID)
        os.setresuid(SERVER_ID, SERVER_ID, SERVER_ID)
    go_on_in_a_fork()


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
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("root", directory, "tmpfs", MS_NOSUID, "size=1m,mode=755")
    os.makedirs(directory + SCRATCH, exist_ok=True)
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("scratch", directory + SCRATCH, "tmpfs", flags, SCRATCH_OPTIONS)
    for path in visible:  # after the scratch folder: a checkout or an environment may lie under /tmp
        _show(path, directory + path)
    for path in hidden:
        if os.path.isdir(directory + path):
            mount("hidden", directory + path, "tmpfs", MS_NOSUID, "size=4k,nr_inodes=1,mode=555")
    for path in DEVICES:
        _show(path, directory + path, ATTR_RDONLY | ATTR_NOSUID | ATTR_NOEXEC)
    restrict_mount(directory, ATTR_RDONLY, recursive=False)
    os.chdir(directory)
    pivot_root_here()


def _show(source: str, target: str, attributes: int = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV) -> None:
    if not os.path.exists(source):
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    mount(source, target, None, MS_BIND | MS_REC)
    restrict_mount(target, attributes)


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
