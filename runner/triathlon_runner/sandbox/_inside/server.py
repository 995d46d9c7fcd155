"""The template server: a warmed interpreter that forks one child per job and never runs a program itself.

It speaks with the runner over a SEQPACKET socket (`messages`). One child is always ready, confined and
waiting on its own pipes, whose other ends the runner has; the runner sends a message when it gives the child
a job. When the child ends, the server reports wait status and CPU seconds, then forks the next one.
Programs, inputs and results never pass through it.
"""

import contextlib
import fcntl
import gc
import importlib
import marshal
import math
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

from . import child, confine, messages, system

STANDARD = "bisect collections.abc copy functools heapq itertools math operator re string typing"
"""Modules that many programs of the data sets import: imported once, before the first fork. Each makes every
fork slower, so modules that few programs need are left to them."""
REPRESENTATIVE = """
import math
from typing import Any, Dict, List, Optional, Tuple

def f(a: List[int], b: Optional[str] = None, c: Dict[str, Any] = {}) -> Tuple[int, ...]:
    total = [x for x in sorted(a) if x % 2 == 0 and x not in (3, 5)]
    for i, x in enumerate(total):
        total[i] = max(x, len(b or "") * math.floor(1.5))
    return tuple(total)
"""
"""A typical program, executed a few times before the first fork: otherwise every child would set up what the
compiler and `typing` set up at their first use."""

CPU_CHECK_SECONDS = 0.25
"""Between two checks of a running child's CPU time."""
SCRATCH_CHECK_SECONDS, CHECK_SHARE = 0.01, 0.1
"""Seconds between two checks of the scratch directory (a child writes some 50 MiB in that time), and the
share of a core that checking may take where there are many files."""

_CONFINED = 5
"""The child's descriptor on which it reports that it is confined; closed before the program is loaded."""
_SOURCE, _SINK = 3, 4
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "OPENSSL_CONF": os.devnull, "PERL_HASH_SEED": "0"}
"""Of children in other languages. As in Python, hashes and random numbers (see the harnesses) start the same
in each, so that a program gives one verdict."""


def main(control: int, configuration: str) -> None:
    """Prepares the server and serves until the runner closes the socket."""
    # The control channel moves to a high number: the low ones are reserved for the children's pipes.
    channel = socket.socket(fileno=fcntl.fcntl(control, fcntl.F_DUPFD_CLOEXEC, confine.RULESET + 1))
    os.close(control)
    for number in range(1, _CONFINED + 1):
        os.dup2(0, number)
    # Where memory runs out the kernel kills a child, or this server, before the runner.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")
    try:
        settings = marshal.loads(bytes.fromhex(configuration))  # noqa: S302 (written by the runner)
        _warm(settings)
        os.environ.clear()  # not before: it keeps some libraries from starting threads
        if len(os.listdir("/proc/self/task")) > 1:  # namespaces need one thread, as a fork has
            system.go_on_in_a_fork()
        Server(channel, settings).serve()
    except (OSError, ImportError, KeyError) as error:
        channel.send(messages.FAILED + str(error).encode())


