"""Model servers on the nodes of a cluster: Ray finds the room, and another where a node or server is lost."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from triathlon_runner.cluster._host import ServerHost
from triathlon_runner.cluster._nodes import reason
from triathlon_runner.cluster._placement import Placement
from triathlon_runner.cluster._relay import Relay
from triathlon_runner.serving import (
    Described,
    Restarts,
    ServeConfig,
    Served,
    ServerLostError,
    Servers,
    ServingError,
)

_NEWS_SECONDS = 2.0
_PATIENCE_SECONDS = 5.0
"""Before it is said that a model waits for room."""
_CLOSE_SECONDS = 30.0


class ClusterServer:
    """Implements `Served`: the server is where there is room for it, its address here stays the same."""

    def __init__(
        self,
        config: ServeConfig,
        *,
        model: str,
        cache: Path,
        log: Path,
        report: Callable[[str], None],
        relay: Relay,
    ) -> None:
        """Made by `ClusterServers.serve`."""
        self.model, self.key = model, secrets.token_urlsafe(32)
        self.starts = 0
        self._config, self._cache, self._log = config, cache, log
        self._report, self._relay = report, relay
        self._restarts = Restarts(config.max_restarts)
        self._moving = asyncio.Lock()
        self._said = ""
        self._host: Any = None
        self._node = self._address = ""
        self._following: asyncio.Task[None] | None = None
        self._described: Described | None = None

    @property
    def base_url(self) -> str:
        return self._relay.base_url

    @property
    def described(self) -> Described:
        assert self._described is not None, "not started yet"
        return self._described

    async def begin(self) -> None:
        """Starts it for the first time: elsewhere, where its node is lost meanwhile.

        Raises:
            ServingError: no node can serve the model as the row says.
            ServerLostError: node after node was lost.
        """
        await self._start_as_often_as_may_be(ServerLostError)

    async def _start(self) -> None:
        """Starts it where there is room, and waits for that.

        Raises:
            ServingError: no node can ever serve the model as the row says.
            ServerLostError: its node was lost meanwhile.
        """
        placement = Placement.of(self._config, await asyncio.to_thread(ray.nodes))
        self._host = (
            ray.remote(ServerHost)
            .options(**placement.options(avoid=self._node))
            .remote(self._config, self.model, self._cache, self.key)
        )
        try:
            await self._placed(placement)
            self._following = asyncio.create_task(self._follow(self._host))
            base_url, described = await self._host.open.remote()
        except RayTaskError as error:
            if isinstance(error.cause, ServingError):
                raise error.cause from None
            raise
        except RayActorError as error:
            raise ServerLostError(f"its node was lost while it started there: {reason(error)}") from None
        self._check_weights(described)
        self._described = described
        there = urlsplit(base_url)
        assert there.hostname is not None and there.port is not None
        self._relay.aim((there.hostname, there.port))
        self.starts += 1

    async def _placed(self, placement: Placement) -> None:
        """Waits until Ray has chosen a node.

        Raises:
            ServerLostError: those that were large enough are lost meanwhile.
        """
        waiting = asyncio.ensure_future(self._host.node.remote())
        while not (await asyncio.wait([waiting], timeout=_PATIENCE_SECONDS))[0]:
            self._say_once(f"{self.model} is waiting for room on the cluster ({placement})")
            now = Placement.of(self._config, await asyncio.to_thread(ray.nodes))
            if not set(now.fitting) & set(placement.fitting):
                waiting.cancel()
                raise ServerLostError("the nodes that it waited for are lost")
        self._node, self._address = await waiting

    def _say_once(self, line: str) -> None:
        if line != self._said:
            self._report(line)
        self._said = line

    def _check_weights(self, described: Described) -> None:
        """A folder of the same name may hold others on another node.

        Raises:
            ServingError: it does.
        """
        if self._described is not None and described.weights != self._described.weights:
            raise ServingError(
                f"expected {self.model!r} with {self._described.weights} on every node, node"
                f" {self._address} has {described.weights}; make the folders the same"
            )

    async def _follow(self, host: Any) -> None:
        """Brings its reports and its log here, as long as it is there."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with suppress(RayError):
            while True:
                await self._bring_news(host)
                await asyncio.sleep(_NEWS_SECONDS)

    async def _bring_news(self, host: Any) -> None:
        said, written = await host.news.remote()
        for line in said:
            self._report(f"node {self._address}: {line}")
        if written:
            with self._log.open("ab") as log:
                log.write(written)

    async def ensure(self) -> None:
        """Starts it again, here or elsewhere, if it is lost.

        Raises:
            ServerLostError: lost too often within an hour, or no node can serve it any more.
        """
        async with self._moving:
            if wrong := await self._wrong():
                await self._move(wrong)

    async def _wrong(self) -> str | None:
        """What is wrong with it; None where it is well."""
        if self._host is None:
            return "it was given up"
        try:
            wrong: str | None = await self._host.fault.remote()
        except RayError as error:
            return f"its node {self._address} is lost: {reason(error)}"
        return wrong

    async def watch(self) -> None:
        """Starts it again whenever it is lost.

        Raises:
            ServerLostError: lost too often within an hour, or no node can serve it any more.
        """
        while True:
            with suppress(RayError):  # whatever it is, `ensure` finds it
                await self._host.watch.remote()
            await self.ensure()

    async def _move(self, wrong: str) -> None:
        self._relay.aim(None)
        await self._end_host()
        self._restarts.spend(self.model, wrong)
        self._report(f"restarting the server of {self.model} ({wrong.splitlines()[0]})")
        await self._start_as_often_as_may_be(ServerLostError, ServingError)

    async def _start_as_often_as_may_be(self, *mended: type[Exception]) -> None:
        """A node can be lost while a server starts there, too; `mended` is what another try may cure."""
        while True:
            try:
                await self._start()
            except mended as error:
                await self._end_host()
                self._restarts.spend(self.model, str(error))
            else:
                return

    async def stop(self) -> None:
        """Ends the server wherever it is."""
        self._relay.aim(None)
        if self._following is not None:  # else it is nowhere yet
            with suppress(RayError, TimeoutError):
                await asyncio.wait_for(self._host.close.remote(), _CLOSE_SECONDS)
        await self._end_host()

    async def _end_host(self) -> None:
        """Its last words first, where it still has any."""
        following, host = self._following, self._host
        self._following = self._host = None
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            with suppress(RayError, TimeoutError):
                await asyncio.wait_for(self._bring_news(host), _NEWS_SECONDS)
        if host is not None:
            ray.kill(host)


class ClusterServers:
    """Implements `Servers`. A model that spans machines is started here: vLLM spreads it itself."""

    def __init__(self, cache: Path, here: Servers) -> None:
        """`cache`: folder for environments and weights, on every node."""
        self._cache, self._here = cache.expanduser().absolute(), here

    @asynccontextmanager
    async def serve(
        self, config: ServeConfig, *, model_id: str, log: Path, report: Callable[[str], None]
    ) -> AsyncIterator[Served]:
        """Starts a server on a node with room for it.

        Raises:
            ServingError: no node can serve the model as the row says.
        """
        if config.spans_nodes:
            async with self._here.serve(config, model_id=model_id, log=log, report=report) as server:
                yield server
            return
        async with Relay() as relay:
            placed = ClusterServer(
                config, model=model_id, cache=self._cache, log=log, report=report, relay=relay
            )
            try:
                await placed.begin()
                yield placed
            finally:
                await placed.stop()
