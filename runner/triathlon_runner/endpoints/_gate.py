"""The queue in front of an endpoint: who may send, and when."""

import asyncio
import heapq
import itertools
import random
from collections.abc import Callable
from types import TracebackType
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

from triathlon_runner.endpoints._breaker import Breaker
from triathlon_runner.endpoints._errors import ModelUnavailableError
from triathlon_runner.endpoints._level import Level
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._pace import Pace
from triathlon_runner.endpoints._stats import EndpointStats


class Started(Protocol):
    """What is under way in a slot."""

    def cancel(self) -> object:
        """Nobody waits for it any more."""


T = TypeVar("T", bound=Started)


class _Waiter(NamedTuple):
    order: int
    """Place in the queue; no two are equal."""
    tokens: int
    """That it will take."""
    start: Callable[[], Started]
    woken: asyncio.Future[Started]
    """By what `start` gave."""


class Gate:
    """Lets requests through as the level, the pace, the server's wishes and the breaker allow.

    First come, first served; a question that is tried again keeps its place.
    """

    def __init__(
        self,
        limits: Limits,
        level: Level,
        stats: EndpointStats,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        """Must be made inside a running event loop. `may_send` is asked before each request is sent."""
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._level = level
        self._stats = stats
        self._requests, self._tokens = Pace(requests_per_minute), Pace(tokens_per_minute)
        self._may_send = may_send
        self._breaker = Breaker(limits, self._loop.time())
        self._waiters: list[_Waiter] = []
        self._order = itertools.count()
        self._closed_until = 0.0
        self._overloads = 0
        self._alarm: asyncio.TimerHandle | None = None
        stats.limit = level.value

    def ticket(self, tokens: int, start: Callable[[], T]) -> "Ticket[T]":
        """A place in the queue for a question that will take about so many tokens.

        `start` sends it. It is called at once when there is room, before whoever made that room goes on: the
        server would wait until the asking task has its turn.
        """
        return Ticket(self, next(self._order), tokens, start)

    def now(self) -> float:
        """The gate's clock, in seconds."""
        return self._loop.time()

    async def enter(self, order: int, tokens: int, start: Callable[[], Started]) -> Started:
        """Waits for a slot and starts in it; returns what `start` gave.

        Raises:
            ModelUnavailableError: the model was stopped.
        """
        self._refuse_if_stopped()
        if not self._stats.in_flight and not self._waiters:
            self._breaker.idle(self.now())
        if not self._waiters and self._has_room() and self._wait() <= 0:
            self._grant(tokens)
            return start()
        woken: asyncio.Future[Started] = self._loop.create_future()
        heapq.heappush(self._waiters, _Waiter(order, tokens, start, woken))
        self._dispatch()
        try:
            return await woken
        except asyncio.CancelledError:
            if woken.done() and not woken.cancelled() and woken.exception() is None:
                woken.result().cancel()  # the slot came together with the cancellation
                self.leave()
            raise

    def leave(self) -> None:
        """Gives the slot back."""
        self._stats.in_flight -= 1
        self._dispatch()

    def answered(self, tokens: int, estimated: int) -> None:
        """The server gave an answer; call it while the slot is held."""
        now = self.now()
        saturated = self._stats.in_flight >= self._level.value
        self._overloads = 0
        self._breaker.answered(now)
        self._tokens.spend(now, tokens - estimated)
        self._level.answered(now, tokens, saturated)
        self._stats.limit = self._level.value

    def throttled(self, sent_at: float, retry_after: float | None) -> None:
        """The server wants less: halves the level and closes the gate for a while."""
        fresh = self._level.throttled(sent_at, self.now())
        self._stats.limit = self._level.value
        if retry_after is not None:
            self.pause(retry_after)
        elif fresh:
            self._overloads += 1
            wait = self._limits.first_wait * 2.0 ** min(self._overloads, 30)
            self.pause(min(self._limits.longest_wait, wait))

    def failed(self, reason: str, retry_after: float | None) -> None:
        """A try failed for another reason than throttling."""
        wait = self._breaker.failed()
        self.pause(max(wait, retry_after or 0.0))
        if self._breaker.is_dead(self.now()):
            self._stats.away = True
            self.stop(f"no answer for {self._limits.dead_after:.0f} s; the last error: {reason}")

    def pause(self, seconds: float) -> None:
        """Lets nobody through for so long, and a little longer so that not all clients come back at once."""
        if seconds > 0:
            jittered = seconds * (1 + 0.1 * random.random())  # noqa: S311  no secret hangs on it
            self._closed_until = max(self._closed_until, self.now() + jittered)

    def stop(self, reason: str) -> None:
        """Turns everybody away from now on."""
        self._stats.stopped = self._stats.stopped or reason
        while self._waiters:
            woken = heapq.heappop(self._waiters).woken
            if not woken.done():
                woken.set_exception(ModelUnavailableError(self._stats.stopped))

    def _refuse_if_stopped(self) -> None:
        if self._stats.stopped:
            raise ModelUnavailableError(self._stats.stopped)

    def _dispatch(self) -> None:
        while self._waiters and self._has_room():
            if self._waiters[0].woken.done():  # cancelled while it waited
                heapq.heappop(self._waiters)
                continue
            if (wait := self._wait()) > 0:
                self._wake_in(wait)
                break
            waiter = heapq.heappop(self._waiters)
            self._grant(waiter.tokens)
            waiter.woken.set_result(waiter.start())
        self._stats.waiting = len(self._waiters)

    def _has_room(self) -> bool:
        most = 1 if self._breaker.trying else self._level.value
        return self._stats.in_flight < most and self._may_send()

    def _grant(self, tokens: int) -> None:
        now = self.now()
        self._stats.in_flight += 1
        self._level.sent(now)
        self._requests.spend(now, 1)
        self._tokens.spend(now, tokens)

    def _wait(self) -> float:
        now = self.now()
        return max(self._closed_until - now, self._requests.wait(now), self._tokens.wait(now))

    def _wake_in(self, seconds: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_later(seconds, self._dispatch)


class Ticket(Generic[T]):
    """One question's place in the queue, kept while it is tried again; `async with` it around each try."""

    __slots__ = ("_gate", "_order", "_start", "_tokens")

    def __init__(self, gate: Gate, order: int, tokens: int, start: Callable[[], T]) -> None:
        """Made by `Gate.ticket`."""
        self._gate, self._order, self._tokens, self._start = gate, order, tokens, start

    async def __aenter__(self) -> T:
        """Waits until one request may be sent, which is done then; returns what `start` gave.

        Raises:
            ModelUnavailableError: the model was stopped.
        """
        return cast(T, await self._gate.enter(self._order, self._tokens, self._start))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gate.leave()
