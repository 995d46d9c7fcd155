"""Frames between runner and child: one kind byte, the payload's length, the payload."""

import os
import struct

HEADER = struct.Struct("<cI")
MEMORY = struct.Struct("<Q")
"""Before the first frame: the bytes of memory that the job may use."""

# To the child.
PROGRAM = b"P"  # marshalled {program, result_bytes}
CALL = b"C"  # marshalled (function, arguments or None, source text or None)
ANSWER = b"A"  # marshalled (True, value) or (False, message): the answer to a question of the child

# From the child.
LOADED = b"L"  # the program was executed; empty
NOT_LOADED = b"N"  # as RAISED
VALUE = b"V"  # an encoded value (in other languages: JSON)
RAISED = b"E"  # an encoded (type, message, line) (in other languages: JSON {type, message, line})
ASK = b"Q"  # an encoded (function, arguments): a question to the runner, while a call runs


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    return HEADER.pack(kind, len(payload)) + payload


class FrameStream:
    """Blocking frames over two descriptors, for the child's side."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._buffer = b""
        self._at = 0

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        data = HEADER.pack(kind, len(payload)) + payload
        written = os.write(self._sink, data)
        while written < len(data):
            written += os.write(self._sink, memoryview(data)[written:])

    def receive(self) -> tuple[bytes, bytes] | None:
        """The next frame, or None at the end of the stream."""
        header = self._take(HEADER.size)
        if len(header) < HEADER.size:
            return None
        kind, size = HEADER.unpack(header)
        return kind, self._take(size)

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._buffer):
            self._fill(size)
            end = size
        taken = self._buffer[self._at : end]
        self._at = end
        return taken

    def _fill(self, size: int) -> None:
        """Reads until so many bytes are there, or the stream ends."""
        parts = [self._buffer[self._at :]]
        have = len(parts[0])
        while have < size:
            part = os.read(self._source, max(65536, size - have))
            if not part:
                break
            parts.append(part)
            have += len(part)
        self._buffer, self._at = b"".join(parts), 0
