"""A grader and a sandbox whose work is done on the nodes of a cluster."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal, cast

from triathlon_runner.cluster._tasks import NodeTasks
from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import Examination, Execution, Job, Results, Sandbox, StoredResults


class ClusterSandbox:
    """Implements `Sandbox`: each job is executed to its end in the sandbox of one node.

    Results behind the last one that is read are dropped, so that executions are equal to those of one
    machine. All methods raise a `SandboxError` where a node's sandbox failed, or node after node was lost.
    """

    def __init__(self, tasks: NodeTasks) -> None:
        self._tasks = tasks

    @property
    def level(self) -> str:
        """The nodes' level; the weakest where they differ."""
        return "lite" if "lite" in self._tasks.levels else "namespaces"

    async def run(self, job: Job) -> Execution:
        """Executes one job."""
        return cast(Execution, await self._tasks.call("run", job))

    @asynccontextmanager
    async def stream(self, job: Job) -> AsyncIterator[Results]:
        """Executes one job to its end and then hands on its results."""
        execution, results = await self._tasks.call("stream", job)
        async with StoredResults(execution, results) as stored:
            yield stored

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        """Executes tests that are code against a program."""
        return cast(Examination, await self._tasks.call("examine", examiner, candidate))

    async def aclose(self) -> None:
        """Stops waiting for tasks; Ray ends the workers with the run."""
        await self._tasks.close()


class ClusterGrader:
    """Implements `Grader`: a program is graded whole, on one node."""

    def __init__(self, tasks: NodeTasks) -> None:
        self._tasks = tasks
        self.sandbox: Sandbox = ClusterSandbox(tasks)

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Tests a program against the reference; see `ClusterSandbox` for errors."""
        return cast(Verdict, await self._tasks.call("grade", program, problem, inputs))
