"""The nodes that there are, who works where, and what happens to work whose node is lost."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from triathlon_runner.cluster._errors import ClusterError
from triathlon_runner.cluster._worker import NodeWorker
from triathlon_runner.sandbox import SandboxError

_OPEN_SECONDS = 120.0
_QUEUED_PER_JOB = 2
"""Calls on their way to a node for each program that it can execute at once."""


@dataclass(slots=True)
class Node:
    """One living worker."""

    id: str
    address: str
    actor: Any
    level: str
    places: int
    busy: int = 0


class Nodes:
    """Hands out places on living nodes; a lost node's work goes to another."""

    def __init__(self, keys: Path | None, report: Callable[[str], object]) -> None:
        """Nothing is opened yet; `discover` does."""
        self._keys, self._report = keys, report
        self._nodes: dict[str, Node] = {}
        self._refused: dict[str, str] = {}
        self._change = asyncio.Condition()
        self._discovering = asyncio.Lock()

    @property
    def levels(self) -> list[str]:
        """Sandbox levels of the nodes, each once."""
        return sorted({node.level for node in self._nodes.values()})

    @property
    def places(self) -> int:
        """Calls that may be on their way at once."""
        return sum(node.places for node in self._nodes.values())

    async def discover(self) -> None:
        """Starts a worker on every living node that has none.

        Raises:
            ClusterError: there is no node on which anything can be executed.
        """
        async with self._discovering:
            alive = {one["NodeID"]: one for one in await asyncio.to_thread(ray.nodes) if one["Alive"]}
            missing = [one for name, one in alive.items() if name not in self._nodes]
            for node in await asyncio.gather(*map(self._start, missing)):
                if node is not None:
                    self._nodes[node.id] = node
        if not self._nodes:
            reasons = "; ".join(self._refused.values()) or "it has no living node"
            raise ClusterError(f"nothing can be executed on this Ray cluster: {reasons}")
        async with self._change:
            self._change.notify_all()

    async def _start(self, one: dict[str, Any]) -> Node | None:
        name, address = one["NodeID"], one["NodeManagerAddress"]
        jobs = int(one["Resources"].get("CPU", 0))
        if not jobs:
            return None  # a head that is kept free
        place = NodeAffinitySchedulingStrategy(node_id=name, soft=False)
        options = {"num_cpus": 0, "max_concurrency": 1000, "scheduling_strategy": place}
        actor: Any = ray.remote(NodeWorker).options(**options).remote(jobs, self._keys)
        try:
            level = await asyncio.wait_for(actor.open.remote(), _OPEN_SECONDS)
        except (RayActorError, RayTaskError, TimeoutError) as error:
            self._refused[name] = f"node {address}: {reason(error)}"
            self._report(self._refused[name])
            return None
        self._report(f"node {address}: {jobs} programs at once, sandbox {level}")
        return Node(name, address, actor, level, jobs * _QUEUED_PER_JOB)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[Node]:
        """A place on the least busy node, as soon as there is one.

        Raises:
            SandboxError: no node is left.
        """
        async with self._change:
            await self._change.wait_for(lambda: self._free() is not None or not self._nodes)
            node = self._free()
            if node is None:
                raise SandboxError("every node of the cluster is lost; the next run tries again")
            node.busy += 1
        try:
            yield node
        finally:
            node.busy -= 1
            async with self._change:
                self._change.notify_all()

    def _free(self) -> Node | None:
        free = [node for node in self._nodes.values() if node.busy < node.places]
        return min(free, key=lambda node: node.busy / node.places, default=None)

    async def lose(self, node: Node, error: RayActorError) -> None:
        """Forgets a node, once however much work it had, and looks for others."""
        if self._nodes.get(node.id) is not node:
            return
        del self._nodes[node.id]
        self._report(f"node {node.address} is lost ({reason(error)}); its work is done again elsewhere")
        try:
            await self.discover()
        except ClusterError as nothing:
            self._report(str(nothing))
            async with self._change:
                self._change.notify_all()

    async def close(self) -> None:
        """Ends every worker and its children."""
        nodes, self._nodes = list(self._nodes.values()), {}
        for node in nodes:
            try:
                await asyncio.wait_for(node.actor.close.remote(), 10)
            except (RayActorError, RayTaskError, TimeoutError):
                self._report(f"node {node.address} did not answer at the end")
            ray.kill(node.actor)


def reason(error: BaseException) -> str:
    """The first line of what lies behind an error of Ray's."""
    cause = error.cause if isinstance(error, RayTaskError) else error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0]
