"""What a Ray task does on its node: executes programs in a sandbox there, as on one machine."""

import asyncio
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import Execution, Job, Raised, Sandbox, Sent, open_sandbox


def answer(method: str, arguments: tuple[Any, ...], keys: Path | None) -> tuple[str, Any]:
    """Returns the isolation level of this node, and the result of a method of `_methods`.

    `keys` is the folder of answer keys on this node.

    Raises:
        SandboxError: nothing can be executed on this node, or its sandbox failed.
    """
    result = _runner().run(_methods(keys)[method](*arguments))
    return _opened()[0].level, result


@cache
def _runner() -> asyncio.Runner:
    """The process's event loop: its sandbox lives in it from task to task, and ends with the process."""
    return asyncio.Runner()


@cache
def _opened() -> tuple[Sandbox, object]:
    """Returns the process's sandbox, and its context, which would close the sandbox if it were collected."""
    context = open_sandbox("auto", jobs=1)  # Ray starts as many processes as the node has CPUs
    return _runner().run(context.__aenter__()), context


@cache
def _methods(keys: Path | None) -> dict[str, Callable[..., Any]]:
    """Returns the methods of the sandbox and of a grader on it, those with values that can be sent."""
    sandbox, _ = _opened()
    grader = ProgramGrader(sandbox, keys)

    async def grade(program: str, problem: FunctionProblem, inputs: Literal["base", "all"]) -> Verdict:
        return await grader.grade(program, problem, inputs=inputs)

    async def stream(job: Job) -> tuple[Execution, list[Sent | Raised]]:
        sent: list[Sent | Raised] = []

        def take(_index: int, result: Sent | Raised) -> bool:
            sent.append(result)
            return True

        return await sandbox.stream(job, take), sent

    async def check() -> None:
        """Nothing to do: the sandbox is open."""

    return {"run": sandbox.run, "examine": sandbox.examine, "stream": stream, "grade": grade, "check": check}
