"""The time in which a server answers nothing. Arithmetic only: the caller brings the clock."""

from triathlon_runner.endpoints._limits import Limits

_LONGEST_FIRST_WAIT = 2.0
"""Most seconds between two requests to a server that no connection was ever made to."""


class Outage:
    """How long every request has failed or met a 429, and when the model is given up for that.

    After several failures in a row one request at a time is sent, less and less often (a circuit breaker).
    """

    def __init__(self, limits: Limits, *, reached: bool = False) -> None:
        self._limits = limits
        self._failures = 0
        self._answered_at = float("-inf")
        self._since: float | None = None
        """When the first request without an answer was sent; None where the last reply was an answer."""
        self.reached = reached
        """Whether a connection to the server was ever made."""
        self.has_replied = reached
        """Whether it has ever replied to a question, in whatever way."""

    @property
    def one_at_a_time(self) -> bool:
        """Whether so many tries in a row have failed that only one request at a time is sent."""
        return self._failures >= self._failures_allowed

    @property
    def seconds_allowed(self) -> float:
        """Seconds that the server may be silent before the model is given up."""
        outage = self._limits.outage_seconds
        return outage if self.reached else min(outage, self._limits.first_contact_seconds)

    @property
    def _failures_allowed(self) -> int:
        return self._limits.failures_in_a_row if self.has_replied else 1

    def seconds(self, now: float) -> float:
        """How long the server has answered nothing; 0 where the last reply was an answer."""
        return 0.0 if self._since is None else now - self._since

    def answered(self, now: float) -> None:
        """Ends the outage."""
        self._failures = 0
        self._answered_at = now
        self._since = None
        self.reached = self.has_replied = True

    def replied(self) -> None:
        """Ends a time of nothing but 429s: the server has replied with something else."""
        self._since = None

    def unanswered(self, sent_at: float) -> None:
        """Counts a request that met a 429, or failed."""
        if self._since is None:
            self._since = max(sent_at, self._answered_at)

    def failed(self, sent_at: float) -> float:
        """Counts a failed try and returns the seconds to wait before the next, 0 while requests flow."""
        self.unanswered(sent_at)
        self._failures += 1
        if not self.one_at_a_time:
            return 0.0
        longest = self._limits.longest_wait if self.reached else _LONGEST_FIRST_WAIT
        doublings = min(30, self._failures - self._failures_allowed + 1)
        return min(longest, self._limits.first_wait * 2.0**doublings)
