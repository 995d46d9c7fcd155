"""Running solutions on inputs in the sandbox: the result of each input."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from triathlon_runner.datasets import Comparison
from triathlon_runner.grading import agree
from triathlon_runner.sandbox import Call, Ended, Job, Limits, Opaque, Raised, Sandbox, Source
from triathlon_runner.terminal import shortened

_LIMITS: Final = Limits(cpu_seconds=2.0, wall_seconds=60.0, result_bytes=1 << 20)
_MAX_RESTARTS: Final = 3
"""Inputs on which a program may end the process before the rest counts as lost too."""
_SAME: Final = Comparison("typed", tolerance=1e-6)
"""How outputs of two solutions are compared: as EvoEval compares."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one input."""

    kind: Literal["returned", "raised", "endless", "died"]
    value: Any = None
    text: str = ""
    """What was raised, or how it ended."""

    @property
    def usable(self) -> bool:
        """Whether there is a value, and one that can be written down."""
        return self.kind == "returned" and not isinstance(self.value, Opaque) and bool(self._source)

    @property
    def _source(self) -> str:
        """The value as source text; empty for an int of too many digits, and for too deep a nesting."""
        try:
            return repr(self.value)
        except (ValueError, RecursionError):
            return ""

    def __str__(self) -> str:
        if self.kind == "returned":
            return shortened(self._source, 300) or "<what is too large to be written>"
        return f"{self.kind}: {self.text}"


def same(left: Result, right: Result) -> bool:
    """Whether two solutions gave the same on one input, by value or by failing."""
    return left.kind == right.kind and (left.kind != "returned" or agree(_SAME, left.value, right.value))


def differing(
    inputs: Iterable[str], left: Iterable[Result], right: Iterable[Result]
) -> list[tuple[str, Result, Result]]:
    """The inputs on which two solutions do not give the same, with what they give."""
    rows = zip(inputs, left, right, strict=True)
    return [(text, first, second) for text, first, second in rows if not same(first, second)]


async def run_on(sandbox: Sandbox, program: str, entry_point: str, inputs: Sequence[str]) -> list[Result]:
    """One result an input, whatever the program does.

    Raises:
        SandboxError: our machinery failed.
    """
    results: list[Result] = []
    for _ in range(_MAX_RESTARTS):
        calls = tuple(Call(entry_point, Source(text)) for text in inputs[len(results) :])
        if not calls:
            break
        execution = await sandbox.run(Job(program, calls, limits=_LIMITS))
        if execution.ended is Ended.NOT_LOADED:
            fault = str(execution.results[-1]) if execution.results else execution.detail
            return [*results, *(Result("raised", text=fault) for _ in calls)]
        results += [
            Result("raised", text=str(result)[:300])
            if isinstance(result, Raised)
            else Result("returned", result.value)
            for result in execution.results
        ]
        if len(results) < len(inputs):
            timed_out = execution.ended is Ended.TIMED_OUT
            results.append(Result("endless" if timed_out else "died", text=execution.detail))
    return [*results, *(Result("died", text="not tried any more") for _ in inputs[len(results) :])]
