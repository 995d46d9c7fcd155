"""Trying again: named errors only, attempts and total time capped, waits with jitter or as a server asks."""

import asyncio
import math
import random
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from triathlon_runner.endpoints._errors import NullContent, Retryable, Throttled
from triathlon_runner.endpoints._limits import Limits

_EMPTY_REPLIES_THAT_COUNT = 5
"""After this many empty replies in a row to one question the empty reply counts as the model's answer."""


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
        return self._empty >= _EMPTY_REPLIES_THAT_COUNT


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
