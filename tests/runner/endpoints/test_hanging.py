"""A first try that hangs is given up and asked again. Simulated: the clock jumps, the queue is real."""

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from support.virtual_server import VirtualServer, ask
from support.virtual_time import run_virtually
from triathlon_runner.endpoints import EndpointStats
from triathlon_runner.endpoints.provider import HttpReply


def a_second(rng: random.Random) -> float:
    return 1.0


@dataclass
class SlowOnce(VirtualServer):
    """Takes far longer than for the others over some of its requests, which are numbered from 0."""

    slow: dict[int, float] = field(default_factory=dict)
    """Seconds by number."""
    posted: int = 0

    async def post(self, path: str, body: bytes) -> HttpReply:
        number, self.posted = self.posted, self.posted + 1
        await asyncio.sleep(self.slow.get(number, 0.0))
        return await super().post(path, body)


def run(slow: dict[int, float]) -> tuple[SlowOnce, EndpointStats, float]:
    """200 questions, one after another, then the last one behind them."""
    server = SlowOnce(a_second, slow=slow)
    stats, seconds = run_virtually(ask(server, chains=1, length=200))
    return server, stats, seconds


def test_a_request_that_hangs_is_given_up() -> None:
    """After 100 answers of a second, ten seconds are enough: it is asked again, and its cost is counted."""
    server, stats, seconds = run({150: 3600.0})
    assert server.posted == 201
    assert seconds == pytest.approx(200 + 10, abs=3)
    assert (stats.answered, stats.retries, stats.lost) == (200, 1, 1)
    assert stats.last_error.startswith("no reply within 10 s")


def test_only_a_first_try_is_given_up() -> None:
    """The second try may take as long as the row allows: some questions take their time."""
    server, stats, seconds = run({150: 3600.0, 151: 300.0})
    assert server.posted == 201
    assert seconds == pytest.approx(200 + 10 + 300, abs=3)
    assert (stats.answered, stats.retries) == (200, 1)


def test_nobody_is_given_up_before_much_is_known() -> None:
    """While fewer than 100 answers have come, a slow first reply is waited for."""
    server, stats, seconds = run({50: 300.0})
    assert (server.posted, stats.retries) == (200, 0)
    assert seconds == pytest.approx(200 + 300, abs=3)


def test_three_times_the_slowest() -> None:
    """Where replies take long, three times the slowest of the last ones is waited for."""
    server, stats, _ = run({120: 8.0, 150: 25.0, 160: 3600.0})
    assert (server.posted, stats.retries) == (201, 1)
    assert stats.last_error.startswith("no reply within 78 s")
