"""A model server that we start, watch and always stop."""

import asyncio
import re
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from triathlon_runner.serving._api import LOOPBACK, Described, Listening
from triathlon_runner.serving._children import Child, spawn
from triathlon_runner.serving._command import Plan, planned
from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._errors import ServerLostError, ServingError, last_lines
from triathlon_runner.serving._interpreters import engine_for
from triathlon_runner.serving._machine import Machine
from triathlon_runner.serving._restarts import Restarts
from triathlon_runner.serving._weights import loadable

_POLL_SECONDS = 0.2
_REPORT_SECONDS = 15.0
_PROBE_SECONDS = 120.0
WATCH_SECONDS = 15.0
"""Between two looks at a server."""
# Between our picking a free port and the server's taking it, another program may.
_PORT_TRIES = 3
_PORT_TAKEN = "ddress already in use"


class Server:
    """One running server; made by `serve`."""

    def __init__(
        self,
        plan: Plan,
        config: ServeConfig,
        *,
        model: str,
        log: Path,
        report: Callable[[str], None],
        turn: asyncio.Lock,
        listening: Listening = LOOPBACK,
    ) -> None:
        self.model = model
        """The name under which it answers."""
        self.log = log
        self._plan, self._config, self._report = plan, config, report
        self._turn, self._listening = turn, listening
        self._child: Child | None = None
        self._port = 0
        self._log_start = 0
        self.starts = 0
        """How often it has been started so far."""
        self._restarts = Restarts(config.max_restarts)
        self._restarting = asyncio.Lock()

    @property
    def base_url(self) -> str:
        """Ends in /v1; a restart keeps it."""
        host = self._listening.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._port}/v1"

    @property
    def key(self) -> str:
        """What it wants to be shown; empty where it wants nothing."""
        return self._listening.key

    @property
    def described(self) -> Described:
        plan = self._plan
        return Described(
            engine=plan.engine.package,
            version=plan.engine.version,
            dtype=_dtype_in(self.log, self._log_start) or plan.dtype,
            device=plan.seat.name,
            deterministic=plan.deterministic,
            weights=plan.weights.described,
            arguments=plan.arguments,
        )

    async def healthy(self, *, seconds: float = _PROBE_SECONDS) -> bool:
        """Whether the process lives and answers a one-token question within so many seconds."""
        return await self.fault(seconds=seconds) is None

    async def fault(self, *, seconds: float = _PROBE_SECONDS) -> str | None:
        """What is wrong with it; None where it answers a one-token question within so many seconds."""
        if self._child is None or self._child.exit_status is not None:
            return "it has ended"
        from triathlon_runner.serving import _probe  # noqa: PLC0415  an HTTP client: only where one serves

        return await _probe.fault(self.base_url, self.model, key=self.key, seconds=seconds)

    async def ensure(self, *, seconds: float = _PROBE_SECONDS) -> None:
        """Restarts the server if it is dead or stalled; callers at the same time wait for one restart.

        Raises:
            ServerLostError: restarted too often within an hour, or it does not come up again.
        """
        async with self._restarting:
            if wrong := await self.fault(seconds=seconds):
                await self._restart(wrong)

    async def restart(self) -> None:
        """Stops and starts the server, whatever its state.

        Raises:
            ServerLostError: restarted too often within an hour, or it does not come up again.
        """
        async with self._restarting:
            await self._restart("a restart was asked for")

    async def _restart(self, why: str) -> None:
        try:
            self._restarts.spend(self.model, why)
        except ServerLostError as error:
            raise ServerLostError(f"{error}. {self.last_lines()}") from None
        self._report(f"restarting the server of {self.model} ({why})")
        await self.stop()
        try:
            await self._start_on(self._port)
        except ServingError as error:
            raise ServerLostError(str(error)) from error

    async def watch(self) -> None:
        """Looks at it for ever, and starts it again where it is dead or stalled.

        Raises:
            ServerLostError: restarted too often within an hour, or it does not come up again.
        """
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            await self.ensure()

    async def start(self) -> None:
        """Starts on a free port and waits for the first answer.

        Raises:
            ServingError: it ended, did not answer in time, or answered nonsense.
        """
        for left in reversed(range(_PORT_TRIES)):
            try:
                await self._start_on(_free_port(self._listening.host))
                return
            except ServingError as error:
                if not left or _PORT_TAKEN not in str(error):
                    raise

    async def _start_on(self, port: int) -> None:
        async with self._turn:
            self._port = port
            self._log_start = self.log.stat().st_size if self.log.exists() else 0
            self._report(
                f"starting vLLM {self._plan.engine.version} for {self.model} on {self._plan.seat.name}"
            )
            started = time.monotonic()
            self._child = await spawn(
                self._plan.command(port, self._listening.host),
                env={**self._plan.env, "VLLM_API_KEY": self.key},
                log=self.log,
                nice=self._plan.nice,
            )
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
        return ServingError(f"{what}. {self.last_lines()}")

    def last_lines(self) -> str:
        """The end of its log, and where that lies."""
        return f"Last lines of {str(self.log)!r}:\n{last_lines(self.log, self._log_start)}"

    async def stop(self) -> None:
        """Ends the server and everything it started; safe to call again."""
        if self._child is not None:
            await self._child.stop()


@asynccontextmanager
async def serve(
    config: ServeConfig,
    *,
    model_id: str,
    cache: Path,
    log: Path,
    report: Callable[[str], None],
    machine: Machine | None = None,
    listening: Listening = LOOPBACK,
) -> AsyncIterator[Server]:
    """Installs, fetches and converts what is missing, starts the server, and always stops it.

    Args:
        config: the row's `serve:` block.
        model_id: the row's id, under which the server answers.
        cache: folder for environments and weights.
        log: file to whose end the server writes.
        report: takes one line of progress at a time.
        machine: shared by all servers of a run; a server waits there until it fits beside the others.
        listening: loopback, where left out.

    Raises:
        ServingError: the model cannot be served here as the row says.
    """
    cache, log = _rooted(cache), _rooted(log)
    machine = machine or await Machine.look()
    async with machine.seat(config, lambda why: report(f"{model_id} is {why}")) as seat:
        engine = await engine_for(config, seat.device, cache, report)
        weights = await loadable(config, engine=engine, cache=cache, report=report)
        plan = planned(config, model_id=model_id, engine=engine, weights=weights, seat=seat)
        server = Server(
            plan,
            config,
            model=model_id,
            log=log,
            report=report,
            turn=machine.starting,
            listening=listening,
        )
        try:
            await server.start()
            yield server
        finally:
            await server.stop()


def _rooted(path: Path) -> Path:
    return path.expanduser().absolute()


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listening:
        listening.bind((host, 0))
        port: int = listening.getsockname()[1]
    return port


_LOGGED_DTYPE = re.compile(r"\bdtype=torch\.(\w+)")


def _dtype_in(log: Path, since: int) -> str | None:
    """The precision that the engine says it took (`dtype: auto` leaves it the choice)."""
    with log.open("rb") as stream:
        stream.seek(since)
        found = _LOGGED_DTYPE.search(stream.read(1 << 20).decode(errors="replace"))
    return found.group(1) if found else None
