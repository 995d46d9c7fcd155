"""The runner's ends of a template server (a process with a control socket) and of its child's pipes."""

import asyncio
import contextlib
import fcntl
import hashlib
import marshal
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.sandbox._api import HASHED_BYTES, Hashed, Limits, SandboxError
from triathlon_runner.sandbox._inside import messages
from triathlon_runner.sandbox._machine import RunQueue, seconds_occupied

BOOT = Path(__file__).parent / "_boot.py"
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "LD_BIND_NOW": "1",
}
"""The whole environment of a server; its children have none. The last one makes the dynamic
linker look functions up once, in the server, instead of at their first use in every child."""
START_SECONDS = 60.0
END_SECONDS = 5.0
_END_CHECK_SECONDS = 0.005
PIPES = 4

CHUNK = 1 << 18
PIPE_BYTES = 1 << 16
"""Size of a pipe's buffer: this much is written or read at once."""
FIRST_PAUSE, LONGEST_PAUSE = 0.004, 0.05
"""Seconds between two reads of a child's results, at first and later: most children end before the first."""
GROWTH = 1.5
BUSY_BYTES = PIPE_BYTES // 4
"""A child that sends more than this between two reads is read without pauses."""


class _LargeFrame:
    """A frame of which the hash alone is kept."""

    def __init__(self, kind: bytes, size: int) -> None:
        self.kind, self.size, self.missing = kind, size, size
        self.digest = hashlib.sha256()

    def hashed(self) -> Hashed:
        """What is passed on in place of its payload."""
        return Hashed(self.digest.digest(), self.size)


