"""The queue in front of an endpoint: who may send, and when."""

import asyncio
import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

from triathlon_runner.endpoints._breaker import Breaker
from triathlon_runner.endpoints._errors import ModelUnavailableError, ServerAwayError
from triathlon_runner.endpoints._level import Level
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._load import LoadLimit
from triathlon_runner.endpoints._pace import Pace
from triathlon_runner.endpoints._stats import EndpointStats

_SECONDS_BETWEEN_LINES = 60.0
"""Between two lines about a server that is away."""
_LONGEST_WAIT_BY_CHANCE = 2.0
_RECENT_ANSWERS = 100
_LEAST_HANGING_SECONDS, _TIMES_THE_SLOWEST = 10.0, 3.0
"""When the first try of a question hangs (`Gate.hangs_after`)."""
_SHOWN_WAIT = 5.0
"""Seconds of a wait that a server asks for from which on it is shown."""


def silent(message: str) -> None:
    """Says nothing to anybody."""
    del message


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
        *,
        say: Callable[[str], None] = silent,
        reached: bool = False,
    ) -> None:
        """Must be made inside a running event loop.

        `may_send` is asked before each request is sent; `say` gets a line where the server lets us wait;
        `reached`: it was seen to reply before.
        """
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._level, self._load = level, LoadLimit(level)
        self._stats = stats
        self._say, self._said_at = say, float("-inf")
        self._is_away = False
        self._started: dict[int, float] = {}
        """When each request in flight was sent, by its place in the queue; the oldest first."""
        self._seconds: deque[float] = deque(maxlen=_RECENT_ANSWERS)
        """How long the last answers took."""
        self._latency = self._failing = 0.0
        """Seconds of the last answers, and share of the last tries that failed; smoothed."""
        self._stopped_by: type[ModelUnavailableError] = ModelUnavailableError
        self._requests, self._tokens = Pace(requests_per_minute), Pace(tokens_per_minute)
        self._may_send = may_send
        self._breaker = Breaker(limits, self._loop.time(), reached=reached)
        self._waiters: list[_Waiter] = []
        self._order = itertools.count()
        self._closed_until = 0.0
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
            self._grant(order, tokens)
            return start()
        woken: asyncio.Future[Started] = self._loop.create_future()
        heapq.heappush(self._waiters, _Waiter(order, tokens, start, woken))
        self._dispatch()
        try:
            return await woken
        except asyncio.CancelledError:
            if woken.done() and not woken.cancelled() and woken.exception() is None:
                woken.result().cancel()  # the slot came together with the cancellation
                self.leave(order)
            raise

    def leave(self, order: int) -> None:
        """Gives the slot back."""
        self._stats.in_flight -= 1
        self._started.pop(order, None)
        self._dispatch()

    def reached(self) -> None:
        """The server has replied, in whatever way."""
        self._breaker.reached = True

    def answered(self, sent_at: float, tokens: int, estimated: int) -> None:
        """The server gave an answer; call it while the slot is held."""
        now = self.now()
        saturated = self._stats.in_flight >= self._load.value
        if self._is_away:
            self._is_away = False
            self._say(f"the server answers again after {_minutes(self._breaker.silent_for(now))}")
        self._failing *= 0.95
        self._latency += 0.1 * (now - sent_at - self._latency)
        self._seconds.append(now - sent_at)
        self._breaker.answered(now)
        self._tokens.spend(now, tokens - estimated)
        self._load.answered(sent_at, now, tokens, saturated)
        self._stats.limit = self._load.value

    def throttled(self, sent_at: float, retry_after: float | None, reason: str) -> None:
        """The server refused one request as too many; where it surely means all, all wait."""
        overloaded = self._load.throttled(sent_at, self.now())
        self._stats.limit = self._load.value
        if overloaded and retry_after is not None:
            self.wait_for_server(retry_after, reason)

    def failed(self, reason: str, retry_after: float | None) -> bool:
        """A try failed for another reason than throttling; says whether the server answers nobody now."""
        self._failing += 0.05 * (1 - self._failing)
        wait = self._breaker.failed()
        if not wait:
            return False
        self.pause(max(wait, retry_after or 0.0))
        now = self.now()
        if self._breaker.is_dead(now):
            self._stats.away = True
            self.stop(f"{self._silence(now)}, given up: {reason}", ServerAwayError)
        elif not self._is_away or now - self._said_at >= _SECONDS_BETWEEN_LINES:
            self._is_away, self._said_at = True, now
            patience = self._breaker.patience
            until = "" if math.isinf(patience) else f", for {_minutes(patience)} at most"
            self._say(f"{self._silence(now)}: {reason}; trying again{until}")
        return True

    def _silence(self, now: float) -> str:
        if not self._breaker.reached:
            return "the server cannot be reached"
        return f"no answer for {_minutes(self._breaker.silent_for(now))}"

    @property
    def hangs_after(self) -> float:
        """Seconds after which the first try of a question is given up: the server has probably lost it.

        Three times what the slowest of the last answers took, and at least ten seconds; without an end while
        there are too few answers to tell.
        """
        if len(self._seconds) < _RECENT_ANSWERS:
            return math.inf
        return max(_LEAST_HANGING_SECONDS, _TIMES_THE_SLOWEST * max(self._seconds))

    @property
    def longest_wait(self) -> float:
        """Largest back-off of one question, in seconds: short where most tries are answered.

        Failures that come by chance are not fewer after a longer wait.
        """
        longest = self._limits.longest_wait
        return longest if self._failing > 0.5 else min(longest, _LONGEST_WAIT_BY_CHANCE)

    def wait_for_server(self, seconds: float, reason: str) -> None:
        """Lets nobody through for as long as the server asks; past the longest wait the model stops."""
        if seconds > self._limits.longest_retry_after:
            self.stop(
                f"the server lets us wait {_minutes(seconds)} ({reason}), longer than the"
                f" {_minutes(self._limits.longest_retry_after)} that are waited; run again later, or allow"
                " more with --longest-wait",
                ServerAwayError,
            )
            return
        if seconds >= _SHOWN_WAIT and self._closed_until < self.now() + seconds - _SHOWN_WAIT:
            self._say(f"waiting {_minutes(seconds)}, as the server asks: {reason}")
        self.pause(seconds)

    def pause(self, seconds: float) -> None:
        """Lets nobody through for so long, and a little longer so that not all clients come back at once."""
        if seconds > 0:
            jittered = seconds * (1 + 0.1 * random.random())  # noqa: S311  no secret hangs on it
            self._closed_until = max(self._closed_until, self.now() + jittered)

    def stop(self, reason: str, error: type[ModelUnavailableError] = ModelUnavailableError) -> None:
        """Turns everybody away from now on, with an error of this kind."""
        if not self._stats.stopped:
            self._stopped_by = error
        self._stats.stopped = self._stats.stopped or reason
        while self._waiters:
            woken = heapq.heappop(self._waiters).woken
            if not woken.done():
                woken.set_exception(self._stopped_by(self._stats.stopped))

    def _refuse_if_stopped(self) -> None:
        if self._stats.stopped:
            raise self._stopped_by(self._stats.stopped)

    def _dispatch(self) -> None:
        while self._waiters and self._has_room():
            if self._waiters[0].woken.done():  # cancelled while it waited
                heapq.heappop(self._waiters)
                continue
            if (wait := self._wait()) > 0:
                self._wake_in(wait)
                break
            waiter = heapq.heappop(self._waiters)
            self._grant(waiter.order, waiter.tokens)
            waiter.woken.set_result(waiter.start())
        if self._waiters and self._started and not self._has_room():
            self._wake_in(self._stalls_after())  # what is in flight may have stalled then
        self._stats.waiting = len(self._waiters)

    def _has_room(self) -> bool:
        if not self._may_send():
            return False
        in_flight = self._stats.in_flight
        if self._breaker.trying:
            return in_flight < 1
        if in_flight < self._load.value:
            return True
        return in_flight < self._level.most and in_flight - self._stalled() < self._load.value

    def _stalled(self) -> int:
        """Requests in flight for so long that the server cannot be at work on them as on the others.

        They hold none of the places that the search has found, only those of the row's own limit. Where a
        server was seen to refuse more, they may count for it: then they do here.
        """
        if self._load.is_known and not self._load.by_chance:
            return 0
        before, count = self.now() - self._stalls_after(), 0
        for started in self._started.values():
            if started > before:
                break
            count += 1
        return count

    def _stalls_after(self) -> float:
        return max(1.0, 5 * self._latency)

    def _grant(self, order: int, tokens: int) -> None:
        now = self.now()
        self._stats.in_flight += 1
        self._started[order] = now
        self._load.sent(now)
        self._requests.spend(now, 1)
        self._tokens.spend(now, tokens)

    def _wait(self) -> float:
        now = self.now()
        return max(
            self._closed_until - now, self._requests.wait(now), self._tokens.wait(now), self._load.wait(now)
        )

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
        self._gate.leave(self._order)


def _minutes(seconds: float) -> str:
    """`45 s`, `10 min` or `23 h 59 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
