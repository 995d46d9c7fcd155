"""The queue of requests to one server: which is sent next and when, and when the server is given up."""

import asyncio
import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from triathlon_runner.llm._api import EndpointStats, ModelUnavailableError, ServerUnreachableError
from triathlon_runner.terminal import duration

_SECONDS_BETWEEN_LINES = 60.0
"""Between two lines that the server does not answer."""
_SECONDS_OF_429S = 30.0
"""Of nothing but 429s, before a line says so."""
_ACCEPTED_SECONDS = 30.0
"""A request that is in flight for longer has been accepted: a 429 would have come by now."""
_SHOWN_WAIT = 5.0
"""A wait of at least this many seconds that a server asks for is shown."""
_LONGEST_HELD = 10.0
"""Most seconds for which a question that waits after a 429 counts as one in flight."""
_LONGEST_FIRST_WAIT = 2.0
"""Most seconds between two requests to a server that no connection was ever made to."""
_WINDOW, _FEW = 64, 4
"""Replies by which the requests at once are judged; fewer 429s than the second number say nothing."""
_TOO_MANY, _HEAVY = 0.25, 0.5
"""Share of 429s from which on there are fewer requests at once; from which on they are surely no accident."""
_FEW_ENOUGH = 0.05
"""Share of 429s up to which there are more requests at once."""
_DOWN, _FIRST_STEP, _LARGEST_STEP = 0.7, 0.05, 0.5
"""Factor by which the requests at once are lowered; share by which they are raised, first and at most."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Attempts, waits and concurrency for one model. The defaults suit a provider on the internet."""

    concurrency: int = 32
    """Most requests in flight at once, where the row does not say."""
    first_concurrency: int = 8
    """Requests at once with which the search for the right limit starts."""
    attempts: int = 12
    """Attempts at one question, 429s not counted, and those not that fail while the server is down."""
    throttled_attempts: int = 40
    """Tries of one question that may meet a 429."""
    first_wait: float = 0.5
    """Back-off after the first failure, in seconds; doubles with each, with jitter."""
    longest_wait: float = 10.0
    """Largest back-off, in seconds."""
    longest_retry_after: float = 900.0
    """A server that asks us to wait longer than this has its model stopped instead."""
    failures_in_a_row: int = 10
    """Failures in a row after which only one request at a time is sent."""
    outage_seconds: float = 600.0
    """Seconds without an answer after which the model is stopped, if its server was ever connected to."""
    first_contact_seconds: float = 10.0
    """Seconds after which the model is stopped if no connection to its server was ever made."""
    requests_per_minute: int | None = None
    """The row's limit."""
    tokens_per_minute: int | None = None
    """The row's limit."""

    @property
    def is_own_server(self) -> bool:
        """Whether the server may be away for any time: it is ours, and whoever restarts it says so."""
        return math.isinf(self.outage_seconds)


def jitter() -> float:
    """Returns a factor between a half and one, so that not all clients return at once."""
    return random.uniform(0.5, 1.0)  # noqa: S311  no secret depends on it


class RateLimit:
    """Limits requests or tokens a minute: spread evenly, in bursts of at most a twentieth of `per_minute`."""

    def __init__(self, per_minute: int | None) -> None:
        """None: no limit."""
        self._burst = max(1.0, per_minute / 20) if per_minute else 0.0
        self._seconds_each = 60.0 / (per_minute - self._burst + 1) if per_minute else 0.0
        self._full_at = float("-inf")

    def wait(self, now: float) -> float:
        """Returns the seconds until something may be sent."""
        if not self._seconds_each:
            return 0.0
        return max(0.0, self._full_at - (self._burst - 1) * self._seconds_each - now)

    def spend(self, now: float, amount: float) -> None:
        """Counts what was sent; a negative amount gives back what was estimated too high, or never used."""
        if self._seconds_each:
            self._full_at = max(self._full_at, now) + amount * self._seconds_each


