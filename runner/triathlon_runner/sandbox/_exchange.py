"""The runner's ends of one child's pipes: frames out, frames in, and what it printed, all bounded."""

import asyncio
import os
from collections.abc import Callable

from triathlon_runner.sandbox._inside import frames

CHUNK = 1 << 18


class BrokenProtocolError(Exception):
    """The child sent something that is no frame; a result about the child, never our fault."""


class Exchange:
    """Four pipes: to the child, from the child, its standard output, its standard error.

    `on_frame(kind, payload)` is called for each frame; once it returns False no more are delivered.
    """

    def __init__(
        self, on_frame: Callable[[bytes, bytes], bool], on_broken: Callable[[str], None], *,
        frame_limit: int, output_limit: int,
    ) -> None:  # fmt: skip
        self._on_frame = on_frame
        self._on_broken = on_broken
        self._frame_limit = frame_limit
        self._output_limit = output_limit
        self._buffer = bytearray()
        self._printed = (bytearray(), bytearray())
        self._closed = False
        self._deaf = False
        self._pending = memoryview(b"")
        self._finishing = False
        source, self._sink = os.pipe2(os.O_CLOEXEC)
        self._results, sink = os.pipe2(os.O_CLOEXEC)
        self._out, out = os.pipe2(os.O_CLOEXEC)
        self._err, err = os.pipe2(os.O_CLOEXEC)
        self.far_ends = [source, sink, out, err]
        self._loop = asyncio.get_running_loop()
        self._near_ends = [self._sink, self._results, self._out, self._err]
        for descriptor in self._near_ends:
            os.set_blocking(descriptor, False)
        self._loop.add_reader(self._results, self._read_results)
        self._loop.add_reader(self._out, self._read_printed, 0)
        self._loop.add_reader(self._err, self._read_printed, 1)

    def close_far_ends(self) -> None:
        for descriptor in self.far_ends:
            os.close(descriptor)
        self.far_ends = []

    def feed(self, data: bytes, *, last: bool) -> None:
        """Queues frames for the child; after the last one its input ends. Nothing happens once it has."""
        if self._sink < 0:
            return
        self._pending = memoryview(bytes(self._pending) + data)
        self._finishing = last
        self._write()

    def _write(self) -> None:
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._sink, self._pending[:CHUNK]) :]
        except BlockingIOError:
            self._loop.add_writer(self._sink, self._write)
            return
        except BrokenPipeError:
            self._pending = memoryview(b"")
            self._finishing = True
        self._loop.remove_writer(self._sink)
        if self._finishing:
            self._near_ends.remove(self._sink)
            os.close(self._sink)
            self._sink = -1

    def _read_results(self) -> bool:
        try:
            data = os.read(self._results, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self._results)
            return False
        if not self._deaf:
            self._buffer += data
            self._deliver()
        return True

    def _deliver(self) -> None:
        at = 0
        while not self._deaf and len(self._buffer) - at >= frames.HEADER.size:
            kind, size = frames.HEADER.unpack_from(self._buffer, at)
            if size > self._frame_limit:
                self._deaf = True
                self._on_broken(f"a frame of {size} bytes where {self._frame_limit} are allowed")
                break
            end = at + frames.HEADER.size + size
            if len(self._buffer) < end:
                break
            with memoryview(self._buffer) as view:
                payload = bytes(view[at + frames.HEADER.size : end])
            self._deaf = not self._on_frame(kind, payload)
            at = end
        del self._buffer[:at]
        if self._deaf:
            self._buffer.clear()

    def _read_printed(self, which: int) -> bool:
        descriptor = (self._out, self._err)[which]
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(descriptor)
            return False
        kept = self._printed[which]
        kept += data[: self._output_limit - len(kept)]
        return True

    def drain(self) -> None:
        """Reads what is still in the pipes; called when the child is dead."""
        while self._read_results():
            pass
        for which in (0, 1):
            while self._read_printed(which):
                pass

    def printed(self, which: int) -> str:
        return self._printed[which].decode("utf-8", "replace")

    def close(self) -> None:
        self.close_far_ends()
        for descriptor in self._near_ends:
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
            os.close(descriptor)
        self._near_ends = []
        self._sink = -1
