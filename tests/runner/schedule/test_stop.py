"""Budget and deadline: nothing new is started once they are reached, and everything can go on later."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from triathlon_runner.errors import UserError
from triathlon_runner.llm import EndpointStats
from triathlon_runner.models_yaml import Price
from triathlon_runner.schedule import Account, Control, deadline, seconds

NOW = datetime(2026, 3, 1, 20, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("8h", NOW + timedelta(hours=8)),
        ("90m", NOW + timedelta(minutes=90)),
        ("10s", NOW + timedelta(seconds=10)),
        ("1h 2min 3.5 sec", NOW + timedelta(hours=1, minutes=2, seconds=3.5)),
        ("2d12h", NOW + timedelta(days=2, hours=12)),
        ("1.5h", NOW + timedelta(minutes=90)),
        ("21:30", NOW.replace(hour=21, minute=30)),
        ("07:00", NOW.replace(hour=7) + timedelta(days=1)),
        ("2026-03-02T01:00", NOW.replace(day=2, hour=1)),
        ("2026-03-02T01:00+02:00", NOW.replace(day=1, hour=23)),
    ],
)
def test_deadlines(text: str, moment: datetime) -> None:
    """Spans, the next time of day, and moments; without a zone they are local."""
    assert deadline(text, NOW) == moment


@pytest.mark.parametrize("text", ["", " ", "soon", "8", "0s", "25:00", "2020-01-01T00:00", "9999999d"])
def test_no_deadline(text: str) -> None:
    """Anything else, and what has passed, is refused with what was given."""
    with pytest.raises(UserError, match="--deadline") as caught:
        deadline(text, NOW)
    assert repr(text.strip()) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        *(("90s", 90), ("10m", 600), ("10 min", 600), ("1h30m", 5400), ("0.5s", 0.5)),
        *((text, None) for text in ("", "0s", "10", "soon", "-5m")),
    ],
)
def test_spans(text: str, meant: float | None) -> None:
    """A span of time is written as people write it; another text is refused with option and example."""
    if meant is not None:
        assert seconds("--outage", text) == meant
        return
    with pytest.raises(UserError, match=r"expected --outage as 90s, 10m or 1h30m, got"):
        seconds("--outage", text)


def account(answered: int, in_flight: int = 0) -> Account:
    stats = EndpointStats(in_flight=in_flight, answered=answered, input_tokens=1000 * answered)
    return Account("m", stats, Price(input=1.0, output=2.0))


def control_of(*accounts: Account) -> Control:
    control = Control(budget_usd=0.01)
    control.accounts += accounts
    return control


def test_budget_counts_what_is_in_flight() -> None:
    """Money is kept back for the requests in flight, at the mean of those before; the judge's counts, too."""
    control = control_of(account(answered=6))
    assert control.spent == pytest.approx(0.006) and control.may_send()
    for spent in (control_of(account(answered=6, in_flight=4)), control_of(account(5), account(5))):
        assert not spent.may_send() and "budget of 0.01 USD" in spent.stopped


def test_a_deadline_is_named_to_the_second() -> None:
    """It may be 10 s away."""
    control = Control(deadline=datetime.now(UTC) - timedelta(seconds=1))
    assert not control.may_send()
    moment = r"the deadline is here: \d\d:\d\d:\d\d on \d+ [A-Z][a-z]+ \d{4}, local time"
    assert re.fullmatch(moment, control.stopped)


def test_a_clock_set_back_prolongs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left until the deadline is counted by a clock that nobody sets."""
    elapsed = [0.0]
    monkeypatch.setattr("triathlon_runner.schedule._stop.time.monotonic", lambda: elapsed[0])
    control = Control(deadline=datetime.now(UTC) + timedelta(days=1))
    elapsed[0] = 86_000.0
    assert control.may_send()
    elapsed[0] = 86_401.0
    assert not control.may_send() and "deadline" in control.stopped
