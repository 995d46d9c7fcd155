"""Frames between runner and child: one kind byte, the payload's length, the payload."""

import os
import struct

HEADER = struct.Struct("<cI")

# To the child.
PROGRAM = b"P"  # marshalled {program, result_bytes}
CALL = b"C"  # marshalled (function, arguments or None, source text or None)
ANSWER = b"A"  # marshalled (True, value) or (False, message): what a question of the child came to

# From the child.
LOADED = b"L"  # the program was executed; empty
NOT_LOADED = b"N"  # JSON {type, message, line}
VALUE = b"V"  # an encoded value (in other languages: JSON)
RAISED = b"E"  # JSON {type, message, line}
ASK = b"Q"  # an encoded (function, arguments): a question to the runner, while a call runs


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    return HEADER.pack(kind, len(payload)) + payload


class FrameStream:
    """Blocking frames over two descriptors, for the child's side."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._buffer = b""

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        data = memoryview(frame(kind, payload))
        while data:
            data = data[os.write(self._sink, data) :]

    def receive(self) -> tuple[bytes, bytes] | None:
        """The next frame, or None at the end of the stream."""
        header = self._take(HEADER.size)
        if len(header) < HEADER.size:
            return None
        kind, size = HEADER.unpack(header)
        return kind, self._take(size)

    def _take(self, size: int) -> bytes:
        if len(self._buffer) >= size:
            taken, self._buffer = self._buffer[:size], self._buffer[size:]
            return taken
        parts, have = [self._buffer], len(self._buffer)
        while have < size:
            part = os.read(self._source, max(65536, size - have))
            if not part:
                break
            parts.append(part)
            have += len(part)
        data = b"".join(parts)
        self._buffer = data[size:]
        return data[:size]
