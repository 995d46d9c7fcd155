"""What limits the requests to a model: attempts, waits, requests at once and a minute, a circuit breaker.

Arithmetic only: the caller brings the clock.
"""

from dataclasses import dataclass


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
    total_seconds: float = 1800.0
    """No question is tried again this long after it was first sent; an outage in between adds its time."""
    first_wait: float = 0.5
    """Back-off after the first failure, in seconds; doubles with each, with jitter."""
    longest_wait: float = 60.0
    """Largest back-off, in seconds."""
    longest_retry_after: float = 900.0
    """A server that asks us to wait longer than this has its model stopped instead."""
    failures_in_a_row: int = 10
    """Failures in a row after which only one request at a time is sent."""
    outage_seconds: float = 600.0
    """Seconds without an answer after which the model is stopped, if its server has answered before."""
    first_contact_seconds: float = 10.0
    """Seconds after which the model is stopped if its server was never reached."""
    unexplained: int = 5
    """Different questions in a row with the same 4xx that no rule explains, after which the model stops."""
    connect_seconds: float = 15.0
    """Longest wait for a connection."""
    requests_per_minute: int | None = None
    """The row's limit."""
    tokens_per_minute: int | None = None
    """The row's limit."""


_GROWS_WITH_IT = 0.2
"""Share of an increase of the limit by which the throughput must grow, or the increase is taken back."""
_ROUNDS_AT_REST = 20
"""Rounds without an increase after one was taken back."""


class ConcurrencyLimit:
    """A limit that starts low and doubles while throughput follows.

    Time is cut into rounds of `value` answers. A round that was run at the full limit is compared with the
    one before the last increase: if the throughput did not follow twice in a row, the increase is taken back
    and the limit rests there for some rounds. What a 429 means is decided elsewhere (`LoadLimit`).
    """

    def __init__(self, first: int, most: int) -> None:
        """Starts at `first`; equal values make the limit a fixed number."""
        self.most = max(1, most)
        self._value = float(max(1, min(first, most)))
        self._fixed = first >= most
        self._doubling = True
        self._resting = 0
        self._before: tuple[float, float] | None = None
        self._doubts = 0
        self._was_used = False
        self._start_round(None)

    @property
    def value(self) -> int:
        """Requests that may be in flight."""
        return int(self._value)

    def sent(self, now: float) -> None:
        """Counts a request: the first begins the first round, whose answers all come from these."""
        if not self._was_used:
            self._was_used = True
            self._start_round(now)

    def set(self, value: int) -> None:
        """Sets the limit, for what the throughput does not show; the search goes on from there."""
        self._value = float(max(1, min(value, self.most)))
        self._before = None
        self._doubts = self._resting = 0
        self._start_round(None)

    def answered(self, now: float, work: int, saturated: bool) -> None:
        """Counts an answer of `work` tokens; `saturated`: all slots were in use."""
        if self._round_began is None:
            self._start_round(now)
            return
        self._answers += 1
        self._work += max(1, work)
        self._saturated += saturated
        if self._answers >= self.value and now > self._round_began:
            if self._saturated * 2 > self._answers:
                self._end_round(self._work / (now - self._round_began))
            self._start_round(now)

    def _start_round(self, now: float | None) -> None:
        self._round_began = now
        self._answers = self._work = self._saturated = 0

    def _end_round(self, rate: float) -> None:
        if self._before is not None and not self._fixed and not self._followed(rate, *self._before):
            return
        if self._resting > 0:
            self._resting -= 1
        elif self._value < self.most:
            self._before = (self._value, rate)
            step = self._value if self._doubling else max(1.0, self._value / 16)
            self._value = min(float(self.most), self._value + step)

    def _followed(self, rate: float, value: float, rate_before: float) -> bool:
        wanted = rate_before * (1 + _GROWS_WITH_IT * (self._value / value - 1))
        if rate >= wanted:
            self._doubts = 0
            self._before = None
            return True
        self._doubts += 1
        if self._doubts >= 2:
            self._doubts = 0
            self._before = None
            self._value = value
            self._doubling = False
            self._resting = _ROUNDS_AT_REST
        return False


class Pace:
    """Limits requests or tokens a minute: spread evenly, in bursts of at most a twentieth of `per_minute`."""

    def __init__(self, per_minute: int | None) -> None:
        """None: no limit."""
        self._burst = max(1.0, per_minute / 20) if per_minute else 0.0
        self._seconds_each = 60.0 / (per_minute - self._burst + 1) if per_minute else 0.0
        self._full_at = float("-inf")

    def wait(self, now: float) -> float:
        """Seconds until something may be sent."""
        if not self._seconds_each:
            return 0.0
        return max(0.0, self._full_at - (self._burst - 1) * self._seconds_each - now)

    def spend(self, now: float, amount: float) -> None:
        """Counts what was sent; a negative amount gives back what was estimated too high."""
        if self._seconds_each:
            self._full_at = max(self._full_at, now) + amount * self._seconds_each


_LONGEST_TRIAL_WAIT = 15.0
"""Most seconds between two requests to a server that does not answer."""


class Breaker:
    """Circuit breaker: after several failures in a row one request at a time is sent, less and less often."""

    def __init__(self, limits: Limits, now: float, *, reached: bool = False) -> None:
        """Starts closed: requests flow."""
        self._limits = limits
        self._failures = 0
        self._trials = 0
        self._alive_at = now
        self.reached = reached
        """Whether the server has ever replied, in whatever way."""

    @property
    def trying(self) -> bool:
        """Whether only one request at a time should be tried."""
        return self._failures >= (self._limits.failures_in_a_row if self.reached else 1)

    def silent_for(self, now: float) -> float:
        """Seconds since the last answer."""
        return now - self._alive_at

    def answered(self, now: float) -> None:
        """The endpoint is alive."""
        self._failures = self._trials = 0
        self._alive_at = now
        self.reached = True

    def idle(self, now: float) -> None:
        """Restarts the clock of silence: no request was in flight, so none could be answered."""
        if not self._failures:
            self._alive_at = now

    def failed(self) -> float:
        """Counts a failed try and returns the seconds to wait before the next, 0 while requests flow."""
        self._failures += 1
        if not self.trying:
            return 0.0
        self._trials += 1
        longest = min(self._limits.longest_wait, _LONGEST_TRIAL_WAIT if self.reached else 2.0)
        return min(longest, self._limits.first_wait * 2.0 ** min(self._trials, 30))

    @property
    def patience(self) -> float:
        """Seconds that the endpoint may be silent."""
        outage = self._limits.outage_seconds
        return outage if self.reached else min(outage, self._limits.first_contact_seconds)

    def is_dead(self, now: float) -> bool:
        """Whether the endpoint has been silent for too long."""
        return self.trying and self.silent_for(now) >= self.patience
