"""The log for machines and the panel for people tell the same run."""

import io
import json
import re
import time
from pathlib import Path

import pytest
from rich.console import Console

from support.hashes import hashes
from triathlon_runner.errors import UserError
from triathlon_runner.llm import Answer, EndpointStats
from triathlon_runner.models_yaml import Price
from triathlon_runner.records import Outcome, Reply, UnitRecord, Usage
from triathlon_runner.schedule import Account, ConsoleProgress, JsonLog, _progress
from triathlon_runner.schedule._progress import Messages

RECORD = UnitRecord(
    suite="evolved/x",
    model="m",
    task_id="t/1",
    protocol=hashes("p"),
    outcome=Outcome.TRUNCATED,
    usage=Usage(requests=1, output_tokens=9),
)


def tell(progress: ConsoleProgress) -> Account:
    stats = EndpointStats(in_flight=3, limit=16, answered=9, retries=2, truncated=1, last_error="429, slow")
    stats.input_tokens = 1_000_000
    progress.plan("m", "evolved/x", planned=4, done=1)
    account = Account("m", stats, Price(input=2.5, output=1.0))
    progress.attach(account)
    progress.start("m", "evolved/x")
    progress.finished(RECORD, from_earlier_run=False)
    progress.failed("m", "evolved/x", "no answer")
    progress.say("something")
    return account


