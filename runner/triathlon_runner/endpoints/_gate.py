"""The queue in front of an endpoint: which request is sent next, and when."""

import asyncio
import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from triathlon_runner.endpoints._errors import ModelUnavailableError, ServerUnreachableError
from triathlon_runner.endpoints._limits import Breaker, ConcurrencyLimit, Limits, Pace
from triathlon_runner.endpoints._refusals import Refusals
from triathlon_runner.endpoints._stats import EndpointStats
from triathlon_runner.endpoints._throttling import LoadLimit

_SECONDS_BETWEEN_LINES = 60.0
"""Between two lines about a server that does not answer, or about requests that it holds back."""
_LONGEST_WAIT_BY_CHANCE = 2.0
"""Longest back-off, in seconds, while most tries are answered."""
_RECENT_ANSWERS = 100
"""Number of last answers whose times decide when a request hangs."""
_LEAST_HANGING_SECONDS, _TIMES_THE_SLOWEST = 10.0, 3.0
"""When the first try of a question hangs (`Gate.hangs_after`)."""
_SURELY_STALLED_SECONDS, _TIMES_STALLED = 3.0, 2.0
"""When a request counts as stalled though the server was seen to refuse more (`Gate._stalled`)."""
_SHOWN_WAIT = 5.0
"""A wait of at least this many seconds that a server asks for is shown."""


def silent(message: str) -> None:
    """Ignores a message."""
    del message


class _Waiter(NamedTuple):
    number: int
    """Place in the queue; no two are equal."""
    tokens: int
    """That the request is expected to take."""
    admitted: asyncio.Future[None]


