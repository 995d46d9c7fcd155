"""A dead endpoint is told from a bad moment."""

from triathlon_runner.endpoints import Limits
from triathlon_runner.endpoints._retries import Outage

LIMITS = Limits(failures_in_a_row=3, outage_seconds=100.0, first_wait=1.0, longest_wait=10.0)


def test_single_failures_do_not_matter() -> None:
    """Failures with answers between them leave the requests flowing."""
    outage = Outage(LIMITS, reached=True)
    for moment in range(50):
        assert outage.failed(moment) == 0.0
        assert outage.failed(moment) == 0.0
        outage.answered(moment)
    assert not outage.one_at_a_time


def test_failures_in_a_row_slow_down() -> None:
    """After so many failures in a row one request at a time is tried, ever more rarely up to a limit."""
    outage = Outage(LIMITS, reached=True)
    waits = [outage.failed(0.0) for _ in range(10)]
    assert outage.one_at_a_time
    assert waits[:3] == [0.0, 0.0, 2.0]
    assert waits == sorted(waits) and waits[-1] == 10.0
    outage.answered(50.0)
    assert not outage.one_at_a_time and outage.failed(50.0) == 0.0


def test_too_long() -> None:
    """Only failures over a long time make an endpoint dead; an answer ends that time."""
    outage = Outage(LIMITS, reached=True)
    for _ in range(10):
        outage.failed(0.0)
    assert outage.seconds(99.0) < outage.seconds_allowed
    assert outage.seconds(101.0) >= outage.seconds_allowed
    outage.answered(101.0)
    assert outage.seconds(1000.0) < outage.seconds_allowed


def test_idle_time_is_no_silence() -> None:
    """Hours in which nothing was asked do not count against the endpoint."""
    outage = Outage(LIMITS, reached=True)
    outage.answered(0.0)
    for _ in range(3):
        outage.failed(5000.0)
    assert outage.seconds(5001.0) < outage.seconds_allowed


def test_time_before_the_last_answer_is_no_silence() -> None:
    """A request that was sent long ago and fails counts from the last answer on."""
    outage = Outage(LIMITS, reached=True)
    outage.answered(500.0)
    outage.failed(0.0)
    assert outage.seconds(510.0) == 10.0


def test_nothing_but_429s_ends_with_another_reply() -> None:
    """A reply that is neither an answer nor a 429 shows that the server works on requests."""
    outage = Outage(LIMITS, reached=True)
    outage.unanswered(0.0)
    outage.replied()
    outage.unanswered(90.0)
    assert outage.seconds(100.0) == 10.0
