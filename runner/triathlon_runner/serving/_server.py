"""A vLLM server that we start, watch and always stop."""

import asyncio
import json
import math
import re
import socket
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from triathlon_runner.serving._children import end, last_lines, spawn
from triathlon_runner.serving._config import ServeConfig, ServerLostError, ServingError, absolute
from triathlon_runner.serving._launch import DEFAULT_AT_ONCE, LOOPBACK, Machine, ServerPlan
from triathlon_runner.serving._prepare import prepare_engine, prepare_weights

_TOKENS_OF_A_QUESTION = 2048
"""More than a question and its reply have in nearly all suites (replies of at most 1,024 tokens)."""
_POLL_SECONDS = 0.2
_REPORT_SECONDS = 15.0
_PROBE_SECONDS = 600.0
"""Seconds for one probe: a CPU reading 32 prompts answers no probe for minutes; a restart would lose them."""
_WATCH_SECONDS = 15.0
"""Seconds between two checks of a server."""
_RESTART_WINDOW_SECONDS = 3600.0
_LOGGED_DTYPE = re.compile(rb"\bdtype=torch\.(\w+)")
_CHECK_SECONDS = 10.0
"""For one check of a server that is starting; another follows."""
_METRICS_SECONDS = 60.0
_CACHE = re.compile(r"^vllm:cache_config_info\{(.*)\}", re.MULTILINE)
_CACHE_SIZE = re.compile(r'\b(block_size|num_gpu_blocks)="(\d+)"')
_COUNTERS = re.compile(r"^vllm:(?:prompt|generation)_tokens_total(?:\{.*\})? (\S+)$", re.MULTILINE)


@asynccontextmanager
async def serve(
    config: ServeConfig,
    *,
    model_id: str,
    cache: Path,
    log: Path,
    report: Callable[[str], None],
    machine: Machine,
    concurrency: int | None = None,
) -> AsyncIterator["Server"]:
    """A running server; vLLM and weights are installed, downloaded and converted where they are missing.

    It answers under the row's id, and writes to the end of `log`; `cache` gets environments and weights.
    Servers that share a `machine` wait until there is room. `concurrency` is the row's; None: as many
    questions at once as suit the machine.

    Raises:
        ServingError: the model cannot be served here as the row says.
    """
    cache, log = absolute(cache), absolute(log)
    async with machine.allocate(config, lambda why: report(f"{model_id} is {why}")) as allocation:
        try:
            engine = await prepare_engine(config, allocation.device, cache, report)
            weights = await prepare_weights(config, engine=engine, cache=cache, report=report)
        except OSError as error:
            raise ServingError(
                f"could not prepare vLLM and weights: {error}; look at its rights and the room on the disk"
            ) from error
        plan = ServerPlan(config, model_id, engine, weights, allocation, concurrency)
        with _kept_port() as port:
            server = Server(plan, port, log, report, machine.starting)
            try:
                await server.start()
                yield server
            finally:
                await server.stop()


