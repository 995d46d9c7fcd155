"""Runs one command and ends all its processes when the runner exits or is killed.

A script of its own that needs nothing but the standard library:
`python -I _end_with_runner.py PARENT GRACE NICE COMMAND…`.
It leads a session of its own, so a terminal's Ctrl-C reaches the runner alone. It ends the command's whole
family on SIGTERM, when PARENT (the runner's process id) is no longer its parent (kill -9 of the runner), and
when the command itself ends. vLLM needs this: its engine and workers outlive a killed API server.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_POLL_SECONDS = 1.0
_STOPS = {signal.SIGINT, signal.SIGTERM}
_WAITED_FOR = {*_STOPS, signal.SIGCHLD}
"""Blocked, so that they come to `sigtimedwait` alone."""


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _family() -> list[int]:
    """Living descendants of this process, orphans included (it is their subreaper)."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(stat.parent.name)] = int(parent)
    tree = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sorted(tree - {os.getpid()})


def _send(number: int) -> None:
    for process in _family():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def _end_family(grace: float) -> None:
    _send(signal.SIGTERM)
    deadline = time.monotonic() + grace
    while _family() and time.monotonic() < deadline:
        time.sleep(0.05)
    while _family():
        _send(signal.SIGKILL)
        time.sleep(0.05)


def _begin_child() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED_FOR)


def _status(child: "subprocess.Popen[bytes]", parent: int) -> int:
    """Waits for the command's end; its exit status, or that of SIGTERM where it is to be ended."""
    while (status := child.poll()) is None and os.getppid() == parent:
        came = signal.sigtimedwait(_WAITED_FOR, _POLL_SECONDS)
        if came is not None and came.si_signo in _STOPS:
            break
    return -signal.SIGTERM if status is None else status


def main(arguments: list[str]) -> int:
    """Returns the command's exit status, 128 + n where signal n ended it."""
    parent, grace, command = int(arguments[0]), float(arguments[1]), arguments[3:]
    if nice := int(arguments[2]):
        os.nice(nice)
        with contextlib.suppress(OSError):  # the priority of the session, where the kernel has autogroups
            Path("/proc/self/autogroup").write_text(str(nice))
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED_FOR)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory(prefix="triathlon-child-", ignore_cleanup_errors=True) as scratch:
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "TMPDIR": scratch},
                preexec_fn=_begin_child,  # noqa: PLW1509 (one thread)
            )
        except OSError as error:
            print(f"error: could not start {command[0]!r}: {error}", file=sys.stderr)  # noqa: T201 (this is the log)
            return 127
        try:
            status = _status(child, parent)
        finally:
            _end_family(grace)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
