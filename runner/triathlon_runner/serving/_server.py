"""A model server that we start, watch and always stop."""

import asyncio
import re
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from triathlon_runner.serving._children import Child, spawn
from triathlon_runner.serving._command import LOOPBACK, ServerPlan, plan_server
from triathlon_runner.serving._config import ServeConfig, absolute
from triathlon_runner.serving._engine import engine_for
from triathlon_runner.serving._errors import ServerLostError, ServingError, last_lines
from triathlon_runner.serving._machine import Machine
from triathlon_runner.serving._weights import prepare_weights

_POLL_SECONDS = 0.2
_REPORT_SECONDS = 15.0
_PROBE_SECONDS = 600.0
"""Seconds for one probe: a CPU reading 32 prompts answers no probe for minutes; a restart would lose them."""
_WATCH_SECONDS = 15.0
"""Seconds between two checks of a server."""
_RESTART_WINDOW_SECONDS = 3600.0
# Another program may take the free port before the server does.
_PORT_TRIES = 3
_PORT_TAKEN = "ddress already in use"
_LOGGED_DTYPE = re.compile(rb"\bdtype=torch\.(\w+)")


@asynccontextmanager
async def serve(
    config: ServeConfig,
    *,
    model_id: str,
    cache: Path,
    log: Path,
    report: Callable[[str], None],
    machine: Machine | None = None,
) -> AsyncIterator["Server"]:
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
    cache, log, machine = absolute(cache), absolute(log), machine or Machine()
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


class Server:
    """One running server; made by `serve`."""

    def __init__(
        self,
        plan: ServerPlan,
        config: ServeConfig,
        *,
        model: str,
        log: Path,
        report: Callable[[str], None],
        starting: asyncio.Lock,
    ) -> None:
        """Nothing is started yet; `starting` is held while it starts."""
        self.model = model
        """The name under which it answers."""
        self.weights = plan.weights.origin
        """Where they come from, pinned by checksum or commit."""
        self.starts = 0
        """How often it has been started so far."""
        self._log = log
        self._plan, self._config, self._report, self._starting = plan, config, report, starting
        self._child: Child | None = None
        self._port = 0
        self._log_start = 0
        self._restarted_at: deque[float] = deque()
        self._restarting = asyncio.Lock()

    @property
    def base_url(self) -> str:
        """Ends in /v1; the same after a restart."""
        return f"http://{LOOPBACK}:{self._port}/v1"

    @property
    def served_by(self) -> str:
        """How the model is served, for the manifest; the precision is that of the engine's log."""
        plan = self._plan
        with self._log.open("rb") as stream:
            stream.seek(self._log_start)
            logged = _LOGGED_DTYPE.search(stream.read(1 << 20))
        dtype = logged[1].decode() if logged else plan.dtype
        where = f"{dtype}, {plan.allocation.name}; greedy output may change with the load"
        return f"{plan.engine.package} {plan.engine.version} ({where})"

    async def fault(self, *, seconds: float = _PROBE_SECONDS) -> str | None:
        """What is wrong with it; None where it answers a one-token question within `seconds`."""
        if self._child is None or self._child.exit_status is not None:
            return "it has ended"
        from triathlon_runner.serving import _http  # noqa: PLC0415  only where one serves

        return await _http.fault(self.base_url, self.model, seconds=seconds)

    async def ensure(self, *, seconds: float = _PROBE_SECONDS) -> None:
        """Restarts the server if it is dead or stalled; callers at the same time wait for one restart.

        Raises:
            ServerLostError: restarted too often within an hour, or it does not come up again.
        """
        async with self._restarting:
            wrong = await self.fault(seconds=seconds)
            if wrong is None:
                return
            self._count_restart(wrong)
            self._report(f"restarting the server of {self.model} ({wrong})")
            await self.stop()
            try:
                await self._start_on(self._port)
            except ServingError as error:
                raise ServerLostError(str(error)) from error

    def _count_restart(self, why: str) -> None:
        """Raises ServerLostError after too many restarts within an hour."""
        now, restarts = time.monotonic(), self._restarted_at
        while restarts and now - restarts[0] > _RESTART_WINDOW_SECONDS:
            restarts.popleft()
        if len(restarts) >= self._config.max_restarts:
            raise ServerLostError(
                f"the server of {self.model!r} failed again after {len(restarts)} restarts within an hour"
                f" ({why}). {self._last_lines()}"
            )
        restarts.append(now)

    async def watch(self) -> None:
        """Calls `ensure` every 15 s; never returns."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            await self.ensure()

    async def start(self) -> None:
        """Starts on a free port and waits for the first answer.

        Raises:
            ServingError: it ended, did not answer in time, or answered nonsense.
        """
        for left in reversed(range(_PORT_TRIES)):
            with socket.create_server((LOOPBACK, 0)) as listening:
                port = listening.getsockname()[1]
            try:
                await self._start_on(port)
                return
            except ServingError as error:
                if not left or _PORT_TAKEN not in str(error):
                    raise

    async def _start_on(self, port: int) -> None:
        async with self._starting:
            self._port = port
            self._log_start = self._log.stat().st_size if self._log.exists() else 0
            plan = self._plan
            self._report(f"starting vLLM {plan.engine.version} for {self.model} on {plan.allocation.name}")
            started = time.monotonic()
            self._child = await spawn(plan.command(port), env=plan.env, log=self._log, nice=plan.nice)
            try:
                await self._until_ready(self._child, started)
            except BaseException:
                await self.stop()
                raise
            self.starts += 1
            self._report(f"{self.model} answers after {time.monotonic() - started:.0f} s")

    async def _until_ready(self, child: Child, started: float) -> None:
        from triathlon_runner.serving import _http  # noqa: PLC0415  see `fault`

        timeout = self._config.start_timeout
        deadline, next_report = started + timeout, started + _REPORT_SECONDS
        while not await _http.reachable(self.base_url):
            now = time.monotonic()
            if child.exit_status is not None:
                raise self._failure(f"ended with status {child.exit_status} while starting")
            if now > deadline:
                raise self._failure(
                    f"is not ready within start_timeout = {timeout:g} s; raise that or look at its log"
                )
            if now > next_report:
                next_report += _REPORT_SECONDS
                self._report(f"{self.model} is loading, {now - started:.0f} s")
            await asyncio.sleep(_POLL_SECONDS)
        left = max(deadline - time.monotonic(), 1.0)
        if wrong := await self.fault(seconds=min(left, _PROBE_SECONDS)):
            raise self._failure(f"started, but {wrong}")

    def _failure(self, what: str) -> ServingError:
        return ServingError(f"the server of {self.model!r} {what}. {self._last_lines()}")

    def _last_lines(self) -> str:
        """The end of its log, and the log's path."""
        return f"Last lines of {str(self._log)!r}:\n{last_lines(self._log, self._log_start)}"

    async def stop(self) -> None:
        """Ends the server and everything it started; safe to call again."""
        if self._child is not None:
            await self._child.stop()