@contextmanager
def _kept_port() -> Iterator[int]:
    """A free port of loopback that no other program is given during the block; a server may listen there."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        kept.bind((LOOPBACK, 0))
        yield kept.getsockname()[1]


class Server:
    """One running server; made by `serve`."""

    def __init__(
        self, plan: ServerPlan, port: int, log: Path, report: Callable[[str], None], starting: asyncio.Lock
    ) -> None:
        """Nothing is started yet; `starting` is held while it starts."""
        self.model = plan.model_id
        """The name under which it answers."""
        self.weights = plan.weights.origin
        """Where they come from, pinned by checksum or commit."""
        self.starts = 0
        """How often it has been started so far."""
        self.base_url = f"http://{LOOPBACK}:{port}/v1"
        """The same after a restart."""
        self._root = self.base_url.removesuffix("/v1")
        self._plan, self._report, self._starting = plan, report, starting
        self._child: asyncio.subprocess.Process | None = None
        self._port, self._log, self._log_start = port, log, 0
        self._restarted_at: deque[float] = deque()
        self._restarting = asyncio.Lock()

    @property
    def served_by(self) -> str:
        """How the model is served, for the manifest; the precision is that of the engine's log."""
        plan = self._plan
        with self._log.open("rb") as stream:
            stream.seek(self._log_start)
            logged = _LOGGED_DTYPE.search(stream.read(1 << 20))
        dtype = logged[1].decode() if logged else plan.arguments["dtype"]
        where = f"{dtype}, {plan.allocation.name}; greedy output may change with the load"
        return f"{plan.engine.package} {plan.engine.version} ({where})"

    async def at_once(self) -> int:
        """Returns how many questions it can be given at once, where the row does not say.

        As many as the memory for keys and values holds (on a GPU what the weights leave of the card), at
        2,048 tokens each; at least 32, and no more than the device answers well at the same time.
        """
        metrics = await self._text("/metrics")
        engines = [dict(_CACHE_SIZE.findall(labels)) for labels in _CACHE.findall(metrics or "")]
        sizes = (int(e["block_size"]) * int(e["num_gpu_blocks"]) for e in engines if len(e) == 2)
        return min(max(DEFAULT_AT_ONCE, sum(sizes) // _TOKENS_OF_A_QUESTION), self._plan.most_at_once)

    async def start(self) -> None:
        """Starts on the port that is kept for it and waits for the first answer.

        Raises:
            ServingError: it ended, did not answer in time, or answered nonsense.
        """
        async with self._starting:
            self._log_start = self._log.stat().st_size if self._log.exists() else 0
            plan = self._plan
            self._report(f"starting vLLM {plan.engine.version} for {self.model} on {plan.allocation.name}")
            started = time.monotonic()
            self._child = await spawn(plan.command(self._port), env=plan.env, log=self._log, nice=plan.nice)
            try:
                if wrong := await self._fault_of_start(self._child, started):
                    raise ServingError(f"the server of {self.model!r} {wrong}. {self._last_lines()}")
            except BaseException:
                await self.stop()
                raise
            self.starts += 1
            self._report(f"{self.model} answers after {time.monotonic() - started:.0f} s")

    async def _fault_of_start(self, child: asyncio.subprocess.Process, started: float) -> str:
        """Waits until it answers; returns why it does not, empty where it does."""
        timeout = self._plan.config.start_timeout
        next_report = started + _REPORT_SECONDS
        while await self._text("/health", _CHECK_SECONDS) is None:
            now = time.monotonic()
            if (status := child.returncode) is not None:
                return f"ended with status {status} while starting"
            if now > started + timeout:
                return f"is not ready within start_timeout = {timeout:g} s; raise that or look at its log"
            if now > next_report:
                next_report += _REPORT_SECONDS
                self._report(f"{self.model} is loading, {now - started:.0f} s")
            await asyncio.sleep(_POLL_SECONDS)
        left = max(started + timeout - time.monotonic(), 1.0)
        wrong = await self.fault(seconds=min(left, _PROBE_SECONDS))
        return f"started, but {wrong}" if wrong else ""

    async def stop(self) -> None:
        """Ends the server and everything it started; safe to call again."""
        if self._child is not None:
            await end(self._child)

    async def watch(self) -> None:
        """Calls `ensure` every 15 s; never returns."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            await self.ensure()

    async def ensure(self) -> None:
        """Restarts the server if it is dead or stalled; callers at the same time wait for one restart.

        Raises:
            ServerLostError: restarted too often within an hour, or it does not come up again.
        """
        async with self._restarting:
            wrong = await self.fault()
            if wrong is None:
                return
            now, restarts = time.monotonic(), self._restarted_at
            while restarts and now - restarts[0] > _RESTART_WINDOW_SECONDS:
                restarts.popleft()
            if len(restarts) >= self._plan.config.max_restarts:
                raise ServerLostError(
                    f"the server of {self.model!r} failed again after {len(restarts)} restarts within an hour"
                    f" ({wrong}). {self._last_lines()}"
                )
            restarts.append(now)
            self._report(f"restarting the server of {self.model} ({wrong})")
            await self.stop()
            try:
                await self.start()
            except ServingError as error:
                raise ServerLostError(str(error)) from error

    async def fault(self, *, seconds: float = _PROBE_SECONDS) -> str | None:
        """What is wrong with it; None where it is healthy and completes a text in the model's name.

        Each request may take `seconds`: a server that works on many answers is slow to answer `/health`, and
        a restart would lose all of them. So nothing is wrong either where it counts more tokens than before.
        """
        if self._child is None or self._child.returncode is not None:
            return "it has ended"
        before = await self._tokens_written()
        try:
            status, _ = await self._request("/health", seconds)
            if status != HTTPStatus.OK:
                return f"/health answers {status}"
            question = {"model": self.model, "prompt": "1", "max_tokens": 1, "temperature": 0}
            status, text = await self._request("/v1/completions", seconds, question)
        except TimeoutError:
            is_working = await self._tokens_written() > before
            return None if is_working else f"no answer to a probe within {seconds:g} s, and no new token"
        except ConnectionError as error:
            return f"the connection of a probe failed: {error}"
        try:
            body = json.loads(text)
            is_answer = isinstance(body["choices"][0]["text"], str) and body["model"] == self.model
        except (ValueError, LookupError, TypeError):
            is_answer = False
        if status == HTTPStatus.OK and is_answer:
            return None
        return f"a probe question is answered with {status}: {text[:300]!r}, expected a completion"

    async def _tokens_written(self) -> float:
        """Tokens that all engines have read and written; nan, never more than before, without metrics."""
        metrics = await self._text("/metrics")
        return sum(map(float, _COUNTERS.findall(metrics))) if metrics else math.nan

    async def _text(self, path: str, seconds: float = _METRICS_SECONDS) -> str | None:
        """What the server says there; None where it does not answer, or with an error."""
        try:
            status, text = await self._request(path, seconds)
        except (TimeoutError, ConnectionError):
            return None
        return text if status == HTTPStatus.OK else None

    async def _request(
        self, path: str, seconds: float, question: Mapping[str, Any] | None = None
    ) -> tuple[int, str]:
        """Returns status and text of an answer; raises TimeoutError or ConnectionError where none comes."""
        import httpx2  # noqa: PLC0415  takes long to import, and few commands serve

        # Plain HTTP on loopback: no proxies, no certificates (slow to read).
        verify, method = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), "GET" if question is None else "POST"
        try:
            async with httpx2.AsyncClient(trust_env=False, verify=verify, timeout=seconds) as client:
                answer = await client.request(method, f"{self._root}{path}", json=question)
        except httpx2.TimeoutException:
            raise TimeoutError(f"no answer within {seconds:g} s") from None
        except httpx2.HTTPError as error:
            raise ConnectionError(str(error) or type(error).__name__) from None
        return answer.status_code, answer.text

    def _last_lines(self) -> str:
        """The end of its log, and the log's path."""
        return f"Last lines of {str(self._log)!r}:\n{last_lines(self._log, self._log_start)}"
