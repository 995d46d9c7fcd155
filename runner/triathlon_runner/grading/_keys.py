"""Answer keys: what a problem's reference returns on each input, and how long it computed, kept on disk."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.datasets import Problem
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Job,
    Limits,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Source,
    Tagged,
)
from triathlon_runner.sandbox._decode import MalformedError, decode
from triathlon_runner.sandbox._inside.encode import encode

FORMAT = b"triathlon answer key 2\n"
LARGEST_HELD = 16 << 20
"""A key with a longer output than this is read again each time, not held in memory."""
RAISED = "raised"
"""Marks an input on which the reference raises; the value is the exception's type."""
REFERENCE_LIMITS = Limits(cpu_seconds=600, wall_seconds=3600, result_bytes=2 << 30)
"""The slowest reference of the official sets takes about 70 s of CPU time (Mbpp/599)."""


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What a problem's reference showed, one entry an input, all plain decoded values."""

    expected: tuple[Any, ...]
    arguments: tuple[tuple[Any, ...], ...]
    """Only for problems whose oracle looks at them; else empty."""
    cpu_seconds: float
    """The reference's CPU time on all inputs."""
    largest: int
    """Bytes of the largest expected output, encoded."""


class AnswerKeys:
    """Keys by content hash, under a folder or (None) only in memory."""

    def __init__(self, sandbox: Sandbox, folder: Path | None) -> None:
        self._sandbox = sandbox
        self._folder = folder
        self._known: dict[Problem, AnswerKey] = {}

    async def of(self, problem: Problem) -> AnswerKey:
        """The key, from memory, disk or the reference itself.

        Raises:
            SandboxError: the sandbox, or the reference, failed.
        """
        known = self._known.get(problem)
        if known is not None:
            return known
        name = key_name(problem)
        key = self._read(name)
        if key is None:
            key = await make_key(self._sandbox, problem)
            self._write(name, key)
        if key.largest <= LARGEST_HELD:
            self._known[problem] = key
        return key

    def _read(self, name: str) -> AnswerKey | None:
        if self._folder is None or not (path := self._folder / name).is_file():
            return None
        data = path.read_bytes()
        if not data.startswith(FORMAT):
            return None
        try:
            expected, arguments, cpu, largest = decode(data[len(FORMAT) :])
            return AnswerKey(tuple(expected), tuple(arguments), cpu, largest)
        except (MalformedError, ValueError, TypeError):
            return None

    def _write(self, name: str, key: AnswerKey) -> None:
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        content = (list(key.expected), list(key.arguments), key.cpu_seconds, key.largest)
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
            file.write(FORMAT + encode(content, 1 << 31))
        os.replace(file.name, self._folder / name)  # noqa: PTH105 (a half-written key never has the name)


def key_name(problem: Problem) -> str:
    """Hash of all that the expected outputs depend on."""
    digest = hashlib.sha256()
    needs_arguments = str(problem.comparison.oracle == "checker")
    for part in (problem.entry_point, problem.reference, needs_arguments, *problem.inputs):
        digest.update(str(len(part)).encode() + b":" + part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


async def make_key(sandbox: Sandbox, problem: Problem) -> AnswerKey:
    """Runs the reference on all inputs.

    Raises:
        ReferenceFailedError: it did not come to its end, or raised on every input.
    """
    calls = tuple(Call(problem.entry_point, Source(text)) for text in problem.inputs)
    execution = await sandbox.run(
        Job(problem.reference, calls, limits=REFERENCE_LIMITS, libraries=problem.libraries)
    )
    if execution.ended is not Ended.FINISHED or all(isinstance(one, Raised) for one in execution.results):
        raise ReferenceFailedError(problem.task_id, execution.detail or str(execution.results[:1]))
    arguments: tuple[Any, ...] = ()
    if problem.comparison.oracle == "checker":
        arguments = await _arguments(sandbox, problem)
    return AnswerKey(
        expected=tuple(_expected(result) for result in execution.results),
        arguments=arguments,
        cpu_seconds=execution.cpu_seconds,
        largest=max((result.size for result in execution.results if isinstance(result, Returned)), default=0),
    )


def _expected(result: Returned | Raised) -> Any:
    return result.value if isinstance(result, Returned) else Tagged(RAISED, result.type)


async def _arguments(sandbox: Sandbox, problem: Problem) -> tuple[Any, ...]:
    """The inputs as values: their text is evaluated in the sandbox, too."""
    calls = tuple(Call("arguments", Source(text)) for text in problem.inputs)
    job = Job("def arguments(*values):\n    return values\n", calls, limits=REFERENCE_LIMITS)
    execution = await sandbox.run(job)
    values = tuple(result.value for result in execution.results if isinstance(result, Returned))
    if len(values) != len(calls):
        raise ReferenceFailedError(problem.task_id, "an input is not a tuple of plain values")
    return values


class ReferenceFailedError(SandboxError):
    """A problem's own reference did not return on every input: the problem can't be judged here."""

    def __init__(self, task_id: str, why: str) -> None:
        super().__init__(f"the reference of {task_id} did not return on every input: {why}")
