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
    assert lines[1] == "m: expected an answer, got none: the error of 10:00:00 above; look at the quota"
    printed = messages.printed_at(stopped)
    assert printed is not None and (printed.time, printed.line) == ("10:10:00", lines[1])
    repeated = messages.printed_at("m: 429, the server said 'no'")
    assert repeated is not None and (repeated.time, repeated.line) == ("10:00:00", "")
