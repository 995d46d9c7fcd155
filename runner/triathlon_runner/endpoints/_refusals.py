"""The time in which a server answers every request with 429. Arithmetic only: the caller brings the clock."""

_LEAST_TAKEN_SECONDS, _TIMES_THE_SLOWEST = 5.0, 2.0
"""When a request in flight counts as one that the server has taken on (`Refusals.has_taken`)."""


class Refusals:
    """429s since the last answer."""

    def __init__(self, patience: float) -> None:
        """`patience`: seconds of nothing but 429s after which the model is stopped."""
        self.patience = patience
        self.since: float | None = None
        """When the first of them came; None where the last reply was an answer."""
        self.reason = ""
        """The last one's message."""
        self._slowest = 0.0

    def refused(self, sent_at: float, now: float, reason: str) -> None:
        """Counts a 429."""
        self.since = now if self.since is None else self.since
        self._slowest = max(self._slowest, now - sent_at)
        self.reason = reason

    def answered(self) -> None:
        """The server replies with something else than 429."""
        self.since = None

    def has_taken(self, oldest_sent_at: float, now: float) -> bool:
        """Whether the oldest request in flight waits for its answer: a 429 would have come by now."""
        return now - oldest_sent_at > max(_LEAST_TAKEN_SECONDS, _TIMES_THE_SLOWEST * self._slowest)

    def seconds(self, now: float) -> float:
        """How long all requests have been refused; 0 where the last reply was an answer."""
        return 0.0 if self.since is None else now - self.since
