"""The runner's ends of the pipes of a child: frames to it, frames and printed text from it."""

import asyncio
import fcntl
import hashlib
import os
import sys
import termios
from collections.abc import Callable

from triathlon_runner.sandbox._api import HASHED_BYTES, Hashed, Limits
from triathlon_runner.sandbox._inside import messages
from triathlon_runner.sandbox._machine import seconds_occupied

PIPES = 4
CHUNK = 1 << 18
_FRAME_SLACK = 1 << 16
PIPE_BYTES = 1 << 16
"""Size of a pipe's buffer: this much is written or read at once."""
FIRST_PAUSE, LONGEST_PAUSE = 0.004, 0.05
"""Seconds between two reads of a child's results, at first and later: most children end before the first."""
GROWTH = 1.5
BUSY_BYTES = PIPE_BYTES // 4
"""A child that sends more than this between two reads is read without pauses."""


class Exchange:
    """Four pipes: to the child, from the child, its standard output, its standard error.

    `on_frame(kind, payload)` is called for each frame; once it returns False no more are delivered.
    """

    def __init__(
        self, ends: tuple[int, ...], on_frame: Callable[[bytes, bytes | Hashed], bool],
        on_broken: Callable[[str], None], limits: Limits,
    ) -> None:  # fmt: skip
        """Takes ownership of the descriptors, which must not block."""
        self._on_frame = on_frame
        self._on_broken = on_broken
        self._frame_limit = limits.result_bytes + _FRAME_SLACK
        self._output_limit = limits.output_bytes
        self._received = bytearray()
        """Results that are not delivered yet: they begin with a header."""
        self._digest, self._hashed_bytes = hashlib.sha256(), 0
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
        behind, self._was_behind = self._was_behind, False
        if self._results in self._open:
            unread = fcntl.ioctl(self._results, termios.FIONREAD, bytes(4))
            behind |= int.from_bytes(unread, sys.byteorder) > BUSY_BYTES
        return self._occupied - before if behind else 0.0

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
            self._timer = self._loop.call_later(FIRST_PAUSE, self._read_waiting, FIRST_PAUSE)

    def _readers(self) -> tuple[tuple[int, Callable[[], int]], ...]:
        return (
            (self._results, self._read_results),
            (self._out, lambda: self._read_printed(self._out, 0)),
            (self._err, lambda: self._read_printed(self._err, 1)),
        )

    def _read_waiting(self, pause: float) -> None:
        if max([read() for _, read in self._readers()]) > BUSY_BYTES:
            self.listen(at_once=True)
        else:
            pause = min(LONGEST_PAUSE, pause * GROWTH)
            self._timer = self._loop.call_later(pause, self._read_waiting, pause)

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
        self._was_behind |= len(data) > BUSY_BYTES
        if not self._ignores_results:
            self._received += data
            self._deliver()
        return len(data)

    def _deliver(self) -> None:
        """Passes on all whole frames, or the hash of one that is too large to be held."""
        received, head = self._received, messages.HEADER.size
        while not self._ignores_results and len(received) >= head:
            kind, size = messages.HEADER.unpack_from(received)
            payload: bytes | Hashed
            if size > self._frame_limit:
                self._ignores_results = True
                self._on_broken(f"a frame of {size} bytes where {self._frame_limit} are allowed")
                return
            if size > HASHED_BYTES:
                part = received[head : head + size - self._hashed_bytes]
                self._digest.update(part)
                self._hashed_bytes += len(part)
                del received[head : head + len(part)]
                if self._hashed_bytes < size:
                    return
                payload = Hashed(self._digest.digest(), size)
                self._digest, self._hashed_bytes = hashlib.sha256(), 0
                del received[:head]
            elif len(received) < head + size:
                return
            else:
                payload = bytes(memoryview(received)[head : head + size])
                del received[: head + size]
            self._ignores_results = not self._on_frame(kind, payload)

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
