"""Messages above the panel: an error is printed once, and later lines say where it stands."""

import pytest

from triathlon_runner.llm import EndpointStats
from triathlon_runner.schedule import Account, _progress


def test_a_message_that_quotes_a_printed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refers to that error by its time, and says the rest; the end refers to the message."""
    clock = ["10:00:00"]
    lines: list[str] = []
    monkeypatch.setattr(_progress, "_time_of_day", lambda: clock[0])
    messages = _progress.Messages(lines.append)
    messages.attach(Account("m", EndpointStats(last_error="429, the server said 'no'"), None))
    messages.say_errors_of_servers()
    clock[0] = "10:10:00"
    stopped = "m: expected an answer, got none: 429, the server said 'no'; look at the quota"
    messages.say(stopped)
    assert lines[1] == "m: expected an answer, got none: the error of 10:00:00 above; look at the quota"
    assert messages.once(stopped) == "m, see the error of 10:10:00 above"
    assert messages.once("m: 429, the server said 'no'") == "m, see the error of 10:00:00 above"


def test_a_server_that_is_tried_again_by_another_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why it does not answer stands there once, however often the connections say so."""
    lines: list[str] = []
    monkeypatch.setattr(_progress, "_time_of_day", lambda: "10:00:00")
    messages = _progress.Messages(lines.append)
    error = "http://127.0.0.1:1: the server said 'not now; later'"
    for _ in range(2):
        messages.say(f"m: no answer from the server: {error}; trying again, for 1 s at most")
        messages.say(f"m: no answer from the server, given up: {error}; run again later")
    assert "".join(lines).count("not now; later") == 1
    assert lines[1] == "m: no answer from the server, given up: the error of 10:00:00 above; run again later"
    assert lines[2].startswith("m: no answer from the server: the error of 10:00:00 above; trying again")
    other = "m: no answer for 5 s: a time-out; trying again, for 1 s at most"
    messages.say(other)
    assert lines[-1] == other


def test_many_errors_of_one_model() -> None:
    """Ten are printed, then a line that says that there are more, once."""
    lines: list[str] = []
    messages = _progress.Messages(lines.append)
    for letter in "abcdefghijklmno":
        messages.say_error("m", f"it said '{letter}'", f"m: it said '{letter}'")
    assert lines[9:] == ["m: it said 'j'", "m: and other errors, which are not printed"]
