"""One answer key: what a problem's reference returned on each input, and the calls that asked for it.

A key is a file, mapped into memory: one problem of MBPP+ (Mbpp/255) has outputs of about 1 GB, which as
Python objects would be twenty times that.
"""

import mmap
from functools import cached_property
from itertools import pairwise
from typing import Any

from triathlon_runner.sandbox import MalformedError, Prepared, decode

FORMAT = b"triathlon answer key 5\n"
RAISED = "raised"
"""Marks an input on which the reference raises; the value is the exception's type."""
MAX_DECODED_BYTES = 64 << 20
"""A longer output is compared as it was sent and never decoded: as objects it would fill the memory."""


class AnswerKey:
    """What a problem's reference showed, one entry an input."""

    def __init__(self, data: "mmap.mmap | bytes") -> None:
        """Reads a key's file.

        Raises:
            MalformedError: it is none.
        """
        if bytes(data[: len(FORMAT)]) != FORMAT:
            raise MalformedError("no answer key")
        size = int.from_bytes(data[-8:], "little")
        self._data = data
        ends, self._odd, calls, arguments, self.cpu_seconds = decode(bytes(data[-8 - size : -8]))
        self._ends = (len(FORMAT), *ends)
        self._calls = (self._ends[-1], *calls)
        self.arguments: tuple[tuple[Any, ...], ...] = tuple(arguments)
        """Of each input; only for problems whose oracle looks at them, else empty."""

    def calls(self, count: int) -> Prepared:
        """The calls for the first inputs, as they are sent."""
        return Prepared(bytes(self._data[self._calls[0] : self._calls[count]]), count)

    def encoded(self, index: int) -> bytes:
        """The expected output of an input, as a child would send it."""
        return bytes(self._data[self._ends[index] : self._ends[index + 1]])

    def length(self, index: int) -> int:
        """Bytes of an expected output, encoded."""
        return int(self._ends[index + 1] - self._ends[index])

    def expected(self, index: int) -> Any:
        """The expected output of an input."""
        return decode(self.encoded(index))

    def plain(self, index: int) -> bool:
        """Whether an expected output is plain data, without a tagged or opaque part."""
        return index not in self._odd

    @cached_property
    def largest(self) -> int:
        """Bytes of the largest expected output, encoded."""
        return max((end - start for start, end in pairwise(self._ends)), default=0)
