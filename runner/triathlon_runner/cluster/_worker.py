"""What lives on each node: a sandbox of its own, with its own answer keys."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.datasets import Problem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import (
    Examination,
    Execution,
    Job,
    Raised,
    Sandbox,
    SandboxError,
    Sent,
    open_sandbox,
)


class NodeWorker:
    """An actor. Nothing that a program does crosses but what the sandbox lets through."""

    def __init__(self, jobs: int, keys: Path | None) -> None:
        """`keys`: a folder on the node, as on every other."""
        self._jobs, self._keys = jobs, keys
        self._stack = AsyncExitStack()
        self._sandbox: Sandbox | None = None
        self._grader: ProgramGrader | None = None

    async def open(self) -> str:
        """Opens the sandbox and returns its level.

        Raises:
            SandboxError: nothing can be executed on this node.
        """
        self._sandbox = await self._stack.enter_async_context(open_sandbox("auto", self._jobs))
        self._grader = ProgramGrader(self._sandbox, self._keys)
        return self._sandbox.level

    async def close(self) -> None:
        """Ends every child."""
        await self._stack.aclose()

    async def work(self, pieces: Sequence[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """Several methods with their arguments; where our machinery fails one, its place holds the error."""
        return await asyncio.gather(*(self._piece(method, arguments) for method, arguments in pieces))

    async def _piece(self, method: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return await getattr(self, method)(*arguments)
        except SandboxError as error:
            return error

    async def judge(self, program: str, problem: Problem, inputs: Literal["base", "all"]) -> Verdict:
        """As `Grader.judge`."""
        assert self._grader is not None, "open() comes first"
        return await self._grader.judge(program, problem, inputs=inputs)

    async def run(self, job: Job) -> Execution:
        """As `Sandbox.run`, to the end."""
        return await self._opened.run(job)

    async def stream(self, job: Job) -> tuple[Execution, list[Sent | Raised]]:
        """As `Sandbox.stream`, to the end."""
        async with self._opened.stream(job) as stream:
            results = [result async for _, result in stream]
        return stream.execution, results

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        """As `Sandbox.examine`."""
        return await self._opened.examine(examiner, candidate)

    @property
    def _opened(self) -> Sandbox:
        assert self._sandbox is not None, "open() comes first"
        return self._sandbox
