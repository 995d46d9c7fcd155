"""A model server that we start, watch and always stop."""

import asyncio
import re
import socket
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from triathlon_runner.serving._api import ServerInfo
from triathlon_runner.serving._children import Child, spawn
from triathlon_runner.serving._command import LOOPBACK, ServerPlan
from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._errors import ServerLostError, ServingError, last_lines

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


class Restarts:
    """Counts restarts within an hour: after too many of them the server is given up."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._at: deque[float] = deque()

    def spend(self, model: str, why: str) -> None:
        """Counts a restart.

        Raises:
            ServerLostError: there have been too many.
        """
        now = time.monotonic()
        while self._at and now - self._at[0] > _RESTART_WINDOW_SECONDS:
            self._at.popleft()
        if len(self._at) >= self._most:
            raise ServerLostError(
                f"the server of {model!r} failed again after {len(self._at)} restarts within an hour ({why})"
            )
        self._at.append(now)


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
        self.log = log
        self._plan, self._config, self._report, self._starting = plan, config, report, starting
        self._child: Child | None = None
        self._port = 0
        self._log_start = 0
        self.starts = 0
        """How often it has been started so far."""
        self._restarts = Restarts(config.max_restarts)
        self._restarting = asyncio.Lock()

    @property
    def base_url(self) -> str:
        """Ends in /v1; the same after a restart."""
        return f"http://{LOOPBACK}:{self._port}/v1"

    @property
    def info(self) -> ServerInfo:
        plan = self._plan
        return ServerInfo(
            engine=plan.engine.package,
            version=plan.engine.version,
            dtype=_logged_dtype(self.log, self._log_start) or plan.dtype,
            device=plan.allocation.name,
            deterministic=plan.deterministic,
            weights=plan.weights.origin,
            arguments=plan.arguments,
        )

    async def fault(self, *, seconds: float = _PROBE_SECONDS) -> str | None:
        """What is wrong with it; None where it answers a one-token question within `seconds`."""
        if self._child is None or self._child.exit_status is not None:
            return "it has ended"
        from triathlon_runner.serving import _probe  # noqa: PLC0415  an HTTP client: only where one serves

        return await _probe.fault(self.base_url, self.model, seconds=seconds)

    async def ensure(self, *, seconds: float = _PROBE_SECONDS) -> None:
        """Restarts the server if it is dead or stalled; callers at the same time wait for one restart.

        Raises:
            ServerLostError: restarted too often within an hour, or it does not come up again.
        """
        async with self._restarting:
            if wrong := await self.fault(seconds=seconds):
                await self._restart(wrong)

    async def _restart(self, why: str) -> None:
        try:
            self._restarts.spend(self.model, why)
        except ServerLostError as error:
            raise ServerLostError(f"{error}. {self._last_lines()}") from None
        self._report(f"restarting the server of {self.model} ({why})")
        await self.stop()
        try:
            await self._start_on(self._port)
        except ServingError as error:
            raise ServerLostError(str(error)) from error

    async def watch(self) -> None:
        """Calls `ensure` every 15 s; never returns.

        Raises:
            ServerLostError: restarted too often within an hour, or it does not come up again.
        """
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            await self.ensure()

    async def start(self) -> None:
        """Starts on a free port and waits for the first answer.

        Raises:
            ServingError: it ended, did not answer in time, or answered nonsense.
        """
        for left in reversed(range(_PORT_TRIES)):
            try:
                await self._start_on(_free_port())
                return
            except ServingError as error:
                if not left or _PORT_TAKEN not in str(error):
                    raise

    async def _start_on(self, port: int) -> None:
        async with self._starting:
            self._port = port
            self._log_start = self.log.stat().st_size if self.log.exists() else 0
            plan = self._plan
            self._report(f"starting vLLM {plan.engine.version} for {self.model} on {plan.allocation.name}")
            started = time.monotonic()
            self._child = await spawn(plan.command(port), env=plan.env, log=self.log, nice=plan.nice)
            try:
                await self._until_ready(self._child, started)
            except BaseException:
                await self.stop()
                raise
            self.starts += 1
            self._report(f"{self.model} answers after {time.monotonic() - started:.0f} s")

    async def _until_ready(self, child: Child, started: float) -> None:
        from triathlon_runner.serving import _probe  # noqa: PLC0415  see `fault`

        deadline, next_report = started + self._config.start_timeout, started + _REPORT_SECONDS
        while not await _probe.reachable(self.base_url):
            now = time.monotonic()
            if child.exit_status is not None:
                raise self._failure(
                    f"the server of {self.model!r} ended with status {child.exit_status} while starting"
                )
            if now > deadline:
                raise self._failure(
                    f"expected the server of {self.model!r} to be ready within start_timeout = "
                    f"{self._config.start_timeout:g} s, it is not; raise start_timeout or look at its log"
                )
            if now > next_report:
                next_report += _REPORT_SECONDS
                self._report(f"{self.model} is loading, {now - started:.0f} s")
            await asyncio.sleep(_POLL_SECONDS)
        left = max(deadline - time.monotonic(), 1.0)
        if wrong := await self.fault(seconds=min(left, _PROBE_SECONDS)):
            raise self._failure(f"the server of {self.model!r} started, but {wrong}")

    def _failure(self, what: str) -> ServingError:
        return ServingError(f"{what}. {self._last_lines()}")

    def _last_lines(self) -> str:
        """The end of its log, and the log's path."""
        return f"Last lines of {str(self.log)!r}:\n{last_lines(self.log, self._log_start)}"

    async def stop(self) -> None:
        """Ends the server and everything it started; safe to call again."""
        if self._child is not None:
            await self._child.stop()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        port: int = listening.getsockname()[1]
    return port


_LOGGED_DTYPE = re.compile(r"\bdtype=torch\.(\w+)")


def _logged_dtype(log: Path, since: int) -> str | None:
    """The precision that the engine chose, as its log says (`dtype: auto` leaves it the choice)."""
    with log.open("rb") as stream:
        stream.seek(since)
        match = _LOGGED_DTYPE.search(stream.read(1 << 20).decode(errors="replace"))
    return match.group(1) if match else None
