"""System calls that Python has no function for.

Each call of a child is a `Step`, prepared before the fork and made after it.
"""

import ctypes
import os
import platform
import signal
import struct
from collections.abc import Callable, Iterable
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
    _checked(
        f"mount {target}",
        _libc.mount(
            source.encode(),
            target.encode(),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            options.encode() if options else None,
        ),
    )


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
