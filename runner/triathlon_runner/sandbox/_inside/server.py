"""The template server: a warmed interpreter that forks one child per job and never runs a program itself.

It speaks with the runner over a SEQPACKET socket. A job is one message (JSON limits) that carries the child's
four descriptors; `K` kills the running child; at its end the server reports wait status and CPU seconds.
Programs, inputs and results never pass through it.
"""

import fcntl
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

from . import child, confine

STANDARD = [
    *[
        "abc",
        "array",
        "bisect",
        "cmath",
        "collections",
        "collections.abc",
        "contextlib",
        "copy",
        "dataclasses",
    ],
    *[
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "inspect",
        "io",
        "itertools",
    ],
    *["json", "math", "numbers", "operator", "random", "re", "statistics", "string", "struct", "textwrap"],
    *["time", "traceback", "types", "typing", "unicodedata"],
]
"""Imported once before the first fork: what programs of the data sets import."""

SCRATCH_BYTES, SCRATCH_DEPTH, SCRATCH_FOLDERS = 64 << 20, 64, 4096
"""What a program may leave in its scratch directory while it runs, where no file system bounds it."""
LOOK_SECONDS = 0.25
"""How often a running child is looked at: its CPU time, and the scratch directory where nothing bounds it."""
OUT_OF_TIME, ASLEEP = "cpu", "asleep"
"""The notes of a child that computed, or did nothing, for too long."""
SLEEPING_SHARE = 0.01
"""Of a core: a child that uses less is asleep; one that waits for its turn gets more on a usable machine."""
_SCHEDULED = 2
"""The kind of CPU clock that the scheduler keeps, exact to the nanosecond (CPUCLOCK_SCHED)."""
_READY = 5
"""The child's descriptor that says "confined"; closed before anything untrusted runs."""
CONFINED = b"confined"


def main(control: int, configuration: str) -> None:
    """Prepares the server and serves until the runner hangs up."""
    os.environ.clear()
    channel = _reserve(socket.socket(fileno=control))
    try:
        settings = json.loads(configuration)
        _warm(settings)
        server = Server(
            channel,
            confine.prepare(settings),
            settings["command"],
            watch=settings["level"] != "namespaces",
        )
    except (OSError, ImportError, KeyError) as error:
        channel.send(json.dumps({"error": str(error)}).encode())
        return
    channel.send(b'{"ready": true}')
    server.serve()


