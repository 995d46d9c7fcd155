"""The concurrency limit finds what a server can take. Simulated: no clock, no network."""

import heapq
from collections.abc import Callable
from itertools import pairwise

from triathlon_runner.endpoints._rate_limits import ConcurrencyLimit


def simulate(level: ConcurrencyLimit, latency: Callable[[int], float], answers: int) -> list[int]:
    """Keeps the limit filled against a server whose latency depends on the load; the limits over time."""
    now, limits = 0.0, []
    flying: list[float] = []
    for _ in range(answers):
        while len(flying) < level.value:
            level.sent(now)
            heapq.heappush(flying, now + latency(len(flying) + 1))
        now = heapq.heappop(flying)
        level.answered(now, 100, saturated=True)
        limits.append(level.value)
    return limits


def test_grows_while_the_server_keeps_up() -> None:
    """Against a server of constant latency the limit doubles round by round up to the most allowed."""
    limits = simulate(ConcurrencyLimit(4, 256), lambda _: 0.1, 1500)
    assert limits[0] == 4
    assert limits[-1] == 256
    assert max(later / earlier for earlier, later in pairwise(limits)) <= 2


def test_the_first_round_counts() -> None:
    """The answers to the first requests are a round: the limit doubles with each round trip."""
    level, in_flight = ConcurrencyLimit(8, 64), 0
    for trip in range(3):
        while in_flight < level.value:
            level.sent(trip * 0.1)
            in_flight += 1
        for number in range(in_flight):
            level.answered((trip + 1) * 0.1 + number * 1e-6, 100, saturated=True)
        in_flight = 0
    assert level.value == 64


def test_stays_where_more_does_not_help() -> None:
    """A server that works on 16 at once and queues the rest is not sent hundreds."""

    def latency(in_flight: int) -> float:
        return 0.1 * max(1.0, in_flight / 16)

    limits = simulate(ConcurrencyLimit(4, 512), latency, 6000)
    assert 16 <= limits[-1] <= 64


def test_does_not_grow_without_demand() -> None:
    """A limit that was not reached says nothing about the server."""
    level = ConcurrencyLimit(4, 256)
    level.sent(0.0)
    for step in range(1, 101):
        level.answered(step * 0.1, 100, saturated=False)
    assert level.value == 4


def test_fixed() -> None:
    """A server that we started ourselves gets its slots at once."""
    limits = simulate(ConcurrencyLimit(16, 16), lambda _: 0.1, 100)
    assert set(limits) == {16}
