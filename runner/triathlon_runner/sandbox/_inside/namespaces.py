"""The `namespaces` level: a process tree, a file tree, a network and users of the worker's own."""

import os
from collections.abc import Callable, Sequence

from . import system

SERVER_ID, CHILD_ID = 1000, 1001
"""User and group inside the namespaces: not 0, so that no exec ever gives capabilities back."""
SCRATCH = "/tmp"  # noqa: S108 (the namespace's own)
SCRATCH_OPTIONS = "size=64m,nr_inodes=4096,mode=1777"

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_SPACES = (
    system.CLONE_NEWNS | system.CLONE_NEWPID | system.CLONE_NEWNET | system.CLONE_NEWIPC | system.CLONE_NEWUTS
)


def enter(directory: str, visible: Sequence[str], hidden: Sequence[str], outer_id: int | None) -> None:
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
        system.unshare(system.CLONE_NEWUSER | _SPACES)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{SERVER_ID} {outer[0]} 1")
        _write("/proc/self/gid_map", f"{SERVER_ID} {outer[1]} 1")
        _build(directory, visible, hidden)
    else:
        map_ids = _mapper(outer_id)
        system.unshare(_SPACES)
        _build(directory, visible, hidden)
        system.unshare(system.CLONE_NEWUSER)
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
    system.mount("none", "/", None, system.MS_REC | system.MS_PRIVATE)
    system.mount("root", directory, "tmpfs", system.MS_NOSUID, "size=1m,mode=755")
    os.makedirs(directory + SCRATCH, exist_ok=True)
    flags = system.MS_NOSUID | system.MS_NODEV | system.MS_NOEXEC
    system.mount("scratch", directory + SCRATCH, "tmpfs", flags, SCRATCH_OPTIONS)
    for path in visible:  # after the scratch folder: a checkout or an environment may lie under /tmp
        _show(path, directory + path)
    for path in hidden:
        if os.path.isdir(directory + path):
            system.mount(
                "hidden", directory + path, "tmpfs", system.MS_NOSUID, "size=4k,nr_inodes=1,mode=555"
            )
    for path in DEVICES:
        _show(path, directory + path, system.ATTR_RDONLY | system.ATTR_NOSUID | system.ATTR_NOEXEC)
    system.restrict_mount(directory, system.ATTR_RDONLY, recursive=False)
    os.chdir(directory)
    system.pivot_root_here()


def _show(
    source: str, target: str, attributes: int = system.ATTR_RDONLY | system.ATTR_NOSUID | system.ATTR_NODEV
) -> None:
    if not os.path.exists(source):
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    system.mount(source, target, None, system.MS_BIND | system.MS_REC)
    system.restrict_mount(target, attributes)


def go_on_in_a_fork() -> None:
    """Forks, into a new process namespace if there is one; the parent only waits for the end of the fork."""
    pid = os.fork()
    if pid == 0:
        return
    os.closerange(0, 1 << 16)
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
