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
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping
from typing import Any

from . import child, confine, messages, system
from .usage import CpuClock, ScratchFolder

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

_CONFINED = 5
"""The child's descriptor on which it reports that it is confined; closed before the program is loaded."""
_SOURCE, _SINK = 3, 4


def main(control: int, configuration: str) -> None:
    """Prepares the server and serves until the runner closes the socket."""
    channel = _reserve(socket.socket(fileno=control))
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
    _open_streams()
    _import_random()
    for name in STANDARD.split():
        importlib.import_module(name)
    sys.path.extend(settings["path"])
    for name in settings["libraries"]:
        importlib.import_module(name)
    del sys.path[len(sys.path) - len(settings["path"]) :]
    for _ in range(10):  # the interpreter specialises its own code after some passes
        _execute_representative()
    gc.collect()
    gc.freeze()


def _execute_representative() -> None:
    """Does what every child does."""
    source, feed = os.pipe()
    results, sink = os.pipe()
    stream = child.FrameStream(results, feed)
    job = {"program": REPRESENTATIVE, "relayed": (), "result_bytes": 1 << 20}
    stream.send(messages.PROGRAM, marshal.dumps(job))
    stream.send(messages.CALL, marshal.dumps(("f", None, "([2, 3, 4], 'ab')")))
    os.close(feed)
    child.serve(source, sink)
    for descriptor in (source, results, sink):
        os.close(descriptor)
    del sys.modules[child.MODULE]


def _import_random() -> None:
    """Seeds the random module for good: by itself it would draw a new seed in every fork."""
    register = os.register_at_fork
    os.register_at_fork = lambda **_: None
    try:
        random = importlib.import_module("random")
    finally:
        os.register_at_fork = register
    random.seed(0)


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
            while message[:1] in (messages.KILL, messages.READING):  # for the child before, which had ended
                message = self._channel.recv(messages.SIZE)
            if not message:
                return
            report = self._report(pid, *messages.JOB.unpack(message[1:]))
            if self._scratch.dirty():
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

    def _report(self, pid: int, cpu_seconds: float, sleep_seconds: float) -> bytes:
        note = self._wait(pid, CpuClock(pid, cpu_seconds, sleep_seconds))
        _, status, usage = os.wait4(pid, 0)
        note = note or self._scratch.measure()
        try:
            confined = os.eventfd_read(self._confined) == 1
        except BlockingIOError:
            confined = False
        cpu_seconds = usage.ru_utime + usage.ru_stime
        peak_bytes = usage.ru_maxrss << 10
        return messages.REPORT.pack(messages.ENDED, status, cpu_seconds, note, confined, peak_bytes)

    def _wait(self, pid: int, clock: CpuClock) -> int:
        """Waits for the child's end; kills it at a limit, on request, or when the runner is gone."""
        handle, channel = os.pidfd_open(pid), self._channel.fileno()
        note = messages.NOTHING
        try:
            while True:
                pause = min(clock.next_check(), self._scratch.next_check())
                ready, _, _ = select.select([handle, channel], [], [], pause)
                if handle in ready:
                    return note
                if channel in ready:
                    message = self._channel.recv(messages.SIZE)
                    if not message:
                        os._exit(0)  # and with it the child
                    if message[:1] == messages.READING:
                        clock.confirm(messages.WAITED.unpack(message)[1])
                    else:
                        os.kill(pid, signal.SIGKILL)
                    continue
                limit = clock.check() or self._scratch.check()
                if limit:
                    os.kill(pid, signal.SIGKILL)
                    note = note or limit
                elif clock.must_ask_runner():
                    socket.send_fds(self._channel, [messages.IS_READING], [handle])
        finally:
            os.close(handle)


def _become_child(
    confinement: confine.Confinement, descriptors: list[int], confined: int, command: list[str]
) -> None:
    """Turns the fork into a child without the server's descriptors; never returns."""
    try:
        _set_descriptors([*descriptors, confined])
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
            os.execve(command[0], command, {"LC_ALL": "C.UTF-8", "OPENSSL_CONF": os.devnull})  # noqa: S606 (no shell on purpose)
        child.serve(_SOURCE, _SINK)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _set_descriptors(descriptors: list[int]) -> None:
    """The child's table: 0 the null device, 1 and 2 its output, 3 jobs, 4 results, 5 its report.

    It opens the null device itself: flags that it set on one of the server's would outlive it. The rules for
    files are a descriptor, too; putting them on closes it.
    """
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    source, sink, out, err, confined = descriptors
    for number, descriptor in enumerate((out, err, source, sink, confined), start=1):
        os.dup2(descriptor, number)
    os.closerange(_CONFINED + 1, confine.RULESET)
    os.closerange(confine.RULESET + 1, 1 << 16)


def _reserve(channel: socket.socket) -> socket.socket:
    """Moves the control channel to a high number and reserves the low ones for the children's pipes."""
    moved = socket.socket(fileno=fcntl.fcntl(channel, fcntl.F_DUPFD_CLOEXEC, confine.RULESET + 1))
    channel.close()
    for number in range(1, _CONFINED + 1):
        os.dup2(0, number)
    return moved


def _open_streams() -> None:
    """Opens the text streams of all children, over the numbers of each child's own descriptors.

    Lines are written at once, so that what was printed before a kill is not lost.
    """
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = open(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
