"""The connection to a Ray cluster, a grader whose work is done on its nodes, and what a task does there.

Ray places the work on free CPUs and repeats that of a lost node.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, cast

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from triathlon_runner.cluster import ClusterError
from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import (
    Examination,
    Execution,
    Job,
    Raised,
    Sandbox,
    SandboxError,
    Sent,
    TakeResult,
    open_sandbox,
    take_stored,
)

_CONNECT_SECONDS: Final = 10.0
_OPEN_SECONDS: Final = 120.0
_RETRIES: Final = 3
"""How often Ray repeats a task whose node or worker process was lost."""
_CHECK_SECONDS = 20.0
"""Between two checks whether the cluster still has a CPU for the tasks that wait."""


@asynccontextmanager
async def cluster_grader(
    address: str | None, keys: Path | None, report: Callable[[str], object]
) -> AsyncIterator[Grader]:
    """Connects to a cluster and disconnects at the end; see `open_cluster`."""
    settings: dict[str, Any] = {"include_dashboard": False} if address is None else {}
    settings |= {"namespace": "triathlon", "log_to_driver": False, "logging_level": logging.ERROR}
    try:
        await _check_address(address)
        await asyncio.to_thread(ray.init, address, **settings)
    except (OSError, RuntimeError, ValueError) as error:
        raise ClusterError(
            f"no Ray cluster at {address!r} ({error}); see `ray status`; one that asks for a token wants"
            " RAY_AUTH_MODE=token set here, too"
        ) from None
    try:
        yield ClusterGrader(keys, await _check_nodes(keys, report))
    finally:
        await asyncio.to_thread(ray.shutdown)


async def _check_address(address: str | None) -> None:
    """Connects once: Ray itself would look for many minutes for a cluster that is not there."""
    if address in (None, "auto", "local"):
        return
    host, _, port = str(address).rpartition(":")
    if not host or not port.isdecimal():
        raise ClusterError(f"expected --ray-address as host:port or auto, got {address!r}")
    async with asyncio.timeout(_CONNECT_SECONDS):
        _, writer = await asyncio.open_connection(host, int(port))
    writer.close()


async def _check_nodes(keys: Path | None, report: Callable[[str], object]) -> set[str]:
    """Returns the isolation levels of all nodes; a head without CPUs gets no work from Ray."""
    listed = await asyncio.to_thread(ray.nodes)
    nodes = [node for node in listed if node["Alive"] and node["Resources"].get("CPU")]
    levels = await asyncio.gather(*(_level_of(node, keys) for node in nodes))
    if not any(levels):
        raise ClusterError("expected living nodes with CPUs in the Ray cluster, got none; see `ray status`")
    for node, level in zip(nodes, levels, strict=True):
        if level:
            cpus = int(node["Resources"]["CPU"])
            report(f"node {node['NodeManagerAddress']}: {cpus} programs at once, sandbox {level}")
    return {level for level in levels if level}


async def _level_of(node: dict[str, Any], keys: Path | None) -> str:
    """Returns the isolation level of a node's sandbox; empty where the node is lost, though still listed."""
    on_node = NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
    check: Any = ray.remote(answer).options(num_cpus=0, scheduling_strategy=on_node)
    try:
        level, _ = await asyncio.wait_for(check.remote("check", (), keys), _OPEN_SECONDS)
        return str(level)
    except RayTaskError as error:
        reason = _first_line(error.cause)
    except TimeoutError:
        reason = f"no answer within {_OPEN_SECONDS:g} s"
    except RayError:
        return ""
    raise ClusterError(
        f"node {node['NodeManagerAddress']} cannot execute programs: {reason}; run `triathlon doctor`"
        " there, or take it out of the cluster (`ray stop`)"
    )


def _first_line(error: BaseException) -> str:
    """Returns the first line of an error's message; Ray's continue with a traceback."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class ClusterGrader:
    """Implements `Grader` and `Sandbox`: each program is graded whole, each job executed whole, on one node.

    Results behind the last one that is read are dropped, so that executions are equal to those of one
    machine. All methods raise a `SandboxError` where a node's sandbox failed, node after node was lost, or no
    node is left.
    """

    def __init__(self, keys: Path | None, levels: set[str]) -> None:
        """Takes the folder of answer keys on every node, and the isolation levels of all nodes."""
        self._keys = keys
        self._levels = levels
        options = {"num_cpus": 1, "max_retries": _RETRIES, "scheduling_strategy": "SPREAD"}
        self._answer: Any = ray.remote(answer).options(**options)

    @property
    def sandbox(self) -> Sandbox:
        return self

    @property
    def level(self) -> str:
        """The nodes' level; the weakest where they differ."""
        return "lite" if "lite" in self._levels else "namespaces"

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        return cast(Verdict, await self._call("grade", program, problem, inputs))

    async def run(self, job: Job) -> Execution:
        return cast(Execution, await self._call("run", job))

    async def stream(self, job: Job, take: TakeResult) -> Execution:
        """Executes one job to its end and then hands on its results."""
        execution, results = await self._call("stream", job)
        return take_stored(execution, results, take)

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        return cast(Examination, await self._call("examine", examiner, candidate))

    async def aclose(self) -> None:
        """Nothing is open here: Ray ends the workers with the run."""

    async def _call(self, method: str, *arguments: Any) -> Any:
        reference = self._answer.remote(method, arguments, self._keys)
        task = asyncio.ensure_future(reference)
        try:
            while not (await asyncio.wait([task], timeout=_CHECK_SECONDS))[0]:
                if not (await asyncio.to_thread(ray.cluster_resources)).get("CPU"):
                    ray.cancel(reference)
                    raise SandboxError("no node of the cluster is left; the next run tries again")
            level, result = task.result()
        except RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from error
        except RayError as error:
            lost = f"nodes of the cluster were lost under this work {_RETRIES + 1} times"
            raise SandboxError(f"{lost}: {_first_line(error)}") from error
        finally:
            task.cancel()
        self._levels.add(level)  # of nodes that join later, too
        return result


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
