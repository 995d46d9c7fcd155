"""The interface of every sandbox: a program and calls go in, plain values come out.

Expected values and comparisons never reach the process of the program; what it returns is never executed.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, Protocol

from triathlon_runner.errors import InfrastructureError
from triathlon_runner.languages import Language

HASHED_BYTES = 64 << 20
"""Of a longer value only its hash is kept: Mbpp/255 has one of 1 GB."""


class SandboxError(InfrastructureError):
    """The sandbox itself failed, not the program. The unit stays open."""


class MalformedError(ValueError):
    """The bytes are not an encoded value."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may use. CPU time is limited, not real time: the load of the machine must not matter."""

    cpu_seconds: float = 4.0
    """Of all its threads, by the process' own clock."""
    wall_seconds: float = 60.0
    """How long it may sleep or be blocked: time in which it uses less than three hundredths of a core.

    Waiting for a CPU on a busy machine, or for the runner, is not counted.
    """
    memory_bytes: int = 4 << 30
    result_bytes: int = 64 << 20
    """Encoded size of one returned value."""
    output_bytes: int = 64 << 10
    """Bytes of standard output and of standard error that are recorded."""


_FRACTION: Final = re.compile(r"-?\d+(?:/\d+)?")
"""As `str()` writes it: Python would compute `Fraction("1e99999999")` for hours."""
_MOST_BITS: Final = 20_000
"""Of an int that is compared with a decimal number, which takes half a minute for a million digits."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tagged:
    """A value of a named type, reduced to plain data: `Tagged("decimal.Decimal", "1.50")`.

    Decimal numbers and fractions equal any number of their value, as Python has it; NaN equals itself, as in
    all comparisons of results.
    """

    type: str
    value: Any

    def __eq__(self, other: object) -> bool:
        key = self._key()
        if isinstance(other, Tagged):
            return bool(key == other._key())
        is_short = isinstance(other, int) and other.bit_length() <= _MOST_BITS
        is_number = is_short or isinstance(other, float | complex)
        return is_number and isinstance(key, Decimal | Fraction) and key == other

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        """As Python writes such values: `Decimal('1.50')`."""
        return f"{self.type.rpartition('.')[2]}({self.value!r})"

    def _key(self) -> Any:
        """What is compared: a number, else type and data."""
        if isinstance(self.value, str):
            # A program can have sent any text.
            with suppress(ValueError, ArithmeticError):
                if self.type == "decimal.Decimal":
                    number = Decimal(self.value)
                    return (self.type, str(number)) if number.is_nan() else number
                if self.type == "fractions.Fraction" and _FRACTION.fullmatch(self.value):
                    return Fraction(self.value)
        return self.type, self.value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Opaque:
    """A value without an encoding, such as a generator or a function. Equal only to itself."""

    type: str

    def __repr__(self) -> str:
        """As Python writes such values, without a place in memory: `<generator object>`."""
        return f"<{self.type.removeprefix('builtins.')} object>"


@dataclass(frozen=True, slots=True)
class Source:
    """Arguments given as source text of a tuple; the child evaluates it before the call (Python alone)."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call into the program. `arguments` are plain values or source text."""

    function: str
    arguments: tuple[Any, ...] | Source
    named: dict[str, Any] = field(default_factory=dict)
    """Arguments with their names, for Python programs."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Calls into Python programs as the frames in which they are sent: made once, used for many jobs."""

    frames: bytes = field(repr=False)
    count: int

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True)
class Job:
    """One program and the calls to make into it, in order, in one fresh process."""

    program: str
    calls: tuple[Call, ...] | Prepared
    language: Language = Language.PYTHON
    limits: Limits = field(default_factory=Limits)
    libraries: frozenset[str] = frozenset()
    relayed: tuple[str, ...] = ()
    """Functions that the program calls and that another program executes (see `Sandbox.examine`)."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The call returned; `value` is plain data, decoded."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The call (or, as the only result, loading the program) raised."""

    type: str
    message: str
    line: int | None = None
    builtin: str = ""
    """In Python the built-in type that it is or is derived from: ValueError, of a JSONDecodeError."""

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


@dataclass(frozen=True, slots=True)
class Sent:
    """A value as a child sent it, not decoded yet."""

    payload: bytes
    """Of a value that is too large to be held (`HASHED_BYTES`) its SHA-256."""
    size: int
    """Bytes that the child sent."""
    decode: Callable[[bytes], Any]
    """Of the child's language."""

    @property
    def is_hashed(self) -> bool:
        return self.size != len(self.payload)

    def value(self) -> Any:
        """The value.

        Raises:
            MalformedError: the child sent something else, or too much to be decoded. Where `Sandbox.stream`
                hands on the result it need not be caught: the job ends as `DIED`.
        """
        if self.is_hashed:
            raise MalformedError(f"a value of {self.size} bytes, which is too large to be read")
        return self.decode(self.payload)


class Ended(StrEnum):
    """How the child ended."""

    FINISHED = "finished"
    STOPPED = "stopped"
    """The reader of the results stopped the child before its end."""
    TIMED_OUT = "timed_out"
    DIED = "died"
    """Exited, ended by its own signal, reached its memory limit, or sent an invalid message."""
    NOT_LOADED = "not_loaded"
    """The program does not parse, or raised at import."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What one job gave: a result for each call that was answered, and how it ended."""

    ended: Ended
    results: tuple[Returned | Raised, ...]
    detail: str = ""
    """Why: the signal, the limit, or the exception at import."""
    stdout: str = ""
    stderr: str = ""
    cpu_seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Examination:
    """How tests that are code went: the tests' child, the program's child, and the calls between them."""

    examiner: Execution
    candidate: Execution
    calls: tuple[Call, ...]
    """What the tests asked of the program, in order."""


TakeResult = Callable[[int, Sent | Raised], bool]
"""Gets the results of one job as they come, with their number; after False the child is stopped."""


def take_stored(execution: Execution, results: Sequence[Sent | Raised], take: TakeResult) -> Execution:
    """Hands on the results of a job that ended on another machine; returns how it ended for their taker."""
    try:
        whole = all(take(index, result) for index, result in enumerate(results))
    except MalformedError as error:
        return replace(execution, ended=Ended.DIED, detail=malformed(error))
    return execution if whole else replace(execution, ended=Ended.STOPPED, detail="")


def malformed(error: MalformedError) -> str:
    """The detail of an execution whose child sent bytes that are not an encoded value."""
    return f"sent a malformed value: {error}"


class Sandbox(Protocol):
    """Executes jobs, a bounded number at a time. Cancelling the task kills all processes of the job.

    All methods, and all functions that take a sandbox or a grader, raise a `SandboxError` where our machinery
    failed; nothing that a child does causes this.
    """

    @property
    def level(self) -> str:
        """The isolation level: `namespaces` or `lite`."""
        ...

    async def run(self, job: Job) -> Execution:
        """Executes one job to its end and returns all its results, decoded."""
        ...

    async def stream(self, job: Job, take: TakeResult) -> Execution:
        """Executes one job and hands on its results as they come.

        The execution's `results` are empty, or hold the one exception that loading the program raised.
        """
        ...

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        """Executes tests that are code (`examiner`) against a program, each in a child of its own.

        The examiner's `relayed` functions are the candidate's: a call to one is executed in the candidate's
        child, and what it returns comes back as plain data. The examiner's job has no calls.
        """
        ...
