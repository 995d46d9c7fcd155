"""Servers say in many ways how long to wait."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from triathlon_runner.endpoints._retries import duration, exhausted_for, retry_after


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3.0),
        ("0.25", 0.25),
        ("120ms", 0.12),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("17s", 17.0),
        ("-5", 0.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    """Plain seconds and Go-style durations are understood; nonsense is no duration."""
    assert duration(text) == seconds


def test_moments() -> None:
    """A moment, as HTTP or ISO date, is the time until then, never negative."""
    moment = datetime.now(UTC) + timedelta(seconds=100)
    assert duration(format_datetime(moment, usegmt=True)) == pytest.approx(100, abs=3)
    assert duration(moment.isoformat().replace("+00:00", "Z")) == pytest.approx(100, abs=3)
    assert duration(datetime.fromtimestamp(time.time() - 50, UTC).isoformat()) == 0.0


@pytest.mark.parametrize(
    ("headers", "text", "seconds"),
    [
        ({"retry-after": "2"}, "", 2.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, "", 1.5),
        ({}, "Rate limit reached for x. Please try again in 1m20.5s. Visit …", 80.5),
        ({}, "Please retry in 12.3s.", 12.3),
        ({}, "Please try again in 250ms.", 0.25),
        ({}, '{"error": {"details": [{"retryDelay": "21s"}]}}', 21.0),
        ({}, "Rate limit reached", None),
        ({"retry-after": "later"}, "", None),
    ],
)
def test_retry_after(headers: dict[str, str], text: str, seconds: float | None) -> None:
    """Headers come first; without one, the error's own words count."""
    assert retry_after(headers, text) == seconds


def test_exhausted() -> None:
    """A limit that a good answer reports as used up is waited for; one with something left is not."""
    used_up = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1.5s"}
    assert exhausted_for(used_up) == 1.5
    assert exhausted_for({**used_up, "x-ratelimit-remaining-requests": "1"}) is None
    both = {**used_up, "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}
    assert exhausted_for(both) == 360.0
    assert exhausted_for({}) is None


def test_a_clock_that_is_wrong() -> None:
    """A moment is one of the server's clock: what ours shows does not lengthen the wait."""
    headers = {"retry-after": "Sat, 01 Jan 2050 00:00:30 GMT", "date": "Sat, 01 Jan 2050 00:00:00 GMT"}
    assert retry_after(headers) == 30
    resets = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "2050-01-01T00:00:12Z"}
    assert exhausted_for({**resets, "date": headers["date"]}) == 12
