"""The queue of requests to one server: which is sent next, and when."""

import asyncio
import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from statistics import fmean
from typing import NamedTuple

from triathlon_runner.endpoints._api import ModelUnavailableError, ServerUnreachableError
from triathlon_runner.endpoints._config import Limits
from triathlon_runner.endpoints._rate_limits import ConcurrencyLimit, LearnedLimit, RateLimit
from triathlon_runner.endpoints._retries import Outage
from triathlon_runner.endpoints._stats import EndpointStats
from triathlon_runner.terminal import duration

_SECONDS_BETWEEN_LINES = 60.0
"""Between two lines of one kind, such as that the server does not answer."""
_SECONDS_OF_429S = 30.0
"""Of nothing but 429s, before a line says so."""
_RECENT_ANSWERS = 100
"""Number of last answers whose times decide when a request hangs."""
_LEAST_HANGING_SECONDS, _TIMES_THE_SLOWEST = 10.0, 3.0
"""When the first try of a question hangs (`RequestQueue.hangs_after`)."""
_LEAST_STALLED_SECONDS, _TIMES_THE_MEAN = 1.0, 5.0
"""When a request in flight has stalled (`RequestQueue._stalled`)."""
_ACCEPTED_SECONDS = 30.0
"""A request that is in flight for longer has been accepted: a 429 would have come by now."""
_SHOWN_WAIT = 5.0
"""A wait of at least this many seconds that a server asks for is shown."""


def silent(message: str) -> None:
    """Ignores a message."""
    del message


class _Waiter(NamedTuple):
    place: int
    """Place in the queue; no two are equal."""
    tokens: int
    """That the request is expected to take."""
    admitted: asyncio.Future[None]


