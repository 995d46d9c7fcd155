"""Grading programs on the nodes of a Ray cluster: the extra `ray`.

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

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.errors import UserError
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
async def open_cluster(
    address: str | None = None, *, keys: Path | None = None, report: Callable[[str], object]
) -> AsyncIterator[Grader]:
    """Opens a grader on all nodes of a cluster; without an address, on this machine alone.

    Args:
        address: As `ray start` prints it, `auto` for the cluster that this machine belongs to.
        keys: Folder of answer keys, on every node.
        report: Called with one line about each node.

    Raises:
        UserError: the cluster is not reached, or a node cannot execute anything.
    """
    settings: dict[str, Any] = {"include_dashboard": False} if address is None else {}
    settings |= {"namespace": "triathlon", "log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address not in (None, "auto", "local"):
            await _connect_once(str(address))
        await asyncio.to_thread(ray.init, address, **settings)
    except (OSError, RuntimeError, ValueError) as error:
        raise UserError(
            f"no Ray cluster at {address!r} ({error}); see `ray status`; one that asks for a token wants"
            " RAY_AUTH_MODE=token set here, too"
        ) from None
    try:
        listed = await asyncio.to_thread(ray.nodes)
        # A head without CPUs gets no work from Ray.
        nodes = [node for node in listed if node["Alive"] and node["Resources"].get("CPU")]
        levels = await asyncio.gather(*(_level_of(node, keys, report) for node in nodes))
        if not any(levels):
            raise UserError("expected living nodes with CPUs in the Ray cluster, got none; see `ray status`")
        yield ClusterGrader(keys, {*filter(None, levels)})
    finally:
        await asyncio.to_thread(ray.shutdown)


async def _connect_once(address: str) -> None:
    """Connects: Ray itself would look for many minutes for a cluster that is not there."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise UserError(f"expected --ray-address as host:port or auto, got {address!r}")
    async with asyncio.timeout(_CONNECT_SECONDS):
        _, writer = await asyncio.open_connection(host, int(port))
    writer.close()


async def _level_of(node: dict[str, Any], keys: Path | None, report: Callable[[str], object]) -> str:
    """Returns the isolation level of a node's sandbox; empty where the node is lost, though still listed."""
    on_node = NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
    check: Any = ray.remote(answer).options(num_cpus=0, scheduling_strategy=on_node)
    name = f"node {node['NodeManagerAddress']}"
    try:
        async with asyncio.timeout(_OPEN_SECONDS):
            level, _ = await check.remote("check", (), keys)
    except RayTaskError as error:
        reason = _first_line(error.cause)
    except TimeoutError:
        reason = f"no answer within {_OPEN_SECONDS:g} s"
    except RayError:
        return ""
    else:
        report(f"{name}: {int(node['Resources']['CPU'])} programs at once, sandbox {level}")
        return str(level)
    raise UserError(
        f"{name} cannot execute programs: {reason}; run `triathlon doctor` there, or take it out of the"
        " cluster (`ray stop`)"
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
        self._keys, self._levels = keys, levels
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
    """Returns the isolation level of this node, and the result of a method of its grader or sandbox.

    `keys` is the folder of answer keys on this node; the method `check` does nothing.

    Raises:
        SandboxError: nothing can be executed on this node, or its sandbox failed.
    """
    runner, sandbox, _ = _opened()
    result = runner.run(_do(sandbox, method, arguments, keys))
    return sandbox.level, result  # the level is known once something was executed


@cache
def _opened() -> tuple[asyncio.Runner, Sandbox, object]:
    """Returns the process's event loop and the sandbox that lives in it from task to task.

    The third is the sandbox's context, which would close it if it were collected.
    """
    runner = asyncio.Runner()
    context = open_sandbox("auto", jobs=1)  # Ray starts as many processes as the node has CPUs
    return runner, runner.run(context.__aenter__()), context


@cache
def _grader(keys: Path | None) -> ProgramGrader:
    return ProgramGrader(_opened()[1], keys)


async def _do(sandbox: Sandbox, method: str, arguments: tuple[Any, ...], keys: Path | None) -> Any:
    """Returns the result of a method, as values that can be sent."""
    if method == "grade":
        program, problem, inputs = arguments
        return await _grader(keys).grade(program, problem, inputs=inputs)
    if method == "stream":
        sent: list[Sent | Raised] = []

        def take(_index: int, result: Sent | Raised) -> bool:
            sent.append(result)
            return True

        (job,) = arguments
        return await sandbox.stream(job, take), sent
    if method != "check":
        return await getattr(sandbox, method)(*arguments)
    return None
