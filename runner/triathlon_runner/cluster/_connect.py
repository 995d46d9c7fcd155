"""The connection to a Ray cluster, and what its nodes can do."""

import asyncio
import importlib.util
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader

_CONNECT_SECONDS = 10.0
_OPEN_SECONDS = 120.0


class ClusterError(UserError):
    """Ray is not installed, the cluster is not reached, or a node cannot execute anything."""


@asynccontextmanager
async def open_cluster(
    address: str | None = None, *, keys: Path | None = None, report: Callable[[str], object]
) -> AsyncIterator[Grader]:
    """Opens a grader on all nodes of a Ray cluster; without an address, on this machine alone.

    Args:
        address: As `ray start` prints it, `auto` for the cluster that this machine belongs to.
        keys: Folder of answer keys, on every node.
        report: Called with one line about each node.

    Raises:
        ClusterError: Ray is not installed, the cluster is not reached, or a node cannot execute anything.
    """
    if importlib.util.find_spec("ray") is None:
        raise ClusterError(
            "--executor ray needs Ray: pip install '.[ray]' in the checkout, on every node"
            " (docs/running.md, 'On a cluster')"
        )
    import ray  # noqa: PLC0415  an extra, and a second of import

    from triathlon_runner.cluster._tasks import ClusterGrader, NodeTasks  # noqa: PLC0415

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
        yield ClusterGrader(NodeTasks(keys, await _check_nodes(keys, report)))
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
    import ray  # noqa: PLC0415

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
    import ray  # noqa: PLC0415
    from ray.exceptions import RayError, RayTaskError  # noqa: PLC0415
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

    from triathlon_runner.cluster._tasks import first_line  # noqa: PLC0415
    from triathlon_runner.cluster._worker import answer  # noqa: PLC0415

    on_node = NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
    check: Any = ray.remote(answer).options(num_cpus=0, scheduling_strategy=on_node)
    try:
        level, _ = await asyncio.wait_for(check.remote("check", (), keys), _OPEN_SECONDS)
        return str(level)
    except RayTaskError as error:
        reason = first_line(error.cause)
    except TimeoutError:
        reason = f"no answer within {_OPEN_SECONDS:g} s"
    except RayError:
        return ""
    raise ClusterError(
        f"node {node['NodeManagerAddress']} cannot execute programs: {reason}; run `triathlon doctor`"
        " there, or take it out of the cluster (`ray stop`)"
    )
