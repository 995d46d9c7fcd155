"""Running solutions on inputs in the sandbox: the result of each input."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from triathlon_runner.datasets import Comparison
from triathlon_runner.grading import agree
from triathlon_runner.sandbox import Call, Ended, Job, Limits, Opaque, Raised, Returned, Sandbox, Source
from triathlon_runner.terminal import shortened

_LIMITS: Final = Limits(cpu_seconds=2.0, wall_seconds=60.0, result_bytes=1 << 20)
_MAX_RESTARTS: Final = 3
"""Inputs on which a program may end the process before the rest counts as lost too."""
SAME: Final = Comparison("typed", tolerance=1e-6)
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
        return (
            self.kind == "returned" and not isinstance(self.value, Opaque) and _text(self.value) is not None
        )

    def __str__(self) -> str:
        return _short(self.value) if self.kind == "returned" else f"{self.kind} {self.text}".strip()


def _text(value: Any) -> str | None:
    """The value as source text; None for an int of too many digits for `repr`, and too deep a nesting."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return None


def _short(value: Any) -> str:
    text = _text(value)
    return "<what is too large to be written>" if text is None else shortened(text, 300)


def same(left: Result, right: Result) -> bool:
    """Whether two solutions gave the same on one input, by value or by failing."""
    if left.kind != right.kind:
        return False
    return agree(SAME, left.value, right.value) if left.kind == "returned" else True


def differing(
    inputs: Iterable[str], left: Iterable[Result], right: Iterable[Result]
) -> list[tuple[str, Result, Result]]:
    """The inputs on which two solutions do not give the same, with what they give."""
    rows = zip(inputs, left, right, strict=True)
    return [(text, first, second) for text, first, second in rows if not same(first, second)]


async def run_on(
    sandbox: Sandbox,
    program: str,
    entry_point: str,
    inputs: Sequence[str],
    *,
    limits: Limits = _LIMITS,
) -> list[Result]:
    """One result an input, whatever the program does.

    Raises:
        SandboxError: our machinery failed.
    """
    results: list[Result] = []
    for _ in range(_MAX_RESTARTS):
        calls = tuple(Call(entry_point, Source(text)) for text in inputs[len(results) :])
        if not calls:
            return results
        execution = await sandbox.run(Job(program, calls, limits=limits))
        if execution.ended is Ended.NOT_LOADED:
            fault = execution.results[-1] if execution.results else None
            text = str(fault) if isinstance(fault, Raised) else execution.detail
            return [*results, *(Result("raised", text=text) for _ in calls)]
        results += [_read(result) for result in execution.results]
        if len(results) < len(inputs):
            kind: Literal["endless", "died"] = "endless" if execution.ended is Ended.TIMED_OUT else "died"
            results.append(Result(kind, text=execution.detail))
    return [*results, *(Result("died", text="not tried any more") for _ in inputs[len(results) :])]


def _read(result: Returned | Raised) -> Result:
    if isinstance(result, Raised):
        return Result("raised", text=str(result)[:300])
    return Result("returned", result.value)