class LearnedLimit:
    """Requests at once (`value`) that a server accepts; a question that waits after a 429 counts as one.

    Without 429s they double. Where a quarter of the replies are 429s, and at each time-out, they are lowered.
    If that changes nothing, the 429s come by chance: the limit is restored, and their share is expected from
    then on. Where all are 429s, the waits of the questions alone lower what is sent: the server may open
    again at any moment.
    """

    def __init__(self, first: int, most: int) -> None:
        """Starts at `first`; equal values make the limit a fixed number until a 429 comes."""
        self.most = max(1, most)
        self._level = float(max(1, min(first, self.most)))
        self._changed_at = float("-inf")
        self._replies: deque[bool] = deque(maxlen=_WINDOW)
        """Of the replies to requests since the last change: whether each was a 429."""
        self._has_refused = False
        self._expected = 0.0
        """Share of 429s that come by chance."""
        self._before: tuple[float, float] | None = None
        """Share of 429s and level before the last lowering, until it is known whether that helped."""
        self._step = _FIRST_STEP

    @property
    def value(self) -> int:
        """Requests that may be in flight."""
        return max(1, int(self._level))

    def replied(self, sent_at: float, now: float, *, is_refused: bool) -> bool:
        """Counts an answer or a 429, and changes the limit once enough replies came.

        Returns:
            Whether so many of the last replies are 429s that all should wait.
        """
        self._has_refused |= is_refused
        if sent_at < self._changed_at:
            return False
        self._replies.append(is_refused)
        count, refused = len(self._replies), sum(self._replies)
        share, is_whole = refused / count, count >= _WINDOW
        is_heavy = refused >= _FEW and share >= _HEAVY
        if self._before is not None and not is_heavy:
            if is_whole:
                (before, level), self._before = self._before, None
                if before < _HEAVY and share > before / 2:
                    self._expected = max(self._expected, before, share)
                    self._set(level, now)
        elif is_heavy or (count >= _WINDOW / 2 and share >= max(_TOO_MANY, 2 * self._expected)):
            if refused < count:
                before_first = self._before or (share, self._level)
                self._step = _FIRST_STEP
                self._set(self._level * _DOWN, now)
                self._before = before_first
        elif not self._has_refused and count >= min(self.value, _WINDOW):
            self._set(2 * self._level, now)
        elif is_whole and share <= max(_FEW_ENOUGH, 1.5 * self._expected):
            self._set(max(self._level + 1, self._level * (1 + self._step)), now)
            self._step = min(_LARGEST_STEP, 2 * self._step)
        return is_heavy

    def timed_out(self, sent_at: float, now: float) -> None:
        """Lowers the limit because a reply did not come in time."""
        if sent_at >= self._changed_at:
            self._has_refused, self._step = True, _FIRST_STEP
            self._set(self._level * _DOWN, now)

    def _set(self, level: float, now: float) -> None:
        self._level, self._changed_at = min(float(self.most), max(1.0, level)), now
        self._replies.clear()


@dataclass(order=True, slots=True)
class Slot:
    """Room for one request, from the queue until it is answered or has failed."""

    place: int
    """In the queue; no two that wait are equal."""
    tokens: int = field(compare=False)
    """That it is expected to take; 0 once it is answered: a failed try took none."""
    admitted: asyncio.Future[None] = field(compare=False)
    sent_at: float = field(default=0.0, compare=False)
    """When it was admitted, by the queue's clock."""


