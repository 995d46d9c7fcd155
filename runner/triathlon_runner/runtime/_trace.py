"""The trace of one run: its steps, and what can be read from them; and the truths that REval's tracer has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Literal

from triathlon_runner.runtime._questions import NO_VALUE, ProgramQuestions, StatementQuestion, Value
from triathlon_runner.runtime._sandboxed import run_calls
from triathlon_runner.sandbox import Call, Execution, Returned, Sandbox, SandboxError

NOT_EXECUTED: Final = -1
"""The successor of a line that is not executed, and of the last one (REval's own convention)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One execution of a statement, or of a lambda or generator expression on another line."""

    line: int
    before: Mapping[str, Value]
    """Local variables, and attributes of `self` as `self.name`; none where an expression is executed."""
    after: Mapping[str, Value]
    """None of them where the end of the statement was not recorded."""
    watched: Mapping[str, Value]
    """Values of the expressions that were asked for, after the statement."""


@dataclass(frozen=True)
class Trace:
    """All that was recorded of one run."""

    outcome: Literal["returned", "raised", "limit", "untraceable", "lost"]
    """`lost`: the program ended its process, ran out of time, or changed the record."""
    error: str = ""
    """The exception, the limit that was hit, how the program escaped the tracer, or why the trace is lost."""
    result: Value | None = None
    """None where the run gave nothing, or nothing that is a variable."""
    steps: tuple[Step, ...] = ()

    @cached_property
    def _executions(self) -> Mapping[int, list[tuple[Step, Step | None]]]:
        executions: dict[int, list[tuple[Step, Step | None]]] = {}
        for step, following in zip(self.steps, (*self.steps[1:], None), strict=False):
            executions.setdefault(step.line, []).append((step, following))
        return executions

    def executed(self, line: int) -> bool:
        return line in self._executions

    def at(self, line: int) -> Sequence[tuple[Step, Step | None]]:
        """The executions of a line in order, each with the step that followed; None where none did."""
        return self._executions.get(line, ())

    def successors(self, line: int) -> frozenset[int]:
        """The lines that were begun next; `NOT_EXECUTED` where nothing was, or the line never ran."""
        following = {step.line if step else NOT_EXECUTED for _, step in self.at(line)}
        return frozenset(following or {NOT_EXECUTED})

    def observed(self, line: int, variable: str) -> tuple[Value, ...]:
        """The different values of a variable after the line, in order of appearance.

        Any watched expression; without a watch the local variables and attributes of `self`.
        """
        return _different(step.watched.get(variable) or step.after.get(variable) for step, _ in self.at(line))

    def values_at_next_step(self, line: int, variable: str) -> tuple[Value, ...]:
        """The values of a name at the step that followed: how REval reads a variable of a called function."""
        return _different(step.before.get(variable) for _, step in self.at(line) if step)


def _different(values: Iterable[Value | None]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(value for value in values if value is not None))


def read_trace(plain: Any, watches: Mapping[int, list[str]]) -> Trace:
    """The trace in what the tracer returned; a lost one where the program has tampered with that."""
    try:
        values = [Value(type=kind, text=text, literal=literal) for kind, text, literal in plain["values"]]
        snapshots = [{name: values[number] for name, number in row.items()} for row in plain["snapshots"]]
        steps = tuple(
            Step(
                line=int(line),
                before=snapshots[before] if before >= 0 else {},
                after=snapshots[after] if after >= 0 else {},
                watched={
                    text: values[number]
                    for text, number in zip(watches.get(line, ()), watched, strict=False)
                    if number >= 0
                },
            )
            for line, before, after, watched in plain["steps"]
        )
        result = values[plain["result"]] if plain["result"] >= 0 else None
        return Trace(plain["outcome"], plain["error"], result, steps)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return Trace("lost", f"the tracer's answer is not a trace ({type(error).__name__}: {error})")


async def trace_runs(
    sandbox: Sandbox,
    program: ProgramQuestions,
    watches: Mapping[int, list[str]],
    *,
    seed: int = 0,
) -> list[Trace]:
    """Traces the inputs of a program in one child, each with a fresh program and seeded generators.

    An input that ends the child is lost; those after it are traced in another child. `watches` are the
    expressions to read after a line.
    """
    calls = [
        Call("trace", (program.program, program.run_of(asked), dict(watches), seed))
        for asked in program.inputs
    ]
    libraries = frozenset(program.libraries)
    traces = []
    for result in await run_calls(sandbox, "tracer", calls, libraries, cpu_seconds=(10.0, 2.0)):
        if isinstance(result, Returned):
            traces.append(read_trace(result.value, watches))
        else:
            ended = isinstance(result, Execution) and (result.detail or result.ended.value)
            traces.append(Trace("lost", ended or str(result)))
    return traces


# By a model of the tracer of REval's authors

REVAL_RULES: Final = 1
"""Raise it whenever the model gives another truth: part of the hash `graded`."""


async def with_reval_truths(sandbox: Sandbox, program: ProgramQuestions) -> ProgramQuestions:
    """A program's questions with REval's truths of states and paths in the place of ours.

    REval's code is not here. Its tracer was described by people who ran it, and this is that description: a
    return event counts as a step, the next line is that of the next step on another line, and the state after
    a line is what the next step sees, in whatever function that is. So where a line calls a function, the
    next step is in there. `benchmarks/runtime_truth.py` compares the model with ours and with what was
    counted.

    Raises:
        SandboxError: the sandbox itself failed, or the program did not run to its end.
    """
    variables = sorted({one.variable for asked in program.inputs for one in asked.statements})
    stored = [name.replace("self.__", f"self._{program.entry_point}__") for name in variables]
    calls = [Call("events", (program.program, program.run_of(asked), stored)) for asked in program.inputs]
    results = await run_calls(sandbox, "tracer", calls, frozenset(program.libraries), cpu_seconds=(10.0, 5.0))
    inputs = []
    for asked, result in zip(program.inputs, results, strict=True):
        if not isinstance(result, Returned):
            raise SandboxError(f"{program.task_id}#{asked.index}: not traced as REval does: {result}")
        steps = list(result.value)
        statements = [
            _with_reval_truth(one, variables.index(one.variable), steps) for one in asked.statements
        ]
        inputs.append(asked.model_copy(update={"statements": tuple(statements)}))
    return program.model_copy(update={"inputs": tuple(inputs)})


def _with_reval_truth(statement: StatementQuestion, number: int, steps: Sequence[Any]) -> StatementQuestion:
    """A statement with the truth of the variable of this number."""
    lines = [step[0] for step in steps]
    after = {
        next((later for later in lines[place + 1 :] if later != line), NOT_EXECUTED)
        for place, line in enumerate(lines)
        if line == statement.line
    }
    seen = [following[1][number] for step, following in pairwise(steps) if step[0] == statement.line]
    states = tuple(
        dict.fromkeys(Value(type=of[0], text=of[1], literal=of[2]) if of else NO_VALUE for of in seen)
    )
    return statement.model_copy(
        update={
            "next_lines": tuple(sorted(after or {NOT_EXECUTED})),
            # Where no value was seen at all, the right answer is Nil, as it is for an empty tuple.
            "states": states if any(value != NO_VALUE for value in states) else (),
        }
    )