class Gate:
    """Admits requests as concurrency, pace, `Retry-After` and the circuit breaker allow.

    First come, first served; a question that is tried again keeps its place in the queue.
    """

    def __init__(
        self,
        limits: Limits,
        stats: EndpointStats,
        *,
        may_send: Callable[[], bool] = lambda: True,
        say: Callable[[str], None] = silent,
        reached: bool = False,
    ) -> None:
        """Must be made inside a running event loop.

        Args:
            limits: Waits, concurrency, and requests and tokens a minute.
            stats: Gets what the panel shows; nothing is read from it.
            may_send: Called before each request; nothing is sent while it returns False.
            say: Gets a line where the server does not answer or asks us to wait.
            reached: Whether the server was seen to reply before.
        """
        self._loop = asyncio.get_running_loop()
        self.limits, self.stats = limits, stats
        self._concurrency = ConcurrencyLimit(limits.first_concurrency, limits.concurrency)
        self._load = LoadLimit(self._concurrency)
        self._say, self._last_line_at, self._last_held_at = say, float("-inf"), float("-inf")
        self._may_send = may_send
        self._in_flight: dict[int, float] = {}
        """When each request in flight was sent, by its place in the queue; the oldest first."""
        self._waiters: list[_Waiter] = []
        self._numbers = itertools.count()
        self._stopped: ModelUnavailableError | None = None
        self._is_down = False
        self._seconds: deque[float] = deque(maxlen=_RECENT_ANSWERS)
        """How long the last answers took."""
        self._latency = self._failing = 0.0
        """Seconds of the last answers, and share of the last tries that failed; smoothed."""
        self._requests, self._tokens = Pace(limits.requests_per_minute), Pace(limits.tokens_per_minute)
        self._breaker = Breaker(limits, self._loop.time(), reached=reached)
        self._refusals = Refusals(limits.outage_seconds)
        self._closed_until = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._refusal_timer: asyncio.TimerHandle | None = None
        """Set while all requests meet a 429: shows a line now and then."""
        self._report()

    def turn(self) -> int:
        """Returns a place in the queue for a question, which keeps it when it is tried again."""
        return next(self._numbers)

    @asynccontextmanager
    async def slot(self, turn: int, tokens: int) -> AsyncIterator[float]:
        """Waits until one request may be sent, and holds its slot while the block lasts.

        Args:
            turn: The question's place in the queue.
            tokens: About how many the question and its reply take.

        Yields:
            When it was admitted, by the gate's clock.

        Raises:
            ModelUnavailableError: the model was stopped.
        """
        await self._enter(turn, tokens)
        try:
            yield self.now()
        finally:
            self._leave(turn)

    def now(self) -> float:
        """The gate's clock, in seconds."""
        return self._loop.time()

    @property
    def stopped(self) -> str:
        """Why no more requests are sent; empty while they may be."""
        return "" if self._stopped is None else str(self._stopped)

    async def _enter(self, number: int, tokens: int) -> None:
        if self._stopped is not None:
            raise _copy(self._stopped)
        if not self._in_flight and not self._waiters:
            self._breaker.idle(self.now())
        if not self._waiters and self._has_room() and self._wait() <= 0:
            self._admit(number, tokens)
            return
        admitted: asyncio.Future[None] = self._loop.create_future()
        heapq.heappush(self._waiters, _Waiter(number, tokens, admitted))
        self._dispatch()
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted.done() and not admitted.cancelled() and admitted.exception() is None:
                self._leave(number)  # it was admitted and cancelled at the same time
            raise

    def _leave(self, number: int) -> None:
        del self._in_flight[number]
        self._dispatch()

    def reached(self) -> None:
        """Notes that the server has replied, in whatever way."""
        self._breaker.reached = True

    def answered(self, sent_at: float, tokens: int, estimated: int) -> None:
        """Counts an answer of the server; called while the slot is held."""
        now = self.now()
        saturated = len(self._in_flight) >= self._load.value
        if self._is_down:
            self._is_down = False
            self._say(f"the server answers again after {_minutes(self._breaker.silent_for(now))}")
        self.end_refusals()
        self._failing *= 0.95
        self._latency += 0.1 * (now - sent_at - self._latency)
        self._seconds.append(now - sent_at)
        self._breaker.answered(now)
        self._tokens.spend(now, tokens - estimated)
        self._load.answered(sent_at, now, tokens, saturated)
        self._report()

    def throttled(self, sent_at: float, retry_after: float | None, reason: str) -> None:
        """Counts a 429; where it surely means too much load, all requests wait as long as it asks.

        Where nothing but 429s came for as long as an outage may last, the model is stopped.
        """
        now = self.now()
        overloaded = self._load.throttled(sent_at, now)
        self._report()
        self._refusals.refused(sent_at, now, reason)
        if self._refusal_timer is None:
            self._refusal_timer = self._loop.call_later(_SECONDS_BETWEEN_LINES, self._say_refused)
        if self._refuses_all(now) and self._refusals.seconds(now) >= self._refusals.patience:
            self.stop(ServerUnreachableError(self._given_up(now)))
            return
        if overloaded and retry_after is not None:
            self.wait_for_server(retry_after, reason)
        else:
            self._say_held_back(retry_after or 0.0, reason)

    def failed(self, reason: str, retry_after: float | None) -> bool:
        """Counts a try that failed otherwise; returns whether the server counts as down now."""
        self._failing += 0.05 * (1 - self._failing)
        wait = self._breaker.failed()
        if not wait:
            self._say_held_back(retry_after or 0.0, reason)
            return False
        self.pause(max(wait, retry_after or 0.0))
        now = self.now()
        if self._breaker.is_dead(now):
            self.stop(ServerUnreachableError(f"{self._silence(now)}, given up: {reason}"))
        elif not self._is_down or now - self._last_line_at >= _SECONDS_BETWEEN_LINES:
            self._is_down, self._last_line_at = True, now
            patience = self._breaker.patience
            until = "" if math.isinf(patience) else f", for {_minutes(patience)} at most"
            self._say(f"{self._silence(now)}: {reason}; trying again{until}")
        return True

    def _say_held_back(self, seconds: float, reason: str) -> None:
        """Shows that a question waits by itself, as the server asks; not for each of many."""
        now = self.now()
        if seconds >= _SHOWN_WAIT and now - self._last_held_at >= _SECONDS_BETWEEN_LINES:
            self._last_held_at = now
            self._say(f"a request waits {_minutes(seconds)}, as the server asks; others go on: {reason}")

    def _refuses_all(self, now: float) -> bool:
        """Whether nothing but 429s comes, and no request in flight waits for an answer."""
        if self._refusals.since is None:
            return False
        oldest = next(iter(self._in_flight.values()), now)
        return not self._refusals.has_taken(oldest, now)

    def _say_refused(self) -> None:
        """Shows that every request is refused, and until when that may last; again after a minute."""
        now, refusals = self.now(), self._refusals
        self._refusal_timer = self._loop.call_later(_SECONDS_BETWEEN_LINES, self._say_refused)
        if not self._refuses_all(now):
            return
        left = refusals.patience - refusals.seconds(now)
        until = "until it answers" if math.isinf(left) else f"for {_minutes(max(0.0, left))} more (--outage)"
        pause = self._closed_until - now
        wait = f"; next in {_minutes(pause)}, as the server asks" if pause > _SHOWN_WAIT else ""
        self._say(
            f"no answer for {_minutes(refusals.seconds(now))}: {refusals.reason}; asking less and less often,"
            f" {until}{wait}"
        )

    def _given_up(self, now: float) -> str:
        return (
            f"expected an answer within {_minutes(self._refusals.patience)} (--outage), got none for"
            f" {_minutes(self._refusals.seconds(now))}: {self._refusals.reason}; look at the quota"
            " at the provider, set a smaller `concurrency` or `requests_per_minute` in the row, or wait"
            " longer with --outage, and run again"
        )

    def end_refusals(self) -> None:
        """Notes that the server replied with something else than 429, or that it is asked no longer."""
        self._refusals.answered()
        if self._refusal_timer is not None:
            self._refusal_timer.cancel()
            self._refusal_timer = None

    def _silence(self, now: float) -> str:
        if not self._breaker.reached:
            return "no answer from the server"
        return f"no answer for {_minutes(self._breaker.silent_for(now))}"

    @property
    def hangs_after(self) -> float:
        """Seconds after which the first try of a question is abandoned: the server has probably lost it.

        Three times what the slowest of the last answers took, and at least ten seconds; infinite while there
        are too few answers to tell.
        """
        if len(self._seconds) < _RECENT_ANSWERS:
            return math.inf
        return max(_LEAST_HANGING_SECONDS, _TIMES_THE_SLOWEST * max(self._seconds))

    @property
    def longest_wait(self) -> float:
        """Largest back-off of one question, in seconds: short where most tries are answered.

        Random failures do not become fewer after a longer wait.
        """
        longest = self.limits.longest_wait
        return longest if self._failing > 0.5 else min(longest, _LONGEST_WAIT_BY_CHANCE)

    def wait_for_server(self, seconds: float, reason: str) -> None:
        """Sends nothing for as long as the server asks; beyond the longest allowed wait the model stops."""
        longest = self.limits.longest_retry_after
        if seconds > longest:
            error = ServerUnreachableError(
                f"the server asks us to wait {_minutes(seconds)} ({reason}), longer than the"
                f" {_minutes(longest)} that are allowed; run again later, or allow more with --longest-wait"
            )
            self.stop(error)
            return
        if seconds >= _SHOWN_WAIT and self._closed_until < self.now() + seconds - _SHOWN_WAIT:
            self._say(f"waiting {_minutes(seconds)}, as the server asks: {reason}")
        self.pause(seconds)

    def pause(self, seconds: float) -> None:
        """Sends nothing for `seconds` and up to a tenth longer, so that not all clients return at once."""
        if seconds > 0:
            jittered = seconds * (1 + 0.1 * random.random())  # noqa: S311  no secret hangs on it
            self._closed_until = max(self._closed_until, self.now() + jittered)

    def stop(self, error: ModelUnavailableError) -> None:
        """Refuses all requests from now on; each caller gets the error of the first call of `stop`."""
        self._stopped = self._stopped or error
        self.end_refusals()
        self._report()
        while self._waiters:
            admitted = heapq.heappop(self._waiters).admitted
            if not admitted.done():
                admitted.set_exception(_copy(self._stopped))

    def raise_if_stopped(self) -> None:
        """Raises the error that the model was stopped with, if it was."""
        if self._stopped is not None:
            raise _copy(self._stopped)

    def _dispatch(self) -> None:
        while self._waiters and self._has_room():
            if self._waiters[0].admitted.done():  # cancelled while it waited
                heapq.heappop(self._waiters)
                continue
            if (wait := self._wait()) > 0:
                self._dispatch_in(wait)
                break
            waiter = heapq.heappop(self._waiters)
            self._admit(waiter.number, waiter.tokens)
            waiter.admitted.set_result(None)
        if self._waiters and self._in_flight and not self._has_room():
            self._dispatch_in(self._stalls_after())  # by then some of those in flight may have stalled
        self._report()

    def _has_room(self) -> bool:
        if not self._may_send():
            return False
        in_flight = len(self._in_flight)
        if self._breaker.trying:
            return in_flight < 1
        if in_flight < self._load.value:
            return True
        return in_flight < self._concurrency.most and in_flight - self._stalled() < self._load.value

    def _stalled(self) -> int:
        """Counts requests in flight for so long that the server has probably stopped working on them.

        They count against the row's limit, not against the measured one. A server that was seen to refuse
        requests above a limit may still count them: there a request must be older to count as stalled.
        """
        seconds = self._stalls_after()
        if self._load.is_known and not self._load.by_chance:
            seconds = max(_SURELY_STALLED_SECONDS, _TIMES_STALLED * seconds)
        before = self.now() - seconds
        return sum(1 for _ in itertools.takewhile(lambda sent: sent <= before, self._in_flight.values()))

    def _stalls_after(self) -> float:
        return max(1.0, 5 * self._latency)

    def _admit(self, number: int, tokens: int) -> None:
        now = self.now()
        self._in_flight[number] = now
        self._load.sent(now)
        self._requests.spend(now, 1)
        self._tokens.spend(now, tokens)
        self._report()

    def _wait(self) -> float:
        now = self.now()
        return max(
            self._closed_until - now, self._requests.wait(now), self._tokens.wait(now), self._load.wait(now)
        )

    def _dispatch_in(self, seconds: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_later(seconds, self._dispatch)

    def _report(self) -> None:
        stats = self.stats
        stats.in_flight, stats.waiting = len(self._in_flight), len(self._waiters)
        stats.limit, stats.stopped = self._load.value, self.stopped


def _copy(error: ModelUnavailableError) -> ModelUnavailableError:
    """The same error for one more asker: a traceback of its own."""
    return type(error)(str(error))


def _minutes(seconds: float) -> str:
    """`45 s`, `10 min` or `23 h 59 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
