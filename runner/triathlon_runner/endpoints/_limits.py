"""How hard and how long a model is asked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Attempts, waits and concurrency for one model. The defaults suit a provider on the internet."""

    concurrency: int = 32
    """Most requests in flight at once, where the row does not say."""
    first_concurrency: int = 8
    """Where the search for the right level starts."""
    attempts: int = 12
    """Tries of one question that may fail while the server answers others, throttled ones not counted."""
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
    """Failed tries without an answer between them after which only one request at a time is tried."""
    outage_seconds: float = 600.0
    """A server that has answered may be silent for so long."""
    first_contact_seconds: float = 10.0
    """A server that was never reached is tried for so long: enough for one that is being started by hand."""
    unexplained: int = 5
    """Different questions in a row with the same 4xx that no rule explains, after which the model stops."""
    connect_seconds: float = 15.0