class RequestQueue:
    """Admits requests as concurrency, pace, `Retry-After` and outages allow.

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

        Nothing is sent while `may_send` returns False. `say` gets a line where the server does not answer or
        asks us to wait. `reached`: the server was seen to reply before.
        """
        self._loop = asyncio.get_running_loop()
        self.limits, self.stats = limits, stats
        self._may_send, self._say = may_send, say
        self._shown_at: dict[str, float] = {}
        """When the last line of a kind was shown."""
        self._turns = itertools.count()
        self._waiters: list[_Waiter] = []
        self._in_flight: dict[int, float] = {}
        """When each request in flight was sent, by its place in the queue; the oldest first."""
        self.stopped: ModelUnavailableError | None = None
        """Why no more requests are sent; None while they may be."""
        self._seconds: deque[float] = deque(maxlen=_RECENT_ANSWERS)
        """How long the last answers took."""
        self._requests = RateLimit(limits.requests_per_minute)
        self._tokens = RateLimit(limits.tokens_per_minute)
        self._learned = LearnedLimit(ConcurrencyLimit(limits.first_concurrency, limits.concurrency))
        self.outage = Outage(limits, reached=reached)
        self._closed_until = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._report()

    def place(self) -> int:
        """Returns a place in the queue for a question, which keeps it when it is tried again."""
        return next(self._turns)

    @asynccontextmanager
    async def slot(self, place: int, tokens: int) -> AsyncIterator[float]:
        """Waits until a request of about so many tokens may be sent; holds its slot while the block lasts.

        Yields:
            When it was admitted, by the queue's clock.

        Raises:
            ModelUnavailableError: the model was stopped.
        """
        self.raise_if_stopped()
        admitted: asyncio.Future[None] = self._loop.create_future()
        heapq.heappush(self._waiters, _Waiter(place, tokens, admitted))
        self._send_next()
        try:
            await admitted
            self.raise_if_stopped()
            yield self._in_flight[place]
        finally:
            if self._in_flight.pop(place, None) is not None:
                self._report()  # what may be spent depends on how many are in flight
                self._send_next()

    def now(self) -> float:
        """The queue's clock, in seconds."""
        return self._loop.time()

    def raise_if_stopped(self) -> None:
        """Raises the error that the model was stopped with, if it was."""
        if self.stopped is not None:
            raise type(self.stopped)(str(self.stopped))  # each caller has a traceback of its own

    def stop(self, error: ModelUnavailableError) -> None:
        """Refuses all requests from now on; each caller gets the error of the first call of `stop`."""
        self.stopped = self.stopped or error
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.admitted.done():
                waiter.admitted.set_result(None)
        self._report()

    def answered(self, sent_at: float, tokens: int, estimated: int) -> None:
        """Counts an answer of the server; called while the slot is held."""
        now = self.now()
        if self._shown_at.pop("silence", None) is not None:
            self._say(f"the server answers again after {duration(self.outage.seconds(now))}")
        self.outage.answered(now)
        self._seconds.append(now - sent_at)
        self._tokens.spend(now, tokens - estimated)
        is_full = len(self._in_flight) >= self._learned.level.value
        self._learned.answered(sent_at, now, tokens, is_full)

    def failed(self, sent_at: float, reason: str, retry_after: float | None) -> bool:
        """Counts a try that failed without a 429; returns whether the server counts as down now."""
        wait = self.outage.failed(sent_at)
        if wait:
            self.pause(max(wait, retry_after or 0.0))
            self._note_silence(reason, "run again later")
        else:
            self._report_wait(retry_after, reason)
        return wait > 0

    def throttled(self, sent_at: float, retry_after: float | None, reason: str) -> None:
        """Counts a 429; where it surely means too much load, all requests wait as long as it asks.

        Where nothing but 429s came for as long as an outage may last, the model is stopped.
        """
        now = self.now()
        is_overloaded = self._learned.throttled(sent_at, now)
        self.outage.unanswered(sent_at)
        oldest = next(iter(self._in_flight.values()), now)
        if now - oldest <= _ACCEPTED_SECONDS:  # no request in flight waits for an answer: all meet a 429
            advice = (
                "look at the quota at the provider, or set a smaller `concurrency` or `requests_per_minute`"
                " in the row, and run again"
            )
            self._note_silence(reason, advice, shown_after=_SECONDS_OF_429S)
        if self.stopped:
            return
        if is_overloaded and retry_after is not None:
            self.wait_for_server(retry_after, reason)
        else:
            self._report_wait(retry_after, reason)

    def _note_silence(self, reason: str, advice: str, shown_after: float = 0.0) -> None:
        """Shows that the server answers nothing, or stops the model once that has lasted too long."""
        if self.limits.is_own_server:
            return
        seconds, allowed = self.outage.seconds(self.now()), self.outage.seconds_allowed
        is_lasting = self.outage.reached and round(seconds) > 0
        silence = f"no answer for {duration(seconds)}" if is_lasting else "no answer from the server"
        if seconds >= allowed:
            if self.outage.reached:
                advice += f", or wait longer than {duration(allowed)} with --outage"
            self.stop(ServerUnreachableError(f"{silence}, given up: {reason}; {advice}"))
        elif seconds >= shown_after:
            until = f"for {duration(allowed)} at most"
            self._say_at_intervals("silence", f"{silence}: {reason}; trying again, {until}")

    def _report_wait(self, seconds: float | None, reason: str) -> None:
        """Shows that a question waits by itself, as the server asks."""
        if (seconds or 0.0) >= _SHOWN_WAIT:
            waiting = f"a request waits {duration(seconds or 0.0)}, as the server asks"
            self._say_at_intervals("held back", f"{waiting}; others go on: {reason}")

    def _say_at_intervals(self, kind: str, message: str) -> None:
        now = self.now()
        if now - self._shown_at.get(kind, -math.inf) >= _SECONDS_BETWEEN_LINES:
            self._shown_at[kind] = now
            self._say(message)

    def wait_for_server(self, seconds: float, reason: str) -> None:
        """Sends nothing for as long as the server asks; beyond the longest allowed wait the model stops."""
        longest = self.limits.longest_retry_after
        if seconds > longest:
            error = ServerUnreachableError(
                f"the server asks us to wait {duration(seconds)} ({reason}), longer than the"
                f" {duration(longest)} that are allowed; run again later, or allow more with --longest-wait"
            )
            self.stop(error)
            return
        if seconds >= _SHOWN_WAIT and self._closed_until < self.now() + seconds - _SHOWN_WAIT:
            self._say(f"waiting {duration(seconds)}, as the server asks: {reason}")
        self.pause(seconds)

    def pause(self, seconds: float) -> None:
        """Sends nothing for `seconds` and up to a tenth longer, so that not all clients return at once."""
        if seconds > 0:
            jittered = seconds * (1 + 0.1 * random.random())  # noqa: S311  no secret depends on it
            self._closed_until = max(self._closed_until, self.now() + jittered)

    @property
    def hangs_after(self) -> float:
        """Seconds after which the first try of a question is abandoned: the server has probably lost it.

        Three times what the slowest of the last answers took, and at least ten seconds; infinite while there
        are too few answers to tell.
        """
        if len(self._seconds) < _RECENT_ANSWERS:
            return math.inf
        return max(_LEAST_HANGING_SECONDS, _TIMES_THE_SLOWEST * max(self._seconds))

    def _send_next(self) -> None:
        """Admits those first in the queue, as many as may be sent now."""
        while self._waiters and self._has_room():
            if self._waiters[0].admitted.done():  # cancelled while it waited
                heapq.heappop(self._waiters)
            elif (wait := self._wait()) > 0:
                self._send_next_in(wait)
                break
            else:
                self._admit(heapq.heappop(self._waiters))
        if self._waiters and self._in_flight and not self._has_room():
            self._send_next_in(self._stalls_after())  # by then some of those in flight may have stalled
        self._report()

    def _admit(self, waiter: _Waiter) -> None:
        now = self.now()
        self._in_flight[waiter.place] = now
        self._learned.sent(now)
        self._requests.spend(now, 1)
        self._tokens.spend(now, waiter.tokens)
        waiter.admitted.set_result(None)

    def _has_room(self) -> bool:
        if not self._may_send():
            return False
        in_flight = len(self._in_flight)
        if self.outage.one_at_a_time:
            return in_flight < 1
        level = self._learned.level
        if in_flight < level.value:
            return True
        return in_flight < level.most and in_flight - self._stalled() < level.value

    def _stalled(self) -> int:
        """Counts requests in flight for so long that the server has probably stopped working on them.

        They count against the row's limit, not against the learned one.
        """
        before = self.now() - self._stalls_after()
        return sum(1 for _ in itertools.takewhile(lambda sent: sent <= before, self._in_flight.values()))

    def _stalls_after(self) -> float:
        mean = fmean(self._seconds) if self._seconds else 0.0
        return max(_LEAST_STALLED_SECONDS, _TIMES_THE_MEAN * mean)

    def _wait(self) -> float:
        now = self.now()
        waits = (self._requests.wait(now), self._tokens.wait(now), self._learned.wait(now))
        return max(self._closed_until - now, *waits)

    def _send_next_in(self, seconds: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_later(seconds, self._send_next)

    def _report(self) -> None:
        stats, level = self.stats, self._learned.level
        stats.in_flight = len(self._in_flight)
        stats.most_in_flight = max(stats.most_in_flight, stats.in_flight)
        stats.oldest_sent = next(iter(self._in_flight.values()), None)
        stats.limit, stats.stopped = min(level.value + self._stalled(), level.most), str(self.stopped or "")
