"""The template server: a warmed interpreter that forks one child per job and never runs a program itself.

It speaks with the runner over a SEQPACKET socket (`messages`). One child always stands ready, confined and
waiting on its own pipes, whose other ends the runner got; the runner says when it gives it a job. At the
child's end the server reports wait status and CPU seconds, then makes the next one.
Programs, inputs and results never pass through it.
"""

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

from . import child, confine, frames, messages, namespaces

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

LOOK_SECONDS = 0.25
"""How often the CPU time of a running child is looked at."""
SCRATCH_LOOK_SECONDS, SCRATCH_LOOK_SHARE = 0.01, 0.1
"""Seconds between two looks at the scratch directory where no file system limits it (a child writes some
50 MiB in that time), and the share of a core that looking may take where there are many files."""
SLEEPING_SHARE = 0.03
"""Share of a core below which a child counts as asleep: in part, or wholly if it uses nothing. A child that
only waits for its turn gets more on a usable machine. One that computes a little now and then, to seem
awake, ends after 33 times its limit."""
_SCHEDULED = 2
"""The kind of CPU clock that the scheduler keeps, exact to the nanosecond (CPUCLOCK_SCHED)."""
_WORD = 5
"""The child's descriptor that says "confined"; closed before anything untrusted runs."""
_SOURCE, _SINK = 3, 4


def main(control: int, configuration: str) -> None:
    """Prepares the server and serves until the runner hangs up."""
    channel = _reserve(socket.socket(fileno=control))
    try:
        settings = marshal.loads(bytes.fromhex(configuration))  # noqa: S302 (written by the runner)
        _warm(settings)
        os.environ.clear()  # not before: it keeps some libraries from starting threads
        if len(os.listdir("/proc/self/task")) > 1:  # no room takes a process that has some; a fork has one
            namespaces.go_on_in_a_fork()
        server = Server(
            channel,
            confine.prepare(settings),
            settings["command"],
            watch=settings["level"] != "namespaces",
        )
        server.serve()
    except (OSError, ImportError, KeyError) as error:
        channel.send(messages.FAILED + str(error).encode())


def _warm(settings: Mapping[str, Any]) -> None:
    """Does once what every child would otherwise have to do."""
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
        child.rehearse(REPRESENTATIVE, "f", "([2, 3, 4], 'ab')")
    gc.collect()
    gc.freeze()


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
    """`command` starts another language's harness; empty for Python, whose children are forks of this one."""

    def __init__(
        self, channel: socket.socket, confinement: confine.Confinement, command: list[str], *, watch: bool
    ) -> None:
        self._channel = channel
        self._command = command
        self._confinement = confinement
        self._scratch = _Scratch(confinement.scratch, watch=watch)
        self._word = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def serve(self) -> None:
        """One job after the other, each in the child that stands ready for it."""
        news = messages.READY
        while True:
            pid = self._fork(news)
            message = b"K"
            while message[:1] in (messages.KILL, messages.HERE):  # for the one before, that came too late
                message = self._channel.recv(messages.SIZE)
            if not message:
                return
            news = self._report(pid, *messages.JOB.unpack(message[1:]))
            if self._scratch.dirty():
                self._channel.send(news)  # and nobody stands ready: the runner lets go of this server
                self._channel.recv(messages.SIZE)
                return

    def _fork(self, news: bytes) -> int:
        """A new child; the runner gets the news and the near ends of the child's pipes.

        They are sent before the fork: the runner looks at what was and fills the pipes meanwhile.
        """
        source, sink = os.pipe2(os.O_CLOEXEC)
        pipes = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
        near = [sink, *(read for read, _ in pipes)]
        far = [source, *(write for _, write in pipes)]
        for descriptor in near:
            os.set_blocking(descriptor, False)
        socket.send_fds(self._channel, [news], near)
        for descriptor in near:
            os.close(descriptor)
        pid = os.fork()
        if pid == 0:
            _become_child(self._confinement, far, self._word, self._command)
        for descriptor in far:
            os.close(descriptor)
        return pid

    def _report(self, pid: int, cpu_seconds: float, sleep_seconds: float) -> bytes:
        note = self._wait(pid, _Clock(pid, cpu_seconds, sleep_seconds))
        _, status, usage = os.wait4(pid, 0)
        note = note or self._scratch.look_again()
        try:
            confined = os.eventfd_read(self._word) == 1
        except BlockingIOError:
            confined = False
        return messages.REPORT.pack(
            messages.ENDED,
            status,
            usage.ru_utime + usage.ru_stime,
            note,
            confined,
        )

    def _wait(self, pid: int, clock: "_Clock") -> int:
        """Waits for the child's end; kills it at a limit, on request, or when the runner is gone."""
        handle = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.register(self._channel, select.POLLIN)
        note = messages.NOTHING
        try:
            while True:
                pause = min(clock.next_look(), self._scratch.next_look())
                ready = {number for number, _ in poll.poll(1000 * pause)}
                if handle in ready:
                    return note
                if self._channel.fileno() in ready:
                    self._obey(pid, clock)
                    continue
                found = clock.look() or self._scratch.look()
                if found:
                    os.kill(pid, signal.SIGKILL)
                    note = note or found
                elif clock.wonders():
                    self._channel.send(messages.THERE)
        finally:
            os.close(handle)

    def _obey(self, pid: int, clock: "_Clock") -> None:
        message = self._channel.recv(messages.SIZE)
        if not message:
            os._exit(0)  # and with it the child
        if message == messages.HERE:
            clock.confirm()
        else:
            os.kill(pid, signal.SIGKILL)


