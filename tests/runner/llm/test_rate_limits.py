"""Load is told from chance: scripted servers on a clock that jumps, with the real queue in front of them."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.virtual_server import FAULTS, VirtualServer, ask
from support.virtual_time import run_virtually
from triathlon_runner.llm._rates import LearnedLimit, RateLimit


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
    """A limit of 300 requests a minute is found and used: at most 1.5 times the best 288 s."""
    server = VirtualServer(latency, a_minute=300, burst=burst)
    _, seconds = run_virtually(ask(server, chains=96, length=15))
    assert server.refused(since=10) < 0.4
    assert seconds < 1.5 * 288


@pytest.mark.parametrize(("latency", "best"), [(fast, 3.6), (varied, 360.0)])
@pytest.mark.parametrize("seed", range(5))
def test_requests_at_once(latency: Callable[[random.Random], float], best: float, seed: int) -> None:
    """A limit of 8 requests at once is found, kept with few 429s, and used while there is work for all 8.

    Not until the very end: then some chains are left that wait for a second after each of their 429s, longer
    than a hundred answers of the fast server take.
    """
    random.seed(seed)
    server = VirtualServer(latency, at_once=8)
    run_virtually(ask(server, chains=96, length=30))
    assert server.refused(since=best / 4) < 0.15
    assert server.answered_at(0.5) < 1.5 * best * 0.5
    assert server.answered_at(0.9) < 1.5 * best * 0.9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_chance(seed: int) -> None:
    """Faults by chance, 429s among them, three in ten: no more than twice the calm time, every answer got."""
    _, calm = run_virtually(ask(VirtualServer(fast), chains=96, length=48, pause=1.15))
    server = VirtualServer(fast, fault_share=0.3, faults=FAULTS[:-1], rng=random.Random(seed))
    stats, seconds = run_virtually(ask(server, chains=96, length=48, pause=1.15))
    assert stats.failed == 0 and stats.answered >= 96 * 48
    assert seconds < 2 * calm


def test_chance_and_a_limit() -> None:
    """A limit is found although one reply in ten fails by chance."""
    faults = FAULTS[:-1]
    server = VirtualServer(varied, at_once=8, fault_share=0.1, faults=faults)
    stats, seconds = run_virtually(ask(server, chains=96, length=20))
    assert server.refused(since=10) < 0.15
    assert seconds < 2 * 96 * 20 / 8
    assert stats.failed == 0


@pytest.mark.parametrize(("works_on", "most"), [(10**9, 256), (16, 64)])
def test_without_429s(works_on: int, most: int) -> None:
    """Requests at once double while the server keeps up; one that queues beyond 16 is not sent hundreds."""
    level, now = LearnedLimit(4, 256), 0.0
    for _ in range(60):
        count = level.value
        level.sent(now)
        now += 0.1 * max(1.0, count / works_on)
        for _ in range(count):
            level.answered(now, now + 1e-6, 100, is_full=True)
    assert min(16, most) <= level.value <= most


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
    """However one lays a window of 60 s, it holds no more requests than the limit, and nearly as many."""
    sent = moments(RateLimit(limit), 2 * limit + 2, 1)
    assert all(sent[i + limit] - sent[i] >= 60 - 1e-6 for i in range(len(sent) - limit))
    assert sent[limit] <= 61
