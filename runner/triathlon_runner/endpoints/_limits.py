"""The limits that options and a row set: attempts, waits, requests at once, requests and tokens a minute."""

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
    """No question is tried again this long, and the longest outage, after it was first sent."""
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
    unexplained: int = 5
    """Different questions in a row with the same 4xx that no rule explains, after which the model stops."""
    connect_seconds: float = 15.0
    """Longest wait for a connection."""
    requests_per_minute: int | None = None
    """The row's limit."""
    tokens_per_minute: int | None = None
    """The row's limit."""
