"""`triathlon run`: how long servers are waited for."""

import pytest

from triathlon_runner.cli._run_options import limits_of, seconds
from triathlon_runner.errors import UserError


@pytest.mark.parametrize(
    ("text", "meant"), [("90s", 90), ("10m", 600), ("10 min", 600), ("1h30m", 5400), ("0.5s", 0.5)]
)
def test_spans(text: str, meant: float) -> None:
    """A span is written as people write it."""
    assert seconds("--outage", text) == meant


@pytest.mark.parametrize("text", ["", "0s", "10", "soon", "-5m"])
def test_no_span(text: str) -> None:
    """What is no span of time is refused with the option's name and an example."""
    with pytest.raises(UserError, match=r"expected --outage as 90s, 10m or 1h30m, got"):
        seconds("--outage", text)


def test_limits() -> None:
    """The options are what the endpoints are asked with."""
    limits = limits_of("20m", 3, "1h", None)
    assert (limits.outage_seconds, limits.attempts, limits.longest_retry_after) == (1200, 3, 3600)
    assert limits.first_concurrency > limits_of("20m", 3, "1h", 5.0).first_concurrency == 1
