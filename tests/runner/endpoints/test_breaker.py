"""A dead endpoint is told from a bad moment."""

from triathlon_runner.endpoints import Limits
from triathlon_runner.endpoints._limits import Breaker

LIMITS = Limits(failures_in_a_row=3, outage_seconds=100.0, first_wait=1.0, longest_wait=10.0)


def test_single_failures_do_not_matter() -> None:
    """Failures with answers between them leave the requests flowing."""
    breaker = Breaker(LIMITS, 0.0, reached=True)
    for moment in range(50):
        assert breaker.failed() == 0.0
        assert breaker.failed() == 0.0
        breaker.answered(moment)
    assert not breaker.trying


def test_failures_in_a_row_slow_down() -> None:
    """After so many failures in a row one request at a time is tried, ever more rarely up to a limit."""
    breaker = Breaker(LIMITS, 0.0, reached=True)
    waits = [breaker.failed() for _ in range(10)]
    assert breaker.trying
    assert waits[:3] == [0.0, 0.0, 2.0]
    assert waits == sorted(waits) and waits[-1] == 10.0
    breaker.answered(50.0)
    assert not breaker.trying and breaker.failed() == 0.0


def test_dead_after_silence() -> None:
    """Only failures over a long time make an endpoint dead."""
    breaker = Breaker(LIMITS, 0.0, reached=True)
    for _ in range(10):
        breaker.failed()
    assert not breaker.is_dead(99.0)
    assert breaker.is_dead(101.0)
    breaker.answered(101.0)
    assert not breaker.is_dead(1000.0)


def test_idle_time_is_no_silence() -> None:
    """Hours in which nothing was asked do not count against the endpoint."""
    breaker = Breaker(LIMITS, 0.0, reached=True)
    breaker.idle(5000.0)
    for _ in range(3):
        breaker.failed()
    assert not breaker.is_dead(5001.0)
