"""The way to a cluster, and what there is behind it."""

import asyncio
import importlib.util
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from triathlon_runner.cluster._errors import ClusterError
from triathlon_runner.cluster._grader import ClusterGrader
from triathlon_runner.serving import LocalServers, Servers

_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the nodes do for a run."""

    grader: ClusterGrader

    def servers(self, cache: Path) -> Servers:
        """Model servers there. `cache`: folder for environments and weights, on every node."""
        from triathlon_runner.cluster._servers import ClusterServers  # noqa: PLC0415  it needs the extra

        return ClusterServers(cache, LocalServers(cache))


@asynccontextmanager
async def open_cluster(
    address: str | None = None,
    *,
    keys: Path | None = None,
    report: Callable[[str], object],
) -> AsyncIterator[Cluster]:
    """All nodes of a Ray cluster; without an address, this machine as a cluster of one.

    Args:
        address: As `ray start` prints it, `auto` for the cluster that this machine belongs to.
        keys: Folder of answer keys, on every node.
        report: Takes one line about a node at a time.

    Raises:
        ClusterError: Ray is not installed, the cluster is not reached, or nothing can be executed there.
    """
    if importlib.util.find_spec("ray") is None:
        raise ClusterError(
            "--executor ray needs Ray: pip install '.[ray]' in the checkout, on every node"
            " (docs/running.md, 'On a cluster')"
        )
    import ray  # noqa: PLC0415  an extra, and a second of import

    from triathlon_runner.cluster._batches import Batches  # noqa: PLC0415
    from triathlon_runner.cluster._nodes import Nodes  # noqa: PLC0415

    await _reachable(address)
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        settings["include_dashboard"] = False
    try:
        await asyncio.to_thread(partial(ray.init, address, namespace="triathlon", **settings))
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ClusterError(
            f"no Ray cluster at {address!r} ({error}); see `ray status`; one that asks for a token wants"
            " RAY_AUTH_MODE=token set here, too"
        ) from None
    nodes = Nodes(keys, report)
    batches = Batches(nodes)
    try:
        await nodes.discover()
        yield Cluster(ClusterGrader(batches))
    finally:
        await batches.close()
        await nodes.close()
        await asyncio.to_thread(ray.shutdown)


async def _reachable(address: str | None) -> None:
    """Ray itself would look for many minutes for a cluster that is not there.

    Raises:
        ClusterError: nothing listens at the address, or it is none.
    """
    if address in (None, "auto", "local"):
        return
    host, _, port = str(address).rpartition(":")
    if not host or not port.isdecimal():
        raise ClusterError(f"expected --ray-address as host:port or auto, got {address!r}")
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host, int(port))
    except (OSError, TimeoutError) as error:
        raise ClusterError(f"no Ray cluster at {address!r} ({error}); see `ray status`") from None
    writer.close()
