"""Answer keys: what a problem's reference returned on each input, made once in the sandbox and stored.

A key is a file. A small one is read; a large one is mapped, and of what was read of it little stays in
memory: the keys of a run over all suites have 600 MB together. Of an output that would fill the memory its
hash is kept: one problem of MBPP+ (Mbpp/255) has one of 1 GB, which would be twenty times that as objects.
"""

import contextlib
import mmap
import os
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.errors import UserError
from triathlon_runner.grading._compare import agree, shown
from triathlon_runner.memo import memo_key
from triathlon_runner.sandbox import (
    PYTHON_WIRE,
    Call,
    Ended,
    Execution,
    Job,
    Limits,
    MalformedError,
    Prepared,
    Raised,
    Sandbox,
    SandboxError,
    Sent,
    Source,
    Tagged,
    decode,
    encode,
    is_plain,
)
from triathlon_runner.syntax import literal_tuple

_KIND: Final = "answer key 7"
FORMAT = f"triathlon {_KIND}\n".encode()
REFERENCE_LIMITS: Final = Limits(cpu_seconds=600, wall_seconds=3600, result_bytes=2 << 30)
"""The slowest reference of the official sets takes about 70 s of CPU time (Mbpp/599)."""
RAISED = "raised"
"""Marks an input on which the reference raises; the value is the exception's type."""
READ_BYTES = 1 << 20
"""A key up to here is read whole. A mapping holds a file descriptor, of which a process has few (1,024)."""
_MAPPED_BYTES: Final = 4 << 20
"""So much is read of a mapped key before its pages are given back."""
MAX_EXAMINED_BYTES = 4 << 20
"""A longer output is assumed to be plain data without decoding: as objects it would fill the memory."""
_INDEX_BYTES = 64 << 20
_SHOWN_OF_INPUT, _SHOWN_OF_FAULT = 80, 200
"""Characters in the message about a reference that failed."""


class UngradableError(SandboxError):
    """A problem's reference or its tests cannot grade any program here; the message says why."""


class AnswerKey:
    """What a problem's reference returned, one entry an input."""

    def __init__(self, file: IO[bytes]) -> None:
        """Reads or maps a key's file; raises MalformedError, ValueError or TypeError where it holds none."""
        data: mmap.mmap | bytes
        if file.seek(0, os.SEEK_END) > READ_BYTES:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        else:
            file.seek(0)
            data = file.read()
        if bytes(data[: len(FORMAT)]) != FORMAT:
            raise MalformedError("no answer key")
        size = int.from_bytes(data[-8:], "little")
        self._data = data
        self._mapped_bytes_read = 0
        index = decode(bytes(data[-8 - size : -8]))
        ends, self._odd, self._hashed, calls, cpu_seconds = index
        self._ends = (len(FORMAT), *ends)
        self._calls = (self._ends[-1], *calls)
        self.cpu_seconds = float(cpu_seconds)
        """What the reference took on all inputs."""

    def calls(self, count: int) -> Prepared:
        """The calls for the first inputs, as they are sent."""
        return Prepared(self._part(self._calls[0], self._calls[count]), count)

    def is_sent(self, index: int, sent: Sent) -> bool:
        """Whether a child sent the very bytes of the expected output of an input."""
        is_as_long = self._hashed.get(index) == (sent.size if sent.is_hashed else None)
        return is_as_long and self.encoded(index) == sent.payload

    def encoded(self, index: int) -> bytes:
        """The expected output of an input as a child sends it; the hash of a large one."""
        return self._part(self._ends[index], self._ends[index + 1])

    def _part(self, start: int, end: int) -> bytes:
        """A part of the file; now and then the kernel is told to forget what it mapped of a large one."""
        part = bytes(self._data[start:end])
        if isinstance(self._data, mmap.mmap):
            self._mapped_bytes_read += len(part)
            if self._mapped_bytes_read > _MAPPED_BYTES:
                self._mapped_bytes_read = 0
                self._data.madvise(mmap.MADV_DONTNEED)
        return part

    def length(self, index: int) -> int:
        """Bytes of an expected output, encoded."""
        return int(self._hashed.get(index) or self._ends[index + 1] - self._ends[index])

    def expected(self, index: int) -> Any:
        """The expected output of an input, which must not be one that only its hash is kept of."""
        return decode(self.encoded(index))

    def plain(self, index: int) -> bool:
        """Whether an expected output is plain data, without a tagged or opaque part."""
        return index not in self._odd

    @cached_property
    def largest(self) -> int:
        """Bytes of the largest expected output, encoded."""
        return max(map(self.length, range(len(self._ends) - 1)), default=0)


