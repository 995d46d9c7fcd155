"""The trace of one run: its steps, and what can be read from them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from triathlon_runner.runtime._sandboxed import source
from triathlon_runner.sandbox import Call, Ended, Job, Limits, Raised, Sandbox, SandboxError

NOT_EXECUTED: Final = -1
"""The successor of a line that is not executed, and of the last one (REval's own convention)."""


@dataclass(frozen=True, slots=True)
class Untraced:
    """Why a run has no trace: the program ended its process, ran out of time, or changed the record."""

    reason: str


@dataclass(frozen=True, slots=True)
class Observed:
    """A value that a variable had, as text."""

    type: str
    text: str
    """A literal; where `reason` says why it has none, its `repr`, or nothing."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One execution of a statement."""

    line: int
    frame: int
    """-1 for a lambda or generator expression."""
    before: Mapping[str, Observed]
    """Local variables, and attributes of `self` as `self.name`."""
    after: Mapping[str, Observed] | None
    """None where the end of the statement was not recorded."""
    watched: Mapping[str, Observed]
    """Values of the expressions that were asked for, after the statement."""


@dataclass(frozen=True, slots=True)
class TraceLimits:
    steps: int = 50_000
    text: int = 20_000
    """Characters of one value."""
    characters: int = 20_000_000
    """Characters of all different values."""


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """A call: its arguments are the source of a tuple."""

    function: str
    arguments: str

    def plain(self) -> dict[str, str]:
        return {"function": self.function, "arguments": self.arguments}


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A unittest method; set-up runs before the trace begins."""

    module: str
    class_name: str
    method: str
    body: str
    """Its statements as they are shown, assertions without `self.`: this is what runs."""

    def plain(self) -> dict[str, str]:
        return {"test": self.module, "class": self.class_name, "method": self.method, "body": self.body}


Run = FunctionRun | CaseRun


@dataclass(frozen=True)
class Trace:
    """All that was recorded of one run."""

    outcome: Literal["returned", "raised", "limit", "untraceable"]
    error: str
    """The exception, the limit that was hit, or how the program escaped the tracer."""
    result: Observed | None
    """None where the run gave nothing, or nothing that is a variable."""
    steps: tuple[Step, ...]

    @cached_property
    def _places(self) -> Mapping[int, tuple[int, ...]]:
        places: dict[int, list[int]] = {}
        for number, step in enumerate(self.steps):
            places.setdefault(step.line, []).append(number)
        return {line: tuple(numbers) for line, numbers in places.items()}

    def executed(self, line: int) -> bool:
        return line in self._places

    def at(self, line: int) -> Iterator[Step]:
        """The executions of a line, in order."""
        return (self.steps[number] for number in self._places.get(line, ()))

    def successors(self, line: int) -> frozenset[int]:
        """The lines that were begun next; `NOT_EXECUTED` where nothing was, or the line never ran."""
        after = [number + 1 for number in self._places.get(line, ())]
        if not after:
            return frozenset({NOT_EXECUTED})
        last = len(self.steps)
        return frozenset(self.steps[place].line if place < last else NOT_EXECUTED for place in after)

    def observed(self, line: int, variable: str) -> tuple[Observed, ...]:
        """The different values of a variable after the line, in order of appearance.

        Any watched expression; without a watch the local variables and attributes of `self`.
        """
        seen = [step.watched.get(variable) or (step.after or {}).get(variable) for step in self.at(line)]
        return tuple(dict.fromkeys(value for value in seen if value is not None))

    def values_at_next_step(self, line: int, variable: str) -> tuple[Observed, ...]:
        """The values of a name at the step that followed: how REval reads a variable of a called function."""
        places = [number + 1 for number in self._places.get(line, ()) if number + 1 < len(self.steps)]
        seen = [
            self.steps[place].before[variable] for place in places if variable in self.steps[place].before
        ]
        return tuple(dict.fromkeys(seen))


def read_trace(plain: Any, watches: Mapping[int, list[str]]) -> Trace | Untraced:
    """The trace in what the tracer returned; `Untraced` where the program has tampered with that."""
    try:
        return _read(plain, watches)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return Untraced(f"the tracer's answer is not a trace ({type(error).__name__}: {error})")


def _read(plain: Mapping[str, Any], watches: Mapping[int, list[str]]) -> Trace:
    values = [
        Observed(str(kind), str(text), str(reason))
        for kind, text, reason in zip(plain["types"], plain["texts"], plain["reasons"], strict=True)
    ]
    snapshots = [{name: values[number] for name, number in row.items()} for row in plain["snapshots"]]
    columns = (plain[name] for name in ("lines", "frames", "before", "after", "watched"))
    steps = tuple(
        Step(
            line=line,
            frame=frame,
            before=snapshots[before] if before >= 0 else {},
            after=snapshots[after] if after >= 0 else None,
            watched={
                text: values[number]
                for text, number in zip(watches.get(line, ()), watched, strict=False)
                if number >= 0
            },
        )
        for line, frame, before, after, watched in zip(*columns, strict=True)
    )
    result = plain["result"]
    return Trace(plain["outcome"], plain["error"], values[result] if result >= 0 else None, steps)


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """One run to trace and what to look at in it."""

    run: Run
    watches: Mapping[int, list[str]]


async def trace_runs(
    sandbox: Sandbox,
    program: str,
    requests: Sequence[TraceRequest],
    *,
    libraries: frozenset[str] = frozenset(),
    limits: TraceLimits = TraceLimits(),
    seed: int = 0,
) -> list[Trace | Untraced]:
    """Traces the runs of one program in one child, each with a fresh program and seeded generators.

    A run that ends the child is `Untraced`; the runs after it are traced in another child.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    done: list[Trace | Untraced] = []
    while len(done) < len(requests):
        rest = requests[len(done) :]
        execution = await sandbox.run(_job(program, rest, libraries, limits, seed))
        if execution.ended is Ended.NOT_LOADED:
            raise SandboxError(f"the tracer could not be loaded: {execution.results} {execution.detail}")
        for request, result in zip(rest, execution.results, strict=False):
            if isinstance(result, Raised):
                done.append(Untraced(str(result)))
            else:
                done.append(read_trace(result.value, request.watches))
        if len(execution.results) < len(rest):
            done.append(Untraced(execution.detail or execution.ended.value))
    return done


def _job(
    program: str,
    requests: Sequence[TraceRequest],
    libraries: frozenset[str],
    limits: TraceLimits,
    seed: int,
) -> Job:
    bounds = {"steps": limits.steps, "text": limits.text, "characters": limits.characters}
    calls = tuple(
        Call("trace", (program, request.run.plain(), dict(request.watches), bounds, seed))
        for request in requests
    )
    return Job(
        program=source("tracer"),
        calls=calls,
        limits=Limits(cpu_seconds=10.0 + 2.0 * len(calls)),
        libraries=libraries,
    )
