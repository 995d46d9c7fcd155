"""Serving the models of a run on this machine."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from triathlon_runner.serving._api import Served
from triathlon_runner.serving._command import plan_server
from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._interpreters import engine_for
from triathlon_runner.serving._machine import Machine
from triathlon_runner.serving._server import Server
from triathlon_runner.serving._weights import prepare_weights


@asynccontextmanager
async def serve(
    config: ServeConfig,
    *,
    model_id: str,
    cache: Path,
    log: Path,
    report: Callable[[str], None],
    machine: Machine | None = None,
) -> AsyncIterator[Server]:
    """A running server; vLLM and weights are installed, downloaded and converted where they are missing.

    Args:
        config: the row's `serve:` block.
        model_id: the row's id, under which the server answers.
        cache: folder for environments and weights.
        log: file to whose end the server writes.
        report: takes one line of progress at a time.
        machine: shared by all servers of a run; a server waits until there is room for it.

    Raises:
        ServingError: the model cannot be served here as the row says.
    """
    cache, log = _absolute(cache), _absolute(log)
    machine = machine or await Machine.detect()
    async with machine.allocate(config, lambda why: report(f"{model_id} is {why}")) as allocation:
        engine = await engine_for(config, allocation.device, cache, report)
        weights = await prepare_weights(config, engine=engine, cache=cache, report=report)
        plan = plan_server(config, model_id=model_id, engine=engine, weights=weights, allocation=allocation)
        server = Server(plan, config, model=model_id, log=log, report=report, starting=machine.starting)
        try:
            await server.start()
            yield server
        finally:
            await server.stop()


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


class LocalServers:
    """Implements `Servers`: models that fit are served at the same time, others one after another."""

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
            self._machine = await Machine.detect()
        async with serve(
            config, model_id=model_id, cache=self._cache, log=log, report=report, machine=self._machine
        ) as server:
            yield server