async def answer_key(sandbox: Sandbox, folder: Path | None, problem: Problem) -> AnswerKey:
    """A problem's key: read from the folder, where its name is a hash of the problem, or made.

    Raises:
        SandboxError: the sandbox, or the reference, failed.
        UserError: the folder cannot be read or written.
    """
    if folder is None:
        with tempfile.TemporaryFile() as file:
            await write_key(sandbox, problem, file)
            return AnswerKey(file)
    try:
        return await _stored_key(sandbox, folder / memo_key(_KIND, problem), problem)
    except OSError as error:
        raise UserError(
            f"cannot use the cache {str(folder)!r} ({error.strerror}); make room there, make it writable, or"
            " name another in TRIATHLON_CACHE"
        ) from error


async def _stored_key(sandbox: Sandbox, path: Path, problem: Problem) -> AnswerKey:
    """The key in this file; made and stored where there is none, or a damaged one."""
    absent_or_damaged = (FileNotFoundError, MalformedError, ValueError, TypeError)
    with contextlib.suppress(*absent_or_damaged), path.open("rb") as stored:
        return AnswerKey(stored)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            await write_key(sandbox, problem, file)
        except BaseException:  # a half-written key never has the name
            os.unlink(file.name)  # noqa: PTH108 (beside the rename)
            raise
        file.flush()
        os.fchmod(file.fileno(), 0o644)  # the cache may be another user's, too
        os.replace(file.name, path)  # noqa: PTH105
        return AnswerKey(file)


async def write_key(sandbox: Sandbox, problem: Problem, file: IO[bytes]) -> None:
    """Runs the reference on all inputs and writes what it returns: outputs, calls, then an index.

    Raises:
        UngradableError: it did not come to its end, raised on every input, or returned what does not even
            equal itself, such as a generator.
    """
    if not problem.inputs:
        raise _ungradable(problem, "the problem has no inputs, so nothing can be compared")
    if problem.comparison.oracle == "checker" and None in map(literal_tuple, problem.inputs):
        raise _ungradable(problem, "an input is not a tuple of plain values")
    file.write(FORMAT)
    ends: list[int] = []
    odd: set[int] = set()
    hashed: dict[int, int] = {}
    raised: list[Raised] = []
    calls = tuple(_call(problem, text) for text in problem.inputs)
    job = Job(problem.reference, calls, limits=REFERENCE_LIMITS, libraries=problem.libraries)

    def take(position: int, result: Sent | Raised) -> bool:
        if isinstance(result, Raised):
            raised.append(result)
            odd.add(position)
            file.write(encode(Tagged(RAISED, result.type), _INDEX_BYTES))
        else:
            if result.is_hashed:
                hashed[position] = result.size
            elif result.size <= MAX_EXAMINED_BYTES and not is_plain(result.value()):
                odd.add(position)
                if not _can_be_right(problem.comparison, result):
                    text = problem.inputs[position][:_SHOWN_OF_INPUT]
                    why = f"on {text} it returned {shown(result.value())}, which nothing can be compared with"
                    raise _ungradable(problem, why)
            file.write(result.payload)
        ends.append(file.tell())
        return True

    execution = await sandbox.stream(job, take)
    whole = execution.ended is Ended.FINISHED and len(ends) == len(calls)
    if not whole or len(raised) == len(calls):
        raise _ungradable(problem, _failure_reason(problem, execution, raised))
    call_ends = []
    for call in calls:
        file.write(PYTHON_WIRE.call(call))
        call_ends.append(file.tell())
    index = encode((ends, odd, hashed, call_ends, execution.cpu_seconds), _INDEX_BYTES)
    file.write(index + len(index).to_bytes(8, "little"))


def _ungradable(problem: Problem, why: str) -> UngradableError:
    return UngradableError(f"the reference of {problem.task_id} did not return a value on every input: {why}")


def _can_be_right(comparison: Comparison, result: Sent) -> bool:
    """Whether a program can return what the reference did: a generator or a type equals no other one."""
    return comparison.oracle == "checker" or agree(comparison, result.value(), result.value())


def _failure_reason(problem: Problem, execution: Execution, raised: Sequence[Raised]) -> str:
    """Why there are no expected outputs: how the reference ended, or what it raised on every input."""
    if execution.detail:
        return execution.detail
    faults = [str(result) for result in (*raised, *execution.results) if isinstance(result, Raised)]
    if not faults:
        return f"it {execution.ended.value.replace('_', ' ')}"
    on_every_input = f"on {problem.inputs[0][:_SHOWN_OF_INPUT]} and every other input " if raised else ""
    return f"{on_every_input}it raised {faults[0][:_SHOWN_OF_FAULT]}"


def _call(problem: Problem, text: str) -> Call:
    """The call for one input: a literal is read once, here; each child evaluates any other expression.

    Sets and dicts are, too: the order in which a set was filled can show in a program's output.
    """
    values = None if "{" in text else literal_tuple(text)
    return Call(problem.entry_point, Source(text) if values is None else values)
