"""How long a server asks us to wait, in the many ways in which servers say it."""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_IN_TEXT = re.compile(
    r"(?:try again|retry) (?:in|after) ((?:\d+h)?(?:\d+m(?!s))?(?:\d+(?:\.\d+)?m?s)?)|"
    r"\"retryDelay\":\s*\"(\d+(?:\.\d+)?s)\"",
    re.IGNORECASE,
)

_LIMIT_HEADERS = tuple(
    pair
    for kind in ("requests", "tokens")
    for pair in (
        (f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}"),
        (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset"),
    )
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
    """Seconds to wait before the next request, by header or, failing that, by the error's own words."""
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
