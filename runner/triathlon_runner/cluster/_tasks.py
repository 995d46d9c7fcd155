"""A grader whose work is done on the nodes: Ray places it on free CPUs and repeats that of a lost node."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, cast

import ray
from ray.exceptions import RayError, RayTaskError

from triathlon_runner.cluster._worker import answer
from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import (
    Examination,
    Execution,
    Job,
    Results,
    Sandbox,
    SandboxError,
    StoredResults,
)

_RETRIES = 3
"""How often Ray repeats a task whose node or worker process was lost."""
_CHECK_SECONDS = 20.0
"""Between two checks whether the cluster still has a CPU for the tasks that wait."""


class NodeTasks:
    """Sends each request to some node as a task, and returns its result."""

    def __init__(self, keys: Path | None, levels: set[str]) -> None:
        """Takes the folder of answer keys on every node, and the isolation levels of all nodes."""
        self._keys = keys
        self.levels = levels
        """Levels of nodes that join later are added."""
        options = {"num_cpus": 1, "max_retries": _RETRIES, "scheduling_strategy": "SPREAD"}
        self._answer: Any = ray.remote(answer).options(**options)

    async def call(self, method: str, *arguments: Any) -> Any:
        """Returns the result of a method of the sandbox or grader of some node.

        Raises:
            SandboxError: the node's sandbox failed, node after node was lost, or no node is left.
        """
        try:
            level, result = await self._wait(self._answer.remote(method, arguments, self._keys))
        except RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from error
        except RayError as error:
            lost = f"nodes of the cluster were lost under this work {_RETRIES + 1} times"
            raise SandboxError(f"{lost}: {first_line(error)}") from error
        self.levels.add(level)
        return result

    async def _wait(self, reference: Any) -> Any:
        """Returns the result of a task."""
        task = asyncio.ensure_future(reference)
        try:
            while not (await asyncio.wait([task], timeout=_CHECK_SECONDS))[0]:
                if not (await asyncio.to_thread(ray.cluster_resources)).get("CPU"):
                    ray.cancel(reference)
                    raise SandboxError("no node of the cluster is left; the next run tries again")
            return task.result()
        finally:
            task.cancel()


def first_line(error: BaseException) -> str:
    """Returns the first line of an error's message; Ray's continue with a traceback."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


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
        """Nothing is open here: Ray ends the workers with the run."""


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
