"""Servers on this machine."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from triathlon_runner.serving._api import Served
from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._machine import Machine
from triathlon_runner.serving._server import serve


class LocalServers:
    """Implements `Servers`: beside each other where they fit, one after another else."""

    def __init__(self, cache: Path) -> None:
        """`cache`: folder for environments and weights."""
        self._cache = cache
        self._machine: Machine | None = None

    @asynccontextmanager
    async def serve(
        self, config: ServeConfig, *, model_id: str, log: Path, report: Callable[[str], None]
    ) -> AsyncIterator[Served]:
        """Starts a server on loopback.

        Raises:
            ServingError: the model cannot be served here as the row says.
        """
        if self._machine is None:
            self._machine = await Machine.look()
        async with serve(
            config, model_id=model_id, cache=self._cache, log=log, report=report, machine=self._machine
        ) as server:
            yield server
