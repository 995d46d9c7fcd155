"""Load is told from chance: scripted servers on a clock that jumps, with the real queue in front of them."""

import random
from collections.abc import Callable

import pytest

from support.virtual_server import FAULTS, VirtualServer, ask
from support.virtual_time import run_virtually


@pytest.fixture(autouse=True)
def same_jitter() -> None:
    """Waits between two tries are random: each run of a test draws the same ones."""
    random.seed(1)


def fast(rng: random.Random) -> float:
    return 0.01


def varied(rng: random.Random) -> float:
    return rng.uniform(0.2, 1.8)


@pytest.mark.parametrize("latency", [fast, varied])
@pytest.mark.parametrize("burst", [5, 300, None], ids=["even", "burst", "window"])
def test_requests_a_minute(burst: int | None, latency: Callable[[random.Random], float]) -> None:
    """A limit of 300 requests a minute is found within 10 s; from then on under 2 % of the replies are 429s.

    What it allows is used: 1,440 requests, which take 288 s at best, take no more than twice that.
    """
    server = VirtualServer(latency, a_minute=300, burst=burst)
    _, seconds = run_virtually(ask(server, chains=96, length=15))
    assert server.refused(since=10) < 0.02
    assert seconds < 2 * 288


@pytest.mark.parametrize(("latency", "best"), [(fast, 3.6), (varied, 360.0)])
def test_requests_at_once(latency: Callable[[random.Random], float], best: float) -> None:
    """A limit of 8 requests at once is found within 10 s, kept under 2 % of 429s, and used."""
    server = VirtualServer(latency, at_once=8)
    _, seconds = run_virtually(ask(server, chains=96, length=30))
    assert server.refused(since=10) < 0.02
    assert seconds < 2.5 * best


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_chance(seed: int) -> None:
    """Faults by chance, 429s among them, three in ten: no more than twice the calm time, every answer got."""
    _, calm = run_virtually(ask(VirtualServer(fast), chains=96, length=48, pause=1.15))
    server = VirtualServer(fast, fault_share=0.3, faults=FAULTS[:-1], rng=random.Random(seed))
    stats, seconds = run_virtually(ask(server, chains=96, length=48, pause=1.15))
    assert stats.failed == 0 and stats.answered >= 96 * 48
    assert seconds < 2 * calm


def test_hangs() -> None:
    """One request in thirty hangs for 20 s: the places of hung requests are what limits, and little else.

    With n hangs and 32 places no order of asking takes less than n * 20 s / 32.
    """
    server = VirtualServer(fast, fault_share=1 / 30, faults=("hang",))
    stats, seconds = run_virtually(ask(server, chains=384, length=12, pause=1.15))
    hangs = stats.retries
    assert seconds < 1.6 * hangs * 20 / 32


def test_chance_and_a_limit() -> None:
    """A limit is found although one reply in ten fails by chance."""
    faults = FAULTS[:-1]
    server = VirtualServer(varied, at_once=8, fault_share=0.1, faults=faults)
    stats, seconds = run_virtually(ask(server, chains=96, length=20))
    assert server.refused(since=10) < 0.1 * 2 / len(faults) + 0.03
    assert seconds < 2 * 96 * 20 / 8
    assert stats.failed == 0