def test_log(tmp_path: Path) -> None:
    """Every event is a JSON line with its time; the end sums up each model."""
    with JsonLog(tmp_path / "logs" / "run.jsonl") as log:
        progress = ConsoleProgress(Console(file=io.StringIO()))
        progress.log = log
        log.end([tell(progress)], finished=1, open=2)
    lines = [json.loads(line) for line in (tmp_path / "logs" / "run.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == [
        "plan", "model", "start", "unit", "open", "message", "model_end", "end"
    ]  # fmt: skip
    assert all(line["time"].endswith("+00:00") for line in lines)
    assert (lines[3]["task_id"], lines[3]["outcome"], lines[4]["reason"]) == ("t/1", "truncated", "no answer")
    assert lines[3]["from_earlier_run"] is False
    assert (lines[6]["usd"], lines[6]["retries"], lines[6]["last_error"]) == (2.5, 2, "429, slow")
    assert (lines[7]["finished"], lines[7]["open"]) == (1, 2)


def test_log_that_cannot_be_written(tmp_path: Path) -> None:
    """A log file that cannot be is a user's error, before anything is asked."""
    with pytest.raises(UserError, match="--log-json"):
        JsonLog(tmp_path)


def panel_of(width: int, height: int) -> tuple[Console, ConsoleProgress]:
    screen = Console(file=io.StringIO(), width=width, height=height)
    return screen, ConsoleProgress(screen)


def shown(progress: ConsoleProgress, screen: Console) -> str:
    with screen.capture() as capture:
        screen.print(progress.panel())
    return capture.get()


def test_panel() -> None:
    """A wide panel shows, of each model, units and its endpoint's limit, retries, cut replies and cost."""
    screen, progress = panel_of(200, 30)
    tell(progress)
    heading, row = (line.split() for line in shown(progress, screen).splitlines())
    assert {"done", "open", "failed", "limit", "retries", "cut", "USD"} <= set(heading)
    assert {"m", "2/4", "16", "2.5000"} <= set(row)


def test_suites_under_way() -> None:
    """Each has a row below its model's; those that have not begun or are done have none."""
    screen, progress = panel_of(80, 24)
    for number, done in enumerate((4, 1, 0)):
        progress.plan("m", f"evolved/{number}", planned=4, done=done)
    progress.start("m", "evolved/0")
    progress.start("m", "evolved/1")
    rows = [line.split() for line in shown(progress, screen).splitlines()[1:]]
    assert [row[:3] for row in rows] == [["m", "5/12", "7"], ["evolved/1", "1/4", "3"]]


def test_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units of the cache are no measure of a server's speed; a model takes as long as its slowest suite."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    screen, progress = panel_of(80, 24)
    stats = EndpointStats(from_cache=40)
    progress.attach(Account("m", stats, None))
    for suite, planned in (("evolved/x", 60), ("evolved/y", 20)):
        progress.plan("m", suite, planned=planned, done=0)
        progress.start("m", suite)
    for _ in range(40):
        progress.finished(RECORD, from_earlier_run=True)
    assert " s" not in shown(progress, screen).replace(" suite", "")
    stats.answered, clock[0] = 20, 110.0
    for _ in range(19):
        progress.finished(RECORD, from_earlier_run=False)
    progress.finished(RECORD.model_copy(update={"suite": "evolved/y"}), from_earlier_run=False)
    rows = shown(progress, screen).splitlines()[1:]
    assert [row.split()[-4:] for row in rows if "evolved/y" in row or row.startswith("m ")] == [
        ["3", "min", "10", "s"]
    ] * 2


def test_line_of_replies_from_the_cache() -> None:
    """Units that the cache answered are said to be of the cache, and count as no tokens and no speed."""
    screen = Console(file=io.StringIO(), width=200, color_system=None)
    progress, stats = ConsoleProgress(screen), EndpointStats(limit=2, from_cache=3)
    lines = []
    for _ in range(2):
        with screen.capture() as capture:
            progress.plan("m", "evolved/x", planned=1, done=0)
            progress.attach(Account("m", stats, Price(input=2.5, output=1.0)))
            progress.start("m", "evolved/x")
            progress.finished(RECORD, from_earlier_run=True)
        lines.append(capture.get().rstrip())
        answer = Answer(Reply(text="x"), Usage(input_tokens=1, output_tokens=5), 0.5, "m")
        stats.count_answer(answer, asked_tokens=1, max_tokens=9)
    of_suite = "m evolved/x  1/1 done  0 open  1 cached; all of m so far:"
    assert lines[0].endswith(f"{of_suite} limit 2  0.00 USD")
    assert f"{of_suite} 5 tokens  10 tokens/s  limit 2" in lines[1]


def test_errors() -> None:
    """Each error of a model is printed once, whatever its numbers and whoever tells it, and can be found."""
    screen = Console(file=io.StringIO(), width=100)
    progress = ConsoleProgress(screen)
    tell(progress)
    stats = EndpointStats(stopped="gone after 3 s")
    with screen.capture() as capture:
        progress.attach(Account("m", stats, None))
        progress.failed("m", "evolved/x", "no answer in 20 s")
        progress.failed("m", "evolved/x", "no answer in 21 s")
        with progress:
            progress.say("m: its server starts, 30 s so far")
            progress.say("m: its server starts, 60 s so far")
        progress.say("m: gone after 3 s")
    lines = [line.partition(" ")[2] for line in capture.get().splitlines()]
    assert lines == [
        "m evolved/x: stays open: no answer in 20 s",
        "m: its server starts, 30 s so far",
        "m: its server starts, 60 s so far",
        "m: gone after 3 s",
    ]
    reference = progress.once("m: gone after 3 s")
    assert re.fullmatch(r"m, see the error of \d\d:\d\d:\d\d above", reference)
    assert progress.once("gone after 4 s") == reference
    assert progress.once("something else") == "something else"


def test_panel_on_a_terminal() -> None:
    """On a terminal the panel is drawn live: from its first moment, before anything is planned."""
    output = io.StringIO()
    screen = Console(file=output, width=80, height=24, force_terminal=True)
    with ConsoleProgress(screen) as progress:
        progress.status("preparing")
        progress.status("")
        tell(progress)
    assert all(word in output.getvalue() for word in ("preparing", "2/4", "something"))


def test_panel_of_many() -> None:
    """However many models are planned, the panel fits the screen and says how many it leaves out."""
    screen, progress = panel_of(200, 20)
    for number in range(300):
        progress.plan(f"m{number}", "evolved/x", planned=4, done=4 if number < 100 else 0)
    assert len(shown(progress, screen).splitlines()) <= 20
    assert "and 283 more models; 100 of 300 are done" in shown(progress, screen)


def test_a_message_that_quotes_a_printed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refers to that error by its time, and says the rest; the end refers to the message."""
    clock = ["10:00:00"]
    lines: list[str] = []
    monkeypatch.setattr(_progress, "_time_of_day", lambda: clock[0])
    messages = Messages(lines.append)
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
    messages = Messages(lines.append)
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
    messages = Messages(lines.append)
    for letter in "abcdefghijklmno":
        messages.say_error("m", f"it said '{letter}'", f"m: it said '{letter}'")
    assert lines[9:] == ["m: it said 'j'", "m: and other errors, which are not printed"]
