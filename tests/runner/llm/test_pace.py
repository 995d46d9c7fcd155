"""Requests and tokens a minute."""

from hypothesis import given
from hypothesis import strategies as st

from triathlon_runner.endpoints._rate_limits import RateLimit


def moments(pace: RateLimit, count: int, cost: float) -> list[float]:
    """When so many equal requests are sent by a caller that always waits as told."""
    now, sent = 0.0, []
    for _ in range(count):
        now += pace.wait(now)
        pace.spend(now, cost)
        sent.append(now)
    return sent


@given(limit=st.integers(1, 3000))
def test_no_minute_holds_more(limit: int) -> None:
    """However one lays a window of 60 s, it holds no more requests than the limit."""
    sent = moments(RateLimit(limit), 2 * limit + 2, 1)
    assert all(sent[i + limit] - sent[i] >= 60 - 1e-6 for i in range(len(sent) - limit))


def test_uses_the_minute() -> None:
    """The limit is nearly reached: 600 requests at 600 a minute take about a minute."""
    assert 55 <= moments(RateLimit(600), 600, 1)[-1] <= 61


@given(limit=st.integers(1000, 100_000), cost=st.integers(1, 900))
def test_tokens(limit: int, cost: int) -> None:
    """Over many minutes no more tokens are spent than the limit a minute, but for the last request."""
    sent = moments(RateLimit(limit), 200, cost)
    assert 199 * cost <= limit * (sent[-1] / 60 + 1)


def test_corrections_give_back() -> None:
    """An estimate that was too high is given back, so that less has to be waited."""
    pace = RateLimit(1000)
    pace.spend(0.0, 600)
    waited = pace.wait(0.0)
    pace.spend(0.0, -500)
    assert pace.wait(0.0) < waited / 3


def test_no_limit() -> None:
    """Without a limit nothing waits."""
    assert moments(RateLimit(None), 10, 1e9)[-1] == 0.0
