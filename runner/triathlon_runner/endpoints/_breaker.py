"""Telling a dead endpoint from a bad moment. Arithmetic only: the caller brings the clock."""

from triathlon_runner.endpoints._limits import Limits

_LONGEST_TRIAL_WAIT = 15.0
"""Seconds between two tries while a server is away: about so late its return is noticed."""


class Breaker:
    """Counts failures in a row; past a number of them, one request at a time is tried, ever more rarely."""

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
        """Nothing has been asked: silence until now says nothing about the endpoint."""
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