class RequestQueue:
    """Admits requests as concurrency, pace, `Retry-After` and outages allow.

    First come, first served; a question that is tried again keeps its place in the queue.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        may_send: Callable[[], bool] = lambda: True,
        say: Callable[[str], None] = lambda _: None,
        reached: bool = False,
    ) -> None:
        """Must be made inside a running event loop.

        Nothing is sent while `may_send` returns False. `say` gets a line where the server does not answer or
        asks us to wait. `reached`: a connection to the server was made before.
        """
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time
        self.limits, self.stats, self.say = limits, EndpointStats(), say
        self._may_send = may_send
        self._turns = itertools.count()
        self._waiters: list[Slot] = []
        self._in_flight: dict[int, Slot] = {}
        """By place in the queue; the oldest first."""
        self._held = 0
        """Questions that wait after a 429, and take a slot."""
        self.stopped: ModelUnavailableError | None = None
        """Why no more requests are sent; None while they may be."""
        self._requests = RateLimit(limits.requests_per_minute)
        self._tokens = RateLimit(limits.tokens_per_minute)
        self._learned = LearnedLimit(limits.first_concurrency, limits.concurrency)
        self.reached = reached
        """Whether a connection to the server was ever made."""
        self._failures = 0
        """Tries in a row that failed without a 429."""
        self._away_since: float | None = None
        """When it was first seen that the server answers nothing; None where the last reply was an answer."""
        self._next_line_at = 0.0
        """When its absence is shown again; 0 where it was not shown yet."""
        self._closed_until = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._report()

    def place(self) -> int:
        """Returns a place in the queue for a question, which keeps it when it is tried again."""
        return next(self._turns)

    @asynccontextmanager
    async def slot(self, place: int, tokens: int) -> AsyncIterator[Slot]:
        """Waits until a request of about so many tokens may be sent; holds its slot while the block lasts.

        Raises:
            ModelUnavailableError: the model was stopped.
        """
        self.raise_if_stopped()
        slot = Slot(place, tokens, self._loop.create_future())
        heapq.heappush(self._waiters, slot)
        self._send_next()
        try:
            await slot.admitted
            self.raise_if_stopped()
            yield slot
        finally:
            if self._in_flight.pop(place, None) is not None:
                self._tokens.spend(self.now(), -slot.tokens)
                self._report()  # what may be spent depends on how many are in flight
                self._send_next()

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

    # What became of a try

    def replied(self) -> None:
        """Notes a reply of any kind: the server is there."""
        self.reached = True
        self._away_since, self._failures = None, 0

    def answered(self, slot: Slot, tokens: int) -> None:
        """Counts an answer that took so many tokens; called while the slot is held."""
        now = self.now()
        if self._next_line_at and self._away_since is not None:
            self.say(f"the server answers again after {duration(now - self._away_since)}")
            self._next_line_at = 0.0
        self.replied()
        self._tokens.spend(now, tokens - slot.tokens)
        slot.tokens = 0
        self._learned.replied(slot.sent_at, now, is_refused=False)

    def failed(self, reason: str, retry_after: float | None, *, is_only: bool = False) -> None:
        """Counts a try that failed without a 429; where it was the `is_only` one, the server is away.

        Raises:
            ModelUnavailableError: the server asks for a wait that is too long.
        """
        self._refuse_long_wait(retry_after, reason)
        self._away_since = self.now() if self._away_since is None else self._away_since
        self._failures = max(self._failures + 1, self._failures_allowed if is_only else 0)
        if not self.is_away:
            return
        longest = self.limits.longest_wait if self.reached else _LONGEST_FIRST_WAIT
        doublings = min(30, self._failures - self._failures_allowed + 1)
        wait = max(min(longest, self.limits.first_wait * 2.0**doublings), retry_after or 0.0)
        self._pause(min(wait, self.outage_left))
        self._note_absence(reason, "run again later")

    def throttled(self, slot: Slot, wait: float, retry_after: float | None, reason: str) -> None:
        """Counts a 429 whose question is tried again after `wait` seconds.

        Where it surely means too much load, all requests wait as long as it asks. Where nothing but 429s came
        for as long as an outage may last, the model is stopped.

        Raises:
            ModelUnavailableError: the server asks for a wait that is too long.
        """
        self._refuse_long_wait(retry_after, reason)
        now = self.now()
        self._held += 1
        # a long wait that the server asks of one question is no reason to send fewer of the others
        self._loop.call_later(min(wait, _LONGEST_HELD), self._let_go)
        is_overloaded = self._learned.replied(slot.sent_at, now, is_refused=True)
        self._away_since = now if self._away_since is None else self._away_since
        oldest = next(iter(self._in_flight.values()), slot).sent_at
        if now - oldest <= _ACCEPTED_SECONDS:  # no request in flight waits for an answer: all meet a 429
            advice = (
                "look at the quota at the provider, or set a smaller `concurrency` or `requests_per_minute`"
                " in the row, and run again"
            )
            self._note_absence(reason, advice, shown_after=_SECONDS_OF_429S)
        if is_overloaded and retry_after is not None and not self.stopped:
            if retry_after >= _SHOWN_WAIT and self._closed_until < now + retry_after - _SHOWN_WAIT:
                self.say(f"waiting {duration(retry_after)}, as the server asks: {reason}")
            self._pause(retry_after)

    def timed_out(self, slot: Slot) -> None:
        """Counts a reply that did not come in time: the server may work on too many requests."""
        self._learned.timed_out(slot.sent_at, self.now())

    def _let_go(self) -> None:
        self._held -= 1
        self._send_next()

    def _refuse_long_wait(self, seconds: float | None, reason: str) -> None:
        """Stops the model, and raises why, where the server asks for more than the longest allowed wait."""
        longest = self.limits.longest_retry_after
        if seconds is not None and seconds > longest:
            error = ServerUnreachableError(
                f"the server asks us to wait {duration(seconds)} ({reason}), longer than the"
                f" {duration(longest)} that are allowed; run again later, or allow more with"
                " `run --longest-wait`"
            )
            self.stop(error)
            self.raise_if_stopped()

    def _pause(self, seconds: float) -> None:
        """Sends nothing for `seconds` and up to a tenth longer, so that not all clients return at once."""
        if seconds > 0:
            jittered = seconds * (1 + 0.1 * random.random())  # noqa: S311  no secret depends on it
            self._closed_until = max(self._closed_until, self.now() + jittered)

    def _note_absence(self, reason: str, advice: str, shown_after: float = 0.0) -> None:
        """Shows that the server answers nothing, or stops the model once that has lasted too long."""
        if self.limits.is_own_server:
            return
        now, allowed = self.now(), self._outage
        seconds = allowed - self.outage_left
        is_lasting = self.reached and round(seconds) > 0
        silence = f"no answer for {duration(seconds)}" if is_lasting else "no answer from the server"
        if seconds >= allowed:
            if self.reached:
                advice += f", or wait longer than {duration(allowed)} with `run --outage`"
            self.stop(ServerUnreachableError(f"{silence}, given up: {reason}; {advice}"))
        elif seconds >= shown_after and now >= self._next_line_at:
            self._next_line_at = now + _SECONDS_BETWEEN_LINES
            self.say(f"{silence}: {reason}; trying again, for {duration(allowed)} at most")

    @property
    def _outage(self) -> float:
        """Seconds without an answer after which the model is stopped."""
        first = math.inf if self.reached else self.limits.first_contact_seconds
        return min(self.limits.outage_seconds, first)

    @property
    def outage_left(self) -> float:
        """Seconds until the model is stopped if no answer comes; below 0 where they have passed."""
        return self._outage - (0.0 if self._away_since is None else self.now() - self._away_since)

    @property
    def refuses_all(self) -> bool:
        """Whether nothing but 429s came for a while: a question that meets one more is not to blame."""
        return self._away_since is not None and self.now() - self._away_since > _SECONDS_OF_429S

    @property
    def _failures_allowed(self) -> int:
        return self.limits.failures_in_a_row if self.reached else 1

    @property
    def is_away(self) -> bool:
        """Whether so many tries in a row have failed that only one request at a time is sent."""
        return self._failures >= self._failures_allowed

    def _send_next(self) -> None:
        """Admits those first in the queue, as many as may be sent now."""
        while self._waiters and self._may_send():
            held, most = (0, 1) if self.is_away else (self._held, self._learned.value)
            if len(self._in_flight) + held >= most:
                break
            slot, now = self._waiters[0], self.now()
            if slot.admitted.done():  # cancelled while it waited
                heapq.heappop(self._waiters)
                continue
            wait = max(self._closed_until - now, self._requests.wait(now), self._tokens.wait(now))
            if wait > 0:
                if self._alarm is not None:
                    self._alarm.cancel()
                self._alarm = self._loop.call_later(wait, self._send_next)
                break
            heapq.heappop(self._waiters)
            slot.sent_at = now
            self._in_flight[slot.place] = slot
            self._requests.spend(now, 1)
            self._tokens.spend(now, slot.tokens)
            slot.admitted.set_result(None)
            self._report()  # whether one more may be sent depends on how many are in flight
        self._report()

    def _report(self) -> None:
        stats = self.stats
        stats.in_flight = len(self._in_flight)
        stats.limit, stats.stopped = self._learned.value, str(self.stopped or "")
