"""What a Ray task does on its node: executes programs in a sandbox there, as on one machine."""

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import Examination, Execution, Job, Raised, Sandbox, Sent, open_sandbox

Request = tuple[str, tuple[Any, ...]]
"""A method of `Worker` and its arguments."""


def answer(requests: Sequence[Request], keys: Path | None) -> tuple[str, list[Any]]:
    """Returns the isolation level of this node and the results of the requests, in order.

    Args:
        requests: Answered one after another.
        keys: Folder of answer keys on this node.

    Raises:
        SandboxError: nothing can be executed on this node, or its sandbox failed.
    """
    worker = _worker(keys)
    results = [_runner().run(getattr(worker, method)(*arguments)) for method, arguments in requests]
    return worker.sandbox.level, results


@cache
def _runner() -> asyncio.Runner:
    """The process's event loop: its sandbox lives in it from task to task."""
    return asyncio.Runner()


@cache
def _worker(keys: Path | None) -> "Worker":
    return Worker(keys)


class Worker:
    """The sandbox and the grader of one worker process."""

    def __init__(self, keys: Path | None) -> None:
        """Opens the sandbox, which ends with the process; `keys`: folder of answer keys on this node.

        Raises:
            SandboxError: nothing can be executed on this node.
        """
        self._opened = open_sandbox("auto", jobs=1)  # Ray starts as many processes as the node has CPUs
        self.sandbox: Sandbox = _runner().run(self._opened.__aenter__())
        self._grader = ProgramGrader(self.sandbox, keys)

    async def grade(self, program: str, problem: FunctionProblem, inputs: Literal["base", "all"]) -> Verdict:
        """As `Grader.grade`."""
        return await self._grader.grade(program, problem, inputs=inputs)

    async def run(self, job: Job) -> Execution:
        """As `Sandbox.run`."""
        return await self.sandbox.run(job)

    async def stream(self, job: Job) -> tuple[Execution, list[Sent | Raised]]:
        """As `Sandbox.stream`, to the end: the execution and all results."""
        async with self.sandbox.stream(job) as stream:
            results = [result async for _, result in stream]
        return stream.execution, results

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        """As `Sandbox.examine`."""
        return await self.sandbox.examine(examiner, candidate)