class _Clock:
    """Measures a child's CPU time and how long it sleeps, now and then.

    A child that waits for the runner (to read what it wrote, to send it something) looks asleep, too. So what
    looks like sleep counts only once the runner has answered that it is there.
    """

    def __init__(self, pid: int, cpu_seconds: float, sleep_seconds: float) -> None:
        self._pid = pid
        self._cpu_limit = cpu_seconds
        self._sleep_limit = sleep_seconds
        self._time, self._cpu = time.monotonic(), 0.0
        self._slept, self._perhaps = 0.0, 0.0
        self._asked = False

    def next_look(self) -> float:
        """Seconds until it is worth looking again."""
        wait = max(0.001, min(LOOK_SECONDS, self._cpu_limit - self._cpu))
        return max(0.0, self._time + wait - time.monotonic())

    def look(self) -> int:
        """The note of the limit that is reached, or 0; also if it is too early to look.

        The shorter the time between two looks, the more often a child that waits for its turn looks asleep.
        """
        if self.next_look() > 0:
            return messages.NOTHING
        now, cpu = time.monotonic(), _cpu_used(self._pid)
        if not self._asked:
            self._perhaps += max(0.0, now - self._time - (cpu - self._cpu) / SLEEPING_SHARE)
        self._time, self._cpu = now, cpu
        if cpu >= self._cpu_limit:
            return messages.OUT_OF_TIME
        return messages.ASLEEP if self._slept >= self._sleep_limit else messages.NOTHING

    def wonders(self) -> bool:
        """Whether the runner is to be asked now."""
        if self._asked or not self._perhaps:
            return False
        self._asked = True
        return True

    def confirm(self) -> None:
        """Notes that the runner reads: the child was asleep, not waiting for the runner."""
        self._slept += self._perhaps
        self._perhaps = 0.0
        self._asked = False


class _Scratch:
    """The directory that children may write to; `watch` where no file system bounds what they leave there.

    What a child writes between two looks is not undone, but still graded: by what is there when it has ended.
    """

    def __init__(self, folder: str, *, watch: bool) -> None:
        self._folder = folder
        self._watch = watch
        self._standing = frozenset(os.listdir(folder))
        self._due = 0.0

    def next_look(self) -> float:
        """Seconds until it is worth looking again."""
        return max(0.0, self._due - time.monotonic()) if self._watch else math.inf

    def look(self) -> int:
        """The note that it is too full, or 0; also if it is too early to look."""
        return messages.NOTHING if self.next_look() > 0 else self.look_again()

    def look_again(self) -> int:
        """The note that it is too full, or 0."""
        if not self._watch:
            return messages.NOTHING
        began = time.monotonic()
        note = messages.SCRATCH if _overfull(self._folder) else messages.NOTHING
        now = time.monotonic()
        self._due = now + max(SCRATCH_LOOK_SECONDS, (now - began) / SCRATCH_LOOK_SHARE)
        return note

    def dirty(self) -> bool:
        """Whether a program left anything beside what stood there, or a folder that can't even be listed."""
        try:
            return not self._standing.issuperset(os.listdir(self._folder))
        except OSError:
            return True


def _cpu_used(pid: int) -> float:
    """CPU seconds of all threads of a process, by its own clock.

    Not by RLIMIT_CPU, which counts timer ticks: on a busy machine these are off by a fifth, either way.
    """
    try:
        return time.clock_gettime((~pid << 3) | _SCHEDULED)
    except OSError:  # it has just ended
        return 0.0


def _become_child(
    confinement: confine.Confinement, descriptors: list[int], word: int, command: list[str]
) -> None:
    """Turns the fork into a child that holds nothing of the server's, and never returns."""
    try:
        _lay([*descriptors, word])
        try:
            confinement.put_on()
        except OSError as error:
            os.write(2, str(error).encode())
            os._exit(1)
        os.eventfd_write(_WORD, 1)
        os.close(_WORD)
        confinement.put_on_memory_limit(_read_memory_limit())
        if command:
            os.execve(command[0], command, {"LC_ALL": "C.UTF-8", "OPENSSL_CONF": os.devnull})  # noqa: S606 (no shell on purpose)
        child.serve(_SOURCE, _SINK)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _read_memory_limit() -> int:
    """The memory that the job may use; the child waits here until there is one, or the runner hangs up."""
    data = b""
    while len(data) < frames.MEMORY.size:
        part = os.read(_SOURCE, frames.MEMORY.size - len(data))
        if not part:
            os._exit(0)
        data += part
    (memory_bytes,) = frames.MEMORY.unpack(data)
    return int(memory_bytes)


def _lay(descriptors: list[int]) -> None:
    """The child's table: 0 the null device, 1 and 2 its output, 3 jobs, 4 results, 5 its word; nothing else.

    The rules for files are a descriptor, too; putting them on closes it.
    """
    source, sink, out, err, word = descriptors
    for number, descriptor in enumerate((out, err, source, sink, word), start=1):
        os.dup2(descriptor, number)
    os.closerange(_WORD + 1, confine.RULESET)
    os.closerange(confine.RULESET + 1, 1 << 16)


def _reserve(channel: socket.socket) -> socket.socket:
    """Moves the control channel up and fills the numbers that children lay, so that nothing else gets one."""
    moved = socket.socket(fileno=fcntl.fcntl(channel, fcntl.F_DUPFD_CLOEXEC, confine.RULESET + 1))
    channel.close()
    for number in range(1, _WORD + 1):
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


def _overfull(folder: str) -> bool:
    """Whether the files under a folder take too much space, or cannot be counted: unreadable or too deep."""
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
        if (
            total > confine.SCRATCH_BYTES
            or depth > confine.SCRATCH_DEPTH
            or len(waiting) > confine.SCRATCH_FOLDERS
        ):
            return True
    return False
