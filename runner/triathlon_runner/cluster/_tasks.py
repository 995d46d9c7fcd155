"""Requests to the nodes as Ray tasks: Ray places them on free CPUs and repeats those of a lost node."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from triathlon_runner.cluster._worker import Request, answer
from triathlon_runner.sandbox import SandboxError

_RETRIES = 3
"""How often Ray repeats a task whose node or worker process was lost."""
_LARGEST_CHUNK = 16
"""Requests in one task, at most: a task costs about a millisecond, as may a request."""
_CHECK_SECONDS = 20.0
"""Between two checks whether the cluster still has a CPU for the tasks that wait."""

_Pending = tuple[Request, asyncio.Future[Any]]


class NodeTasks:
    """Sends the requests of one moment in chunks and returns each its own result."""

    def __init__(self, keys: Path | None, cpus: int, levels: set[str]) -> None:
        """Takes the folder of answer keys on every node, and the CPUs and isolation levels of all nodes."""
        self._keys, self._cpus = keys, cpus
        self.levels = levels
        """Levels of nodes that join later are added."""
        options = {"num_cpus": 1, "max_retries": _RETRIES, "scheduling_strategy": "SPREAD"}
        self._answer: Any = ray.remote(answer).options(**options)
        self._waiting: list[_Pending] = []
        self._running: set[asyncio.Task[None]] = set()

    async def call(self, method: str, *arguments: Any) -> Any:
        """Returns the result of a method of the sandbox or grader of some node.

        Raises:
            SandboxError: the node's sandbox failed, node after node was lost, or no node is left.
        """
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._send_waiting)
        result: asyncio.Future[Any] = loop.create_future()
        self._waiting.append(((method, arguments), result))
        return await result

    async def close(self) -> None:
        """Stops waiting for tasks."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _send_waiting(self) -> None:
        pending = [item for item in self._waiting if not item[1].done()]  # done: its caller was cancelled
        self._waiting.clear()
        size = chunk_size(len(pending), self._cpus)
        for start in range(0, len(pending), size):
            task = asyncio.create_task(self._execute(pending[start : start + size]))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _execute(self, chunk: Sequence[_Pending]) -> None:
        """Executes a chunk of requests; if it fails, each request alone, so that only the bad one fails."""
        requests = [request for request, _ in chunk]
        try:
            level, results = await self._wait(self._answer.remote(requests, self._keys))
        except (RayError, SandboxError) as error:
            if len(chunk) > 1:
                await asyncio.gather(*(self._execute([item]) for item in chunk))
            elif not (result := chunk[0][1]).done():
                result.set_exception(as_sandbox_error(error))
            return
        self.levels.add(level)
        for (_, result), value in zip(chunk, results, strict=True):
            if not result.done():
                result.set_result(value)

    async def _wait(self, reference: Any) -> Any:
        """Returns the result of a task.

        Raises:
            SandboxError: the cluster has no CPU any more, so that Ray would wait for ever.
        """
        task = asyncio.ensure_future(reference)
        while not (await asyncio.wait([task], timeout=_CHECK_SECONDS))[0]:
            if not (await asyncio.to_thread(ray.cluster_resources)).get("CPU"):
                ray.cancel(reference)
                raise SandboxError("no node of the cluster is left; the next run tries again")
        return task.result()


def chunk_size(requests: int, cpus: int) -> int:
    """Returns the number of requests in one task: so small that each CPU of the cluster gets its share."""
    return max(1, min(-(-requests // max(1, cpus)), _LARGEST_CHUNK))


def as_sandbox_error(error: Exception) -> Exception:
    """Returns a node's own error as it is, a lost node as a `SandboxError`."""
    if isinstance(error, SandboxError):
        return error
    if isinstance(error, RayTaskError):
        return error.cause if isinstance(error.cause, Exception) else error
    lost = f"nodes of the cluster were lost under this work {_RETRIES + 1} times"
    return SandboxError(f"{lost}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """Returns the first line of an error's message; Ray's continue with a traceback."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