def _warm(settings: Mapping[str, Any]) -> None:
    """All that children need and that need not be done in each of them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _open_streams()
    for name in STANDARD:
        importlib.import_module(name)
    sys.path.extend(settings["path"])
    for name in settings["libraries"]:
        importlib.import_module(name)
    del sys.path[len(sys.path) - len(settings["path"]) :]
    gc.collect()
    gc.freeze()


class Server:
    """`command` starts another language's harness; empty for Python, whose children are forks of this one."""

    def __init__(
        self, channel: socket.socket, confinement: confine.Confinement, command: list[str], *, watch: bool
    ) -> None:
        self._channel = channel
        self._command = command
        self._confinement = confinement
        self._watch = watch
        self._standing = frozenset(os.listdir(confinement.scratch))

    def serve(self) -> None:
        """One job after the other."""
        while True:
            message, descriptors, _, _ = socket.recv_fds(self._channel, 1 << 12, 4)
            if not message:
                return
            if message != b"K":  # a kill that came too late
                self._channel.send(json.dumps(self._run(json.loads(message), descriptors)).encode())

    def _run(self, job: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        word, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become_child(self._confinement, job, [*descriptors, ready], self._command)
        for descriptor in (*descriptors, ready):
            os.close(descriptor)
        note = self._wait(pid, job)
        _, status, usage = os.wait4(pid, 0)
        report = {
            "status": status,
            "cpu": usage.ru_utime + usage.ru_stime,
            "note": note,
            "confinement": os.read(word, 1000).decode() or "the child ended",
            "dirty": _dirty(self._confinement.scratch, self._standing),
        }
        os.close(word)
        return report

    def _wait(self, pid: int, job: dict[str, Any]) -> str:
        """Waits for the child's end; kills it at a limit, or when the runner says so or hangs up."""
        handle = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.register(self._channel, select.POLLIN)
        clock = _Clock(pid, job["cpu"], job["wall"])
        note = ""
        try:
            while True:
                ready = {number for number, _ in poll.poll(1000 * clock.next_look())}
                if handle in ready:
                    return note
                if self._channel.fileno() in ready:
                    if not self._channel.recv(64):
                        os._exit(0)  # and with it the child
                    os.kill(pid, signal.SIGKILL)
                    continue
                found = clock.look() or ("scratch" if self._watch and self._overfull() else "")
                if found:
                    os.kill(pid, signal.SIGKILL)
                    note = note or found
        finally:
            os.close(handle)

    def _overfull(self) -> bool:
        return _overfull(self._confinement.scratch)


class _Clock:
    """What a child computes and how long it sleeps, looked at now and then."""

    def __init__(self, pid: int, cpu_seconds: float, sleep_seconds: float) -> None:
        self._pid = pid
        self._cpu_limit = cpu_seconds
        self._sleep_limit = sleep_seconds
        self._time, self._cpu, self._slept = time.monotonic(), 0.0, 0.0

    def next_look(self) -> float:
        """Seconds until it is worth looking again."""
        return max(0.001, min(LOOK_SECONDS, self._cpu_limit - self._cpu))

    def look(self) -> str:
        """The note of the limit that is reached, or empty."""
        now, cpu = time.monotonic(), _cpu_used(self._pid)
        if cpu - self._cpu < SLEEPING_SHARE * (now - self._time):
            self._slept += now - self._time
        self._time, self._cpu = now, cpu
        if cpu >= self._cpu_limit:
            return OUT_OF_TIME
        return ASLEEP if self._slept >= self._sleep_limit else ""


def _cpu_used(pid: int) -> float:
    """CPU seconds of all threads of a process, by its own clock.

    Not by RLIMIT_CPU, which counts timer ticks: on a busy machine these are off by a fifth, either way.
    """
    try:
        return time.clock_gettime((~pid << 3) | _SCHEDULED)
    except OSError:  # it has just ended
        return 0.0


def _become_child(
    confinement: confine.Confinement, job: dict[str, Any], descriptors: list[int], command: list[str]
) -> None:
    """Turns the fork into a child that holds nothing of the server's, and never returns."""
    try:
        _lay(descriptors)
        try:
            confinement.put_on(job["cpu"], job["memory"])
        except OSError as error:
            os.write(_READY, str(error).encode())
            os._exit(1)
        os.write(_READY, CONFINED)
        os.close(_READY)
        if command:
            os.execve(command[0], command, {"LC_ALL": "C.UTF-8", "OPENSSL_CONF": os.devnull})  # noqa: S606 (no shell on purpose)
        random.seed(0)
        child.serve(3, 4)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _lay(descriptors: list[int]) -> None:
    """The child's table: 0 the null device, 1 and 2 its output, 3 jobs, 4 results, 5 ready; nothing else.

    The rules for files are a descriptor, too; putting them on closes it.
    """
    source, sink, out, err, ready = descriptors
    for number, descriptor in enumerate((out, err, source, sink, ready), start=1):
        os.dup2(descriptor, number)
    os.closerange(_READY + 1, confine.RULESET)
    os.closerange(confine.RULESET + 1, 1 << 16)


def _reserve(channel: socket.socket) -> socket.socket:
    """Moves the control channel up and fills the numbers that children lay, so that nothing else gets one."""
    moved = socket.socket(fileno=fcntl.fcntl(channel, fcntl.F_DUPFD_CLOEXEC, confine.RULESET + 1))
    channel.close()
    for number in range(1, _READY + 1):
        os.dup2(0, number)
    return moved


def _open_streams() -> None:
    """The text streams of all children, over the numbers where each child lays its own descriptors.

    Lines are written at once, so that what was printed before a kill is not lost.
    """
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = open(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _dirty(folder: str, standing: frozenset[str]) -> bool:
    """Whether a program left anything beside what stood there, or a folder that can't even be listed."""
    try:
        return not standing.issuperset(os.listdir(folder))
    except OSError:
        return True


def _overfull(folder: str) -> bool:
    """Whether the files under a folder take too much, or hide: in unreadable folders, or far down."""
    total, waiting = 0, [(folder, 0)]
    while waiting:
        parent, depth = waiting.pop()
        try:
            with os.scandir(parent) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            continue  # gone between two looks
        except OSError:
            return True
        if total > SCRATCH_BYTES or depth > SCRATCH_DEPTH or len(waiting) > SCRATCH_FOLDERS:
            return True
    return False
