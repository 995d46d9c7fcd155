"""The interface of every sandbox: a program and calls go in, plain values come out.

Nothing that decides a verdict crosses to the untrusted side; nothing that comes back is executed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from triathlon_runner.errors import InfrastructureError
from triathlon_runner.sandbox._decode import decode


class SandboxError(InfrastructureError):
    """The sandbox itself failed (never: the program failed). The unit stays open."""


class Language(StrEnum):
    PYTHON = "python"
    PHP = "php"
    RUBY = "ruby"
    JAVASCRIPT = "javascript"
    PERL = "perl"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may use. CPU time decides, whatever else the machine does."""

    cpu_seconds: float = 4.0
    """Of all its threads, by the process' own clock."""
    wall_seconds: float = 60.0
    """How long it may do nothing, asleep or blocked: time with less than three hundredths of a core.

    A program that waits for its turn on a busy machine, or for a runner that stands still, is not counted.
    """
    memory_bytes: int = 4 << 30
    result_bytes: int = 64 << 20
    """Encoded size of one returned value."""
    output_bytes: int = 64 << 10
    """Standard output and error kept, each."""


@dataclass(frozen=True, slots=True)
class Source:
    """Arguments given as source text of a tuple; the child evaluates it before the call."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call into the program. `arguments` are plain values or source text."""

    function: str
    arguments: tuple[Any, ...] | Source


@dataclass(frozen=True, slots=True)
class Prepared:
    """Calls into Python programs in the form in which they are sent: made once, used for many jobs."""

    frames: bytes = field(repr=False)
    """One after the other, each as `prepare` makes it."""
    count: int

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True)
class Job:
    """One program and the calls to make into it, in order, in one fresh process."""

    program: str
    calls: tuple[Call, ...] | Prepared
    language: Language = Language.PYTHON
    limits: Limits = Limits()
    libraries: frozenset[str] = frozenset()
    asks: tuple[str, ...] = ()
    """Functions that the program calls and somebody else answers (see `Sandbox.examine`)."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The call returned; `value` is plain data, decoded."""

    value: Any
    size: int = field(default=0, compare=False)
    """Bytes that it took on its way."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The call (or, as the only result, loading the program) raised."""

    type: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A value as it came from a Python child, not decoded yet."""

    payload: bytes

    def value(self) -> Any:
        """The value.

        Raises:
            MalformedError: the child sent something else. In a callback of `stream` it may pass: the job then
                ends as `DIED`.
        """
        return decode(self.payload)


class Ended(StrEnum):
    """How the child ended."""

    FINISHED = "finished"
    STOPPED = "stopped"
    """`on_result` said that no more is needed."""
    TIMED_OUT = "timed_out"
    DIED = "died"
    """Exited, ended by a signal of its own doing, ran out of its memory, or broke the protocol."""
    NOT_LOADED = "not_loaded"
    """The program does not parse, or raised at import."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What one job gave: a result for each call that was answered, and how it ended."""

    ended: Ended
    results: tuple[Returned | Raised, ...]
    detail: str = ""
    """Why it ended so: the signal, the limit, the exception at import."""
    stdout: str = ""
    stderr: str = ""
    cpu_seconds: float = field(default=0.0, compare=False)


class Sandbox(Protocol):
    """Runs jobs. Bounded: `run` waits for a free place. Cancelling the task kills the child's whole group."""

    @property
    def level(self) -> str:
        """`namespaces` or `lite`."""
        ...

    async def run(
        self, job: Job, on_result: Callable[[int, Returned | Raised], bool] | None = None
    ) -> Execution:
        """Executes one job; `on_result(index, result)` sees each result as it comes and may stop by False.

        Raises:
            SandboxError: our machinery failed; what comes from a child is never taken for this.
        """
        ...

    async def stream(self, job: Job, on_result: Callable[[int, Sent | Raised], bool]) -> Execution:
        """As `run`, for Python, with results of any number and size: handed on as they came, not kept.

        Raises:
            SandboxError: our machinery failed.
        """
        ...

    async def examine(
        self, examiner: Job, candidate: Job, on_call: Callable[[Call], None] | None = None
    ) -> tuple[Execution, Execution]:
        """Executes tests that are code against a program, each in a child of its own.

        The examiner's `asks` are functions of the candidate: a call to one is made over there and comes back
        as plain data; `on_call` sees it. Their executions are returned in this order.

        Raises:
            SandboxError: our machinery failed.
        """
        ...

    async def aclose(self) -> None: ...
