"""A grader and a sandbox whose work is done on the nodes of a cluster."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from triathlon_runner.datasets import Problem
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Execution,
    Job,
    MalformedError,
    Raised,
    Returned,
    Sandbox,
    Sent,
)

if TYPE_CHECKING:
    from triathlon_runner.cluster._tasks import NodeTasks


class ClusterSandbox:
    """Implements `Sandbox`: each job is executed in the sandbox of one node.

    A job runs to its end over there; `on_result` sees its results here, in order, and what comes after the
    result at which it stops is dropped, so that an execution is what it would have been on one machine.
    """

    def __init__(self, tasks: "NodeTasks") -> None:
        """Made by `open_cluster`."""
        self._tasks = tasks

    @property
    def level(self) -> str:
        """The nodes' level; the weakest where they differ."""
        return "lite" if "lite" in self._tasks.levels else "namespaces"

    async def run(
        self, job: Job, on_result: Callable[[int, Returned | Raised], bool] | None = None
    ) -> Execution:
        """Executes one job.

        Raises:
            SandboxError: the node's sandbox failed, or node after node was lost.
        """
        execution: Execution = await self._tasks.call("run", job)
        for index, result in enumerate(execution.results if on_result else ()):
            if on_result is not None and not on_result(index, result):
                return replace(
                    execution, ended=Ended.STOPPED, results=execution.results[: index + 1], detail=""
                )
        return execution

    async def stream(self, job: Job, on_result: Callable[[int, Sent | Raised], bool]) -> Execution:
        """As `run`, with results handed on as they came.

        Raises:
            SandboxError: the node's sandbox failed, or node after node was lost.
        """
        execution, results = await self._tasks.call("stream", job)
        done: Execution = execution
        try:
            for index, result in enumerate(results):
                if not on_result(index, result):
                    return replace(done, ended=Ended.STOPPED, detail="")
        except MalformedError as error:
            return replace(done, ended=Ended.DIED, detail=f"sent a malformed value: {error}")
        return done

    async def examine(
        self, examiner: Job, candidate: Job, on_call: Callable[[Call], None] | None = None
    ) -> tuple[Execution, Execution]:
        """Executes tests that are code against a program.

        Raises:
            SandboxError: the node's sandbox failed, or node after node was lost.
        """
        executions, calls = await self._tasks.call("examine", examiner, candidate)
        for call in calls if on_call else ():
            if on_call is not None:
                on_call(call)
        both: tuple[Execution, Execution] = executions
        return both

    async def aclose(self) -> None:
        """Waits for no work any more; Ray ends the workers with the run."""
        await self._tasks.close()


class ClusterGrader:
    """Implements `Grader`: a program is judged whole, on one node."""

    def __init__(self, tasks: "NodeTasks") -> None:
        """Made by `open_cluster`."""
        self._tasks = tasks
        self._sandbox = ClusterSandbox(tasks)

    @property
    def sandbox(self) -> Sandbox:
        return self._sandbox

    async def judge(
        self, program: str, problem: Problem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Tests a program against the reference.

        Raises:
            SandboxError: the node's sandbox failed, or node after node was lost.
        """
        verdict: Verdict = await self._tasks.call("judge", program, problem, inputs)
        return verdict
