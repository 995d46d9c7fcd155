"""The truths that REval's own program has, by a model of its tracer: `@reval-truths` grades with them.

REval's code is not here. Its tracer was described by people who ran it, and this is that description: a
return event counts as a step, the next line is that of the next step on another line, and the state after a
line is what the next step sees, in whatever function that is. So where a line calls a function, the next
step is in there. `benchmarks/runtime_truth.py` compares the model with ours and with what was counted.
"""

import itertools
from collections.abc import Sequence
from typing import Any, Final

from triathlon_runner.runtime._check import run_calls
from triathlon_runner.runtime._questions import (
    NO_VALUE,
    InputQuestions,
    ProgramQuestions,
    StatementQuestion,
    Value,
)
from triathlon_runner.runtime._trace import NOT_EXECUTED
from triathlon_runner.sandbox import Call, Returned, Sandbox, SandboxError

REVAL_RULES: Final = 1
"""Raise it whenever the model gives another truth: part of the hash `graded`."""


async def with_reval_truths(sandbox: Sandbox, program: ProgramQuestions) -> ProgramQuestions:
    """A program's questions with REval's truths of states and paths in the place of ours.

    Raises:
        SandboxError: the sandbox itself failed, or the program did not run to its end.
    """
    variables = sorted({one.variable for asked in program.inputs for one in asked.statements})
    stored = [name.replace("self.__", f"self._{program.entry_point}__") for name in variables]
    calls = [Call("events", (program.program, program.run_of(asked), stored)) for asked in program.inputs]
    results = await run_calls(
        sandbox, "next_event", calls, frozenset(program.libraries), cpu_seconds=(10.0, 5.0)
    )
    inputs = []
    for asked, result in zip(program.inputs, results, strict=True):
        if not isinstance(result, Returned):
            raise SandboxError(f"{program.task_id}#{asked.index}: not traced as REval does: {result}")
        inputs.append(_answered(asked, variables, list(result.value)))
    return program.model_copy(update={"inputs": tuple(inputs)})


def _answered(asked: InputQuestions, variables: Sequence[str], steps: Sequence[Any]) -> InputQuestions:
    statements = tuple(
        _statement(statement, variables.index(statement.variable), steps) for statement in asked.statements
    )
    return asked.model_copy(update={"statements": statements})


def _statement(statement: StatementQuestion, number: int, steps: Sequence[Any]) -> StatementQuestion:
    states = _states_after(statement.line, number, steps)
    return statement.model_copy(
        update={
            "next_lines": tuple(sorted(_next_lines(statement.line, steps))),
            # Where no value was seen at all, the right answer is Nil, as it is for an empty tuple.
            "states": states if any(value != NO_VALUE for value in states) else (),
        }
    )


def _next_lines(line: int, steps: Sequence[Any]) -> set[int]:
    lines = [step[0] for step in steps]
    after = {
        next((later for later in lines[place + 1 :] if later != line), NOT_EXECUTED)
        for place, executed in enumerate(lines)
        if executed == line
    }
    return after or {NOT_EXECUTED}


def _states_after(line: int, number: int, steps: Sequence[Any]) -> tuple[Value, ...]:
    seen = [after[1][number] for step, after in itertools.pairwise(steps) if step[0] == line]
    values = (Value(type=of[0], text=of[1], literal=of[2]) if of else NO_VALUE for of in seen)
    return tuple(dict.fromkeys(values))