class Exchange:
    """Four pipes: to the child, from the child, its standard output, its standard error.

    `on_frame(kind, payload)` is called for each frame; once it returns False no more are delivered.
    """

    def __init__(
        self, ends: tuple[int, ...], on_frame: Callable[[bytes, bytes | Hashed], bool],
        on_broken: Callable[[str], None], *, frame_limit: int, output_limit: int,
    ) -> None:  # fmt: skip
        """Takes ownership of the descriptors, which must not block."""
        self._on_frame = on_frame
        self._on_broken = on_broken
        self._frame_limit = frame_limit
        self._output_limit = output_limit
        self._bytes_missing = 0
        self._parts: list[bytes] = []
        self._large: _LargeFrame | None = None
        self._printed = (bytearray(), bytearray())
        self._ignores_results = False
        self._pending = memoryview(b"")
        self._finishing = False
        self._sink, self._results, self._out, self._err = ends
        self._loop = asyncio.get_running_loop()
        self._open = set(ends)
        self._watched: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._was_behind = False
        self._occupied = seconds_occupied()

    def seconds_behind(self) -> float:
        """Seconds since the last call in which the child may have waited until its results were read.

        That is the time in which this thread did not sleep, where the child sent much that was read meanwhile
        or lies unread now: on a busy machine a long result waits for the runner more than it is written. A
        thread that sleeps has read all.
        """
        before, self._occupied = self._occupied, seconds_occupied()
        behind, self._was_behind = self._was_behind or self._unread() > BUSY_BYTES, False
        return self._occupied - before if behind else 0.0

    def _unread(self) -> int:
        """Bytes of results that lie in the pipe."""
        if self._results not in self._open:
            return 0
        return int.from_bytes(fcntl.ioctl(self._results, termios.FIONREAD, bytes(4)), sys.byteorder)

    def feed(self, data: bytes, *, last: bool) -> None:
        """Queues frames for the child; after the last one its input ends. No effect after that."""
        if self._sink < 0:
            return
        self._pending = memoryview(bytes(self._pending) + data) if self._pending else memoryview(data)
        self._finishing = last
        self._write()

    def _write(self) -> None:
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._sink, self._pending[:CHUNK]) :]
        except BlockingIOError:
            self._loop.add_writer(self._sink, self._write)
            self._watched.add(self._sink)
            return
        except BrokenPipeError:
            self._pending = memoryview(b"")
            self._finishing = True
        if self._sink in self._watched:
            self._loop.remove_writer(self._sink)
            self._watched.remove(self._sink)
        if self._finishing:
            self._open.remove(self._sink)
            os.close(self._sink)
            self._sink = -1

    def listen(self, *, at_once: bool) -> None:
        """Begins to read: at once, or at intervals until the child has sent much."""
        if at_once:
            for descriptor, read in self._readers():
                self._loop.add_reader(descriptor, read)
                self._watched.add(descriptor)
        else:
            self._read_later(FIRST_PAUSE)

    def _readers(self) -> tuple[tuple[int, Callable[[], int]], ...]:
        return (
            (self._results, self._read_results),
            (self._out, lambda: self._read_printed(self._out, 0)),
            (self._err, lambda: self._read_printed(self._err, 1)),
        )

    def _read_later(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._read_waiting, seconds)

    def _read_waiting(self, seconds: float) -> None:
        if max([read() for _, read in self._readers()]) > BUSY_BYTES:
            self.listen(at_once=True)
        else:
            self._read_later(min(LONGEST_PAUSE, seconds * GROWTH))

    def _read(self, descriptor: int) -> bytes:
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return b""
        if not data and descriptor in self._watched:
            self._watched.remove(descriptor)
            self._loop.remove_reader(descriptor)
        return data

    def _read_results(self) -> int:
        data = self._read(self._results)
        received = len(data)
        self._was_behind |= received > BUSY_BYTES
        if self._large is not None and not self._ignores_results:
            data = self._hash(self._large, data)
        if data and not self._ignores_results:
            self._parts.append(data)
            self._bytes_missing -= len(data)
            if self._bytes_missing <= 0:
                self._deliver(b"".join(self._parts))
        return received

    def _hash(self, frame: "_LargeFrame", data: bytes) -> bytes:
        """Adds to the hash of a frame that is too large to be held; returns what follows the frame."""
        part, rest = data[: frame.missing], data[frame.missing :]
        frame.digest.update(part)
        frame.missing -= len(part)
        if not frame.missing:
            self._large = None
            self._ignores_results = not self._on_frame(frame.kind, frame.hashed())
        return rest

    def _deliver(self, data: bytes) -> None:
        """Passes on all whole frames; the rest waits until its frame is complete."""
        at, end, head = 0, len(data), messages.HEADER.size
        self._bytes_missing = 0
        while not self._ignores_results and end - at >= head:
            kind, size = messages.HEADER.unpack_from(data, at)
            if size > self._frame_limit:
                self._ignores_results = True
                self._on_broken(f"a frame of {size} bytes where {self._frame_limit} are allowed")
                break
            after = at + head + size
            if size > HASHED_BYTES:
                self._large = _LargeFrame(kind, size)
                rest = self._hash(self._large, data[at + head :])
                at = end - len(rest)
                continue
            if after > end:
                self._bytes_missing = after - end
                break
            self._ignores_results = not self._on_frame(kind, data[at + head : after])
            at = after
        self._parts = [] if self._ignores_results or at == end else [data[at:]]

    def _read_printed(self, descriptor: int, which: int) -> int:
        data = self._read(descriptor)
        printed = self._printed[which]
        printed += data[: self._output_limit - len(printed)]
        return len(data)

    def drain(self) -> None:
        """Reads what is still in the pipes; called when the child is dead."""
        for _, read in self._readers():
            while read():
                pass

    def printed(self, which: int) -> str:
        return self._printed[which].decode("utf-8", "replace")

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for descriptor in self._watched:
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
        for descriptor in self._open:
            os.close(descriptor)
        self._watched, self._open = set(), set()
        self._sink = -1


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a child ended, as its server reports it; nothing in it comes from the child."""

    status: int
    """Its wait status, as of wait(2)."""
    cpu_seconds: float
    note: int
    """Why the server killed it (`messages`), or 0."""
    peak_bytes: int
    """The most memory that it had."""


class Worker:
    """Made by `Worker.start`. A worker that isn't `usable` any more is closed, never used again."""

    def __init__(self, process: "subprocess.Popen[bytes]", control: socket.socket, directory: Path) -> None:
        self._process = process
        self._control = control
        self._directory = directory
        self._killed = False
        self._loop = asyncio.get_running_loop()
        self._ends: tuple[int, ...] = ()
        self._news = asyncio.Event()
        self._report: tuple[Any, ...] | None = None
        self._fault = ""
        self._run_queue = RunQueue()
        self._exchange: Exchange | None = None
        self.usable = True
        self._loop.add_reader(control, self._on_message)

    @classmethod
    async def start(cls, make_settings: Callable[[Path], dict[str, Any]]) -> "Worker":
        """Starts a server and waits until its first child is ready; raises SandboxError where it does not.

        `make_settings` returns the settings of a server that may use this empty directory.
        """
        try:
            directory = Path(tempfile.mkdtemp(prefix="triathlon-room-"))
            try:
                settings = make_settings(directory)
                worker = cls(*_spawn(settings), directory)
            except BaseException:
                _remove(directory)
                raise
        except OSError as error:  # no more processes, descriptors or space
            raise SandboxError(f"a sandbox server could not be started: {error}") from error
        try:
            async with asyncio.timeout(START_SECONDS):
                await worker.ready()
        except BaseException as error:
            await worker.close()
            if not isinstance(error, TimeoutError):
                raise
            raise SandboxError(f"the sandbox server did not start within {START_SECONDS:g} s") from None
        if settings["level"] == "namespaces":  # nothing is mounted on it any more
            _remove(directory)
        return worker

    def _on_message(self) -> None:
        """Takes one message of the server's: a child was forked, one has ended, or the server failed."""
        try:
            message, ends, flags, _ = socket.recv_fds(self._control, messages.SIZE, PIPES)
        except BlockingIOError:
            return
        except OSError as error:
            message, ends, flags = messages.FAILED + str(error).encode(), [], 0
        if flags & socket.MSG_CTRUNC:  # the kernel had no numbers for all descriptors
            for descriptor in ends:
                os.close(descriptor)
            message, ends = messages.FAILED + b"this process has too many open files", []
        if message == messages.IS_READING:
            self._answer_that_it_reads(*ends)
            return
        if ends:
            self._ends = tuple(ends)
        if message[:1] == messages.ENDED:
            self._report = messages.REPORT.unpack(message)
        elif message != messages.READY:
            self._fault = message[1:].decode("utf-8", "replace") or "the sandbox server ended"
            self.usable = False
            self._loop.remove_reader(self._control)
        self._news.set()

    def _answer_that_it_reads(self, process: int) -> None:
        try:
            waited = self._run_queue.seconds_waited(process)
            waited += self._exchange.seconds_behind() if self._exchange else 0.0
        finally:
            os.close(process)
        self._send_or_kill(messages.WAITED.pack(messages.READING, waited))

    async def _next_message(self) -> None:
        if self._fault:
            raise SandboxError(self._fault)
        self._news.clear()
        await self._news.wait()

    async def ready(self) -> None:
        """Waits until a child is ready; raises SandboxError where the server is gone."""
        while not self._ends:
            await self._next_message()

    def take_ends(self) -> tuple[int, ...]:
        """The runner's ends of the ready child's pipes, as `Exchange` takes them; the caller closes them."""
        self.usable = self._killed = False
        self._run_queue = RunQueue()
        ends, self._ends = self._ends, ()
        return ends

    async def run(self, limits: Limits, exchange: Exchange) -> ChildEnd:
        """Tells the server that its child has a job and waits for the child's end.

        Raises:
            SandboxError: the server is gone, or could not confine the child.
        """
        self._exchange = exchange
        self._send(messages.BEGIN + messages.JOB.pack(limits.cpu_seconds, limits.wall_seconds))
        while self._report is None:
            await self._next_message()
        _, status, cpu_seconds, note, confined, peak_bytes = self._report
        self._report = None
        # A child that we killed may have ended before it was confined; it had executed nothing then.
        if not confined and not self._killed:
            exchange.drain()
            raise SandboxError(
                f"the sandbox server could not confine a child: {exchange.printed(1) or status!r}"
            )
        self.usable = bool(self._ends) and not self._fault
        return ChildEnd(status, cpu_seconds, note, peak_bytes)

    def _send(self, message: bytes) -> None:
        try:
            self._control.send(message)
        except OSError as error:
            raise SandboxError(f"the sandbox server is gone: {self._fault or error}") from error

    def kill_child(self) -> None:
        """Asks the server to kill the running child; its report comes all the same."""
        self._killed = True
        self._send_or_kill(messages.KILL)

    def _send_or_kill(self, message: bytes) -> None:
        try:
            self._control.send(message)
        except OSError:
            self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """Ends the server and everything under it, and removes what programs left."""
        self.usable = False
        self._loop.remove_reader(self._control)
        self._control.close()  # on which the server kills its child and ends
        for descriptor in self._ends:
            os.close(descriptor)
        self._ends = ()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._ended()
        except TimeoutError:
            self._kill()
            await self._ended()
        try:
            await asyncio.to_thread(_remove, self._directory)
        except RuntimeError:  # no more threads
            _remove(self._directory)

    async def _ended(self) -> None:
        """Waits for the end of the server's process. No thread of asyncio's does, as there may be none."""
        while self._process.poll() is None:  # noqa: ASYNC110  seldom, and for milliseconds
            await asyncio.sleep(_END_CHECK_SECONDS)


def _spawn(settings: dict[str, Any]) -> "tuple[subprocess.Popen[bytes], socket.socket]":
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    options = ("-s", "-S", "-B", "-P", str(BOOT), str(theirs.fileno()), marshal.dumps(settings).hex())
    try:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env=_ENVIRONMENT, cwd="/", start_new_session=True,
            )  # fmt: skip
    except BaseException:
        ours.close()
        raise
    return process, ours


def _remove(directory: Path) -> None:
    """Removes a directory that a hostile program may have filled: unreadable, or deeper than any path."""
    with contextlib.suppress(OSError):
        directory.rmdir()
    if not directory.exists():
        return
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        program = shutil.which(command[0])
        if program is not None:
            subprocess.run([program, *command[1:], str(directory)], check=False, capture_output=True)
