"""Trying again: how often and how long one question is tried, and a server that answers nothing.

Named errors only, attempts and total time capped, waits with jitter or as a server asks.
"""

import asyncio
import math
import random
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from triathlon_runner.endpoints._api import EMPTY_REPLIES_THAT_COUNT, NullContent, Retryable, Throttled
from triathlon_runner.endpoints._config import Limits

_LONGEST_FIRST_WAIT = 2.0
"""Most seconds between two requests to a server that no connection was ever made to."""


class RetryState:
    """How often and how long one question was tried."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began = math.inf
        self._loop = asyncio.get_running_loop()
        self._failed = self._throttled = self._empty = 0

    def begin(self) -> None:
        """Notes that a try starts now; the first one starts the clock, so the time in the queue is free."""
        self._began = min(self._began, self._loop.time())

    def seconds_after(self, error: Retryable) -> float | None:
        """Counts a failed try and returns the seconds until the next; None where it was the last.

        A try that failed while the server answered nothing at all is not counted: the queue makes all wait.
        """
        if error.server_is_down:
            return 0.0
        if isinstance(error, Throttled):
            self._throttled += 1
        else:
            self._failed += 1
        self._empty = self._empty + 1 if isinstance(error, NullContent) else 0
        limits = self._limits
        if (
            self._failed >= limits.attempts
            or self._throttled >= limits.throttled_attempts
            or self.empty_reply_counts
            or self._loop.time() - self._began >= limits.total_seconds + limits.outage_seconds
        ):
            return None
        tries = self._throttled if isinstance(error, Throttled) else self._failed
        longest = min(limits.longest_wait, limits.first_wait * 2.0 ** min(tries - 1, 30))
        return max(longest * random.uniform(0.5, 1.0), error.retry_after or 0.0)  # noqa: S311  no secret

    @property
    def empty_reply_counts(self) -> bool:
        """Whether the last replies were without content so often that the model means it."""
        return self._empty >= EMPTY_REPLIES_THAT_COUNT


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


_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_IN_TEXT = re.compile(
    r"(?:try again|retry) (?:in|after) ((?:\d+h)?(?:\d+m(?!s))?(?:\d+(?:\.\d+)?m?s)?)|"
    r"\"retryDelay\":\s*\"(\d+(?:\.\d+)?s)\"",
    re.IGNORECASE,
)

_LIMIT_HEADERS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
)
"""What is left of a limit, and when it is whole again."""


def duration(text: str, date: str = "") -> float | None:
    """Seconds of `1h2m3.5s`, `120ms`, a plain number of seconds, or a moment (HTTP or ISO date).

    A moment is one of the server's clock, whose `date` header says what it showed; ours may be wrong.
    """
    text = text.strip()
    if re.fullmatch(r"[-+]?\d+(\.\d*)?", text):
        return max(0.0, float(text))
    match = _DURATION.fullmatch(text)
    if match and any(match.groups()):
        hours, minutes, seconds, millis = (float(group or 0) for group in match.groups())
        return hours * 3600 + minutes * 60 + seconds + millis / 1000
    moment = _moment(text)
    if moment is None:
        return None
    return max(0.0, moment - (_moment(date) or time.time()))


def _moment(text: str) -> float | None:
    """Seconds since the epoch."""
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = parse(text)
        except ValueError:
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None


def retry_after(headers: Mapping[str, str], text: str = "") -> float | None:
    """Seconds to wait before the next request, by header or, failing that, by the error's text."""
    if (millis := duration(headers.get("retry-after-ms", ""))) is not None:
        return millis / 1000
    if (seconds := duration(headers.get("retry-after", ""), headers.get("date", ""))) is not None:
        return seconds
    match = _IN_TEXT.search(text)
    return duration(match.group(1) or match.group(2) or "") if match else None


def exhausted_for(headers: Mapping[str, str]) -> float | None:
    """Seconds until a rate limit that a good answer's headers report as used up is filled again."""
    waits = [
        duration(headers.get(reset, ""), headers.get("date", ""))
        for left, reset in _LIMIT_HEADERS
        if left in headers and headers[left].strip() == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)