def _warm(settings: Mapping[str, Any]) -> None:
    """Does once what every child would have to do otherwise: imports, and a first execution."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The streams of all children, over the numbers of each child's own descriptors. Lines are written at
    # once, so that what was printed before a kill is not lost. They are opened on a pipe, as children have:
    # on the null device they would remember that they can seek, and could not be given another encoding.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    pipe = os.pipe()
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(pipe[1], number)
        stream = open(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
        os.dup2(0, number)
    for descriptor in pipe:
        os.close(descriptor)
    # The random module is seeded for good: by itself it would draw a new seed in every fork.
    register = os.register_at_fork
    os.register_at_fork = lambda **_: None
    try:
        importlib.import_module("random").seed(0)
    finally:
        os.register_at_fork = register
    for name in STANDARD.split():
        importlib.import_module(name)
    sys.path.extend(settings["path"])
    for name in settings["libraries"]:
        importlib.import_module(name)
    del sys.path[len(sys.path) - len(settings["path"]) :]
    for _ in range(10):  # the interpreter specialises its own code after some passes
        names: dict[str, Any] = {}
        exec(compile(REPRESENTATIVE, "<representative>", "exec"), names)  # noqa: S102 (our own)
        child.encode(names["f"]([2, 3, 4], "ab"), 1 << 20)
    gc.collect()
    gc.freeze()


class Server:
    """Serves the jobs of one runner, one after the other."""

    def __init__(self, channel: socket.socket, settings: Mapping[str, Any]) -> None:
        self._channel = channel
        self._command: list[str] = settings["command"]
        """Starts another language's harness; empty for Python, whose children are forks of this one."""
        self._confinement = confine.Confinement(settings)
        self._scratch = ScratchFolder(self._confinement.scratch, watch=settings["level"] != "namespaces")
        self._confined = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def serve(self) -> None:
        """Runs one job after the other, each in a child that was forked before the job came."""
        report = messages.READY
        while True:
            pid = self._fork(report)
            message = self._channel.recv(messages.SIZE)
            while message == messages.KILL:  # for the child before, which had ended
                message = self._channel.recv(messages.SIZE)
            if not message:
                return
            report = self._report(pid, messages.JOB.unpack(message)[1])
            if self._scratch.is_dirty():
                self._channel.send(report)  # without a next child: the runner closes this server
                self._channel.recv(messages.SIZE)
                return

    def _fork(self, report: bytes) -> int:
        """Makes the next child; the runner gets the report on the last one and its ends of the new pipes.

        They are sent before the fork: the runner reads the report and fills the pipes meanwhile.
        """
        source, sink = os.pipe2(os.O_CLOEXEC)
        pipes = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
        near = [sink, *(read for read, _ in pipes)]
        far = [source, *(write for _, write in pipes)]
        for descriptor in near:
            os.set_blocking(descriptor, False)
        socket.send_fds(self._channel, [report], near)
        for descriptor in near:
            os.close(descriptor)
        pid = os.fork()
        if pid == 0:
            _become_child(self._confinement, far, self._confined, self._command)
        for descriptor in far:
            os.close(descriptor)
        return pid

    def _report(self, pid: int, cpu_limit: float) -> bytes:
        handle = os.pidfd_open(pid)
        try:
            note = self._wait(pid, handle, cpu_limit)
        finally:
            os.close(handle)
        _, status, usage = os.wait4(pid, 0)
        note = note or self._scratch.measure()
        try:
            confined = os.eventfd_read(self._confined) == 1
        except BlockingIOError:
            confined = False
        cpu_seconds = usage.ru_utime + usage.ru_stime
        peak_bytes = usage.ru_maxrss << 10
        return messages.REPORT.pack(messages.ENDED, status, cpu_seconds, note, confined, peak_bytes)

    def _wait(self, pid: int, handle: int, cpu_limit: float) -> int:
        """Waits for the child's end; kills it at a limit, on request, or when the runner is gone.

        Returns the note of the limit. CPU time is measured by the process' own clock: RLIMIT_CPU counts timer
        ticks, which are off by a fifth, either way, on a busy machine.
        """
        note, used, is_long = messages.NOTHING, 0.0, False
        due = time.monotonic() + min(CPU_CHECK_SECONDS, cpu_limit)
        while True:
            pause = max(0.0, min(due, self._scratch.due) - time.monotonic())
            ready, _, _ = select.select([handle, self._channel.fileno()], [], [], pause)
            if handle in ready:
                return note
            if ready:  # the runner asks for the child's end, or has none any more
                if not self._channel.recv(messages.SIZE):
                    os._exit(0)  # and with it the child
                os.kill(pid, signal.SIGKILL)
                continue
            limit = self._scratch.measure() if time.monotonic() >= self._scratch.due else messages.NOTHING
            if time.monotonic() >= due:
                used = system.cpu_seconds(pid)
                due = time.monotonic() + max(0.001, min(CPU_CHECK_SECONDS, cpu_limit - used))
                if used >= cpu_limit:
                    limit = messages.OUT_OF_TIME
                elif not is_long:
                    is_long = True
                    socket.send_fds(self._channel, [messages.LONG], [handle])
            if limit:
                os.kill(pid, signal.SIGKILL)
                note = note or limit


def _become_child(
    confinement: confine.Confinement, descriptors: list[int], confined: int, command: list[str]
) -> None:
    """Turns the fork into a child without the server's descriptors; never returns.

    Its table: 0 the null device, 1 and 2 its output, 3 jobs, 4 results, 5 its report. It opens the null
    device itself: flags that it set on one of the server's would outlive it. The rules for files are a
    descriptor, too; putting them on closes it.
    """
    try:
        os.close(0)
        os.open(os.devnull, os.O_RDONLY)
        source, sink, out, err = descriptors
        for number, descriptor in enumerate((out, err, source, sink, confined), start=1):
            os.dup2(descriptor, number)
        os.closerange(_CONFINED + 1, confine.RULESET)
        os.closerange(confine.RULESET + 1, 1 << 16)
        try:
            confinement.apply()
        except OSError as error:
            os.write(2, str(error).encode())
            os._exit(1)
        os.eventfd_write(_CONFINED, 1)
        os.close(_CONFINED)
        memory_bytes = os.read(_SOURCE, messages.MEMORY.size)  # waits for a job, which is written at once
        if not memory_bytes:
            os._exit(0)  # the runner has closed the pipe
        confinement.apply_memory_limit(*messages.MEMORY.unpack(memory_bytes))
        if command:
            os.execve(command[0], command, _ENVIRONMENT)  # noqa: S606 (no shell on purpose)
        child.serve(_SOURCE, _SINK)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


class ScratchFolder:
    """The directory that children may write to; `watch` where no file system limits its size.

    What a child writes between two checks stays there, and is measured when the child has ended.
    """

    def __init__(self, folder: str, *, watch: bool) -> None:
        self._folder = folder
        self._changed_at = os.stat(folder).st_ctime_ns
        self.due = 0.0 if watch else math.inf
        """When it is to be measured again, by the monotonic clock."""

    def measure(self) -> int:
        """Returns the note that it is too full, or 0."""
        if self.due == math.inf:
            return messages.NOTHING
        began = time.monotonic()
        note = messages.SCRATCH if self._is_overfull() else messages.NOTHING
        now = time.monotonic()
        self.due = now + max(SCRATCH_CHECK_SECONDS, (now - began) / CHECK_SHARE)
        return note

    def _is_overfull(self) -> bool:
        """Whether the files take too much space, or cannot be counted: unreadable, too deep, too many."""
        total, waiting = 0, [(self._folder, 0)]
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
                continue  # deleted meanwhile
            except OSError:
                return True
            too_many = depth > confine.SCRATCH_DEPTH or len(waiting) > confine.SCRATCH_FOLDERS
            if too_many or total > confine.SCRATCH_BYTES:
                return True
        return False

    def is_dirty(self) -> bool:
        """Whether a program wrote there: of files that it deleted the folder's time remains."""
        return os.stat(self._folder).st_ctime_ns != self._changed_at
