"""What a Ray task does on its node. Nothing that a program does crosses but what the sandbox lets through."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
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
    """The isolation level of this node and the results of the requests, in order.

    Args:
        requests: Answered one after another.
        keys: Folder of answer keys on this node.

    Raises:
        SandboxError: nothing can be executed on this node, or its sandbox failed.
    """
    return _runner().run(_answer(requests, keys))


async def _answer(requests: Sequence[Request], keys: Path | None) -> tuple[str, list[Any]]:
    worker = _worker(keys)
    await worker.open()
    return worker.sandbox.level, [await getattr(worker, method)(*arguments) for method, arguments in requests]


@cache
def _runner() -> asyncio.Runner:
    """One event loop a process: the sandbox lives in it from task to task."""
    return asyncio.Runner()


@cache
def _worker(keys: Path | None) -> "Worker":
    return Worker(keys)


class Worker:
    """One sandbox and one grader in a worker process of Ray. All three end with the run."""

    sandbox: Sandbox
    grader: ProgramGrader

    def __init__(self, keys: Path | None) -> None:
        """`keys`: folder of answer keys on this node."""
        self._keys = keys
        self._stack = AsyncExitStack()
        self._is_open = False

    async def open(self) -> None:
        """Opens the sandbox, for one program at a time: Ray starts as many workers as the node has CPUs.

        Raises:
            SandboxError: nothing can be executed on this node.
        """
        if not self._is_open:
            self.sandbox = await self._stack.enter_async_context(open_sandbox("auto", jobs=1))
            self.grader = ProgramGrader(self.sandbox, self._keys)
            self._is_open = True

    async def judge(self, program: str, problem: FunctionProblem, inputs: Literal["base", "all"]) -> Verdict:
        """As `Grader.judge`."""
        return await self.grader.judge(program, problem, inputs=inputs)

    async def run(self, job: Job) -> Execution:
        """As `Sandbox.run`, to the end."""
        return await self.sandbox.run(job)

    async def stream(self, job: Job) -> tuple[Execution, list[Sent | Raised]]:
        """As `Sandbox.stream`, to the end: the execution and all results."""
        async with self.sandbox.stream(job) as stream:
            results = [result async for _, result in stream]
        return stream.execution, results

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        """As `Sandbox.examine`."""
        return await self.sandbox.examine(examiner, candidate)
