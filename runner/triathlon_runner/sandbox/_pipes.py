"""The runner's ends of the pipes of a child: frames to it, frames and printed text from it."""

import asyncio
import fcntl
import hashlib
import os
import sys
import termios
from collections.abc import Callable

from triathlon_runner.sandbox._api import HASHED_BYTES, Limits
from triathlon_runner.sandbox._inside import messages

CHUNK = 1 << 18
FRAME_SLACK = 1 << 16
"""A frame may be so much longer than a result."""
PIPE_BYTES = 1 << 16
"""Size of a pipe's buffer: this much is written or read at once."""
FIRST_PAUSE, LONGEST_PAUSE = 0.004, 0.05
"""Seconds between two reads of a child's results, at first and later: most children end before the first."""
GROWTH = 1.5
BUSY_BYTES = PIPE_BYTES // 4
"""A child that sends more than this between two reads is read without pauses."""


class Pipes:
    """Four pipes: to the child, from the child, its standard output, its standard error."""

    def __init__(
        self, ends: tuple[int, ...], limits: Limits, on_frame: Callable[[bytes, bytes, int], bool]
    ) -> None:
        """Takes ownership of the descriptors, in the order above, which must not block.

        `on_frame` is called with kind, payload and size of each frame; of a payload that is too large to be
        held it gets the hash, of one beyond the limit nothing. Once it returns False no more come.
        """
        self._sink, self._results, *self._outputs = ends
        self._on_frame = on_frame
        self._frame_limit = limits.result_bytes + FRAME_SLACK
        self._output_limit = limits.output_bytes
        self._received = bytearray()
        """Results that are not delivered yet: they begin with a header."""
        self._digest, self._hashed_bytes = hashlib.sha256(), 0
        self._printed = {descriptor: bytearray() for descriptor in self._outputs}
        self._ignores_results = self._has_read_much = False
        self._pending = memoryview(b"")
        self._finishing = False
        self._loop = asyncio.get_running_loop()
        self._open, self._watched = set(ends), set[int]()
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, data: bytes, *, last: bool) -> None:
        """Queues frames for the child; after the last one its input ends. No effect after that."""
        if self._sink in self._open:
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

    def listen(self, *, at_once: bool) -> None:
        """Begins to read: at once, or at intervals until the child has sent much."""
        if at_once:
            for descriptor in (self._results, *self._outputs):
                self._loop.add_reader(descriptor, self._read, descriptor)
                self._watched.add(descriptor)
        else:
            self._timer = self._loop.call_later(FIRST_PAUSE, self._read_waiting, FIRST_PAUSE)

    def _read_waiting(self, pause: float) -> None:
        if max([self._read(descriptor) for descriptor in (self._results, *self._outputs)]) > BUSY_BYTES:
            self.listen(at_once=True)
        else:
            pause = min(LONGEST_PAUSE, pause * GROWTH)
            self._timer = self._loop.call_later(pause, self._read_waiting, pause)

    def _read(self, descriptor: int) -> int:
        """Reads once, and returns how many bytes came."""
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return 0
        if not data and descriptor in self._watched:
            self._watched.remove(descriptor)
            self._loop.remove_reader(descriptor)
        if descriptor != self._results:
            printed = self._printed[descriptor]
            printed += data[: self._output_limit - len(printed)]
            return len(data)
        self._has_read_much |= len(data) > BUSY_BYTES
        if not self._ignores_results:
            self._received += data
            self._deliver()
        return len(data)

    def _deliver(self) -> None:
        """Passes on all whole frames, or the hash of one that is too large to be held."""
        received, head = self._received, messages.HEADER.size
        while not self._ignores_results and len(received) >= head:
            kind, size = messages.HEADER.unpack_from(received)
            if size > self._frame_limit:
                payload = b""
            elif size > HASHED_BYTES:
                part = received[head : head + size - self._hashed_bytes]
                self._digest.update(part)
                self._hashed_bytes += len(part)
                del received[head : head + len(part)]
                if self._hashed_bytes < size:
                    return
                payload = self._digest.digest()
                self._digest, self._hashed_bytes = hashlib.sha256(), 0
                del received[:head]
            elif len(received) < head + size:
                return
            else:
                payload = bytes(memoryview(received)[head : head + size])
                del received[: head + size]
            self._ignores_results = not self._on_frame(kind, payload, size)

    def has_been_behind(self) -> bool:
        """Whether the child may have waited until its results were read, since the last call.

        It sent much that was read meanwhile, or that lies unread now: on a busy machine a long result waits
        for the runner more than it is written.
        """
        unread = fcntl.ioctl(self._results, termios.FIONREAD, bytes(4))
        behind = self._has_read_much or int.from_bytes(unread, sys.byteorder) > BUSY_BYTES
        self._has_read_much = False
        return behind

    def drain(self) -> None:
        """Reads what is still in the pipes; called when the child is dead."""
        for descriptor in (self._results, *self._outputs):
            while self._read(descriptor):
                pass

    def printed(self) -> tuple[str, str]:
        """What the child printed to standard output and standard error, as much as is recorded."""
        out, err = (printed.decode("utf-8", "replace") for printed in self._printed.values())
        return out, err

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for descriptor in self._watched:
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
        for descriptor in self._open:
            os.close(descriptor)
        self._watched, self._open = set(), set()
