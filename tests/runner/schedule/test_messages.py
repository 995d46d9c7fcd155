"""Messages above the panel: an error is printed once, and later lines say where it stands."""

import pytest

from triathlon_runner.endpoints import EndpointStats
from triathlon_runner.schedule import Account, _messages


def test_a_message_that_says_more_than_the_error_it_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be repeated as it stands: it has what to do, and refers to the words that it quotes."""
    clock = ["10:00:00"]
    lines: list[str] = []
    monkeypatch.setattr(_messages, "time_of_day", lambda: clock[0])
    messages = _messages.Messages(lines.append)
    stats = EndpointStats(last_error="429, the server said 'no'")
    messages.attach(Account("m", stats, None))
    messages.say_errors_of_servers()
    clock[0] = "10:10:00"
    stopped = "m: expected an answer, got none: 429, the server said 'no'; look at the quota"
    messages.say(stopped)
    reference = "the error of 10:00:00 above (429, the server said 'no')"
    assert lines[1] == f"m: expected an answer, got none: {reference}; look at the quota"
    assert messages.once(stopped) == lines[1]
    reference = "m, see the error of 10:00:00 above (429, the server said 'no')"
    assert messages.once("m: 429, the server said 'no'") == reference


def test_two_errors_of_one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference says which of them is meant: it has as much of the error as no other one has."""
    lines: list[str] = []
    monkeypatch.setattr(_messages, "time_of_day", lambda: "10:00:00")
    messages = _messages.Messages(lines.append)
    stats = EndpointStats()
    messages.attach(Account("m", stats, None))
    same = "https://a-long-name.of-a-provider.example:8000/v1 closed the connection "
    errors = [f"{same}without a reply; advice", f"{same}in the middle\nof a reply; advice"]
    for stats.last_error in errors:
        messages.say(f"m: no answer: {stats.last_error}")
    stats.last_error = errors[0]
    messages.say(f"m: given up: {errors[0]}")
    assert lines[2] == f"m: given up: the error of 10:00:00 above ({same}w…)"
    messages.say_error("m", errors[1] + " again", errors[1] + " again")
    messages.say_error("m", "short", "m x: stays open: short")
    assert messages.once("m: short") == "m, see the error of 10:00:00 above (short)"
