"""What lives on the node where a model is served: the server and whoever looks after it."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import ray

from triathlon_runner.serving import (
    WATCH_SECONDS,
    Described,
    Listening,
    ServeConfig,
    Server,
    ServerLostError,
    serve,
)

_LOG_BYTES = 1 << 20


class ServerHost:
    """An actor. It starts one server and says when that is lost; whether and where to start another is for
    the runner to decide.
    """

    def __init__(self, config: ServeConfig, model_id: str, cache: Path, key: str) -> None:
        """`cache`: a folder on the node, as on every other."""
        self._config, self._model_id, self._cache, self._key = config, model_id, cache, key
        self._stack = AsyncExitStack()
        self._server: Server | None = None
        self._said: list[str] = []
        self._node = ray.get_runtime_context().get_node_id()
        # A folder that nodes share must not have them write to one file.
        self._log = cache / "logs" / "nodes" / f"{model_id}-{self._node[:12]}.log"
        self._log_at = self._log.stat().st_size if self._log.exists() else 0

    async def node(self) -> tuple[str, str]:
        """The node's id and address; answers as soon as there is room for the model."""
        return self._node, _address()

    async def open(self) -> tuple[str, Described]:
        """Starts the server and returns its base URL.

        Raises:
            ServingError: the model cannot be served there as the row says.
        """
        listening = Listening(_address(), self._key)
        self._server = await self._stack.enter_async_context(
            serve(
                self._config,
                model_id=self._model_id,
                cache=self._cache,
                log=self._log,
                report=self._said.append,
                listening=listening,
            )
        )
        return self._server.base_url, self._server.described

    async def fault(self) -> str | None:
        """What is wrong with the server, and the end of its log; None where it is well."""
        assert self._server is not None, "open() comes first"
        wrong = await self._server.fault()
        return None if wrong is None else f"{wrong}. {self._server.last_lines()}"

    async def watch(self) -> None:
        """Returns never.

        Raises:
            ServerLostError: the server is dead or stalled.
        """
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if wrong := await self.fault():
                raise ServerLostError(wrong)

    async def news(self) -> tuple[list[str], bytes]:
        """What was reported and written to the log since the last call."""
        said, self._said[:] = list(self._said), []
        if not self._log.exists():
            return said, b""
        with self._log.open("rb") as stream:
            stream.seek(self._log_at)
            written = stream.read(_LOG_BYTES)
        self._log_at += len(written)
        return said, written

    async def close(self) -> None:
        """Ends the server and everything it started."""
        await self._stack.aclose()


def _address() -> str:
    """This node's, under which the others reach it."""
    util: Any = ray.util  # Ray has no types for it
    return str(util.get_node_ip_address())
