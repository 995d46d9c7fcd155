"""What a run shows of itself: the panel of a terminal, lines elsewhere, each error once."""

import asyncio
import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Capture, Console

from triathlon_runner.llm import Answer, EndpointStats
from triathlon_runner.models_yaml import Price
from triathlon_runner.records import Reply, Usage
from triathlon_runner.schedule import Account, ConsoleProgress

PRICE = Price(input=2.5, output=1.0)


def shown(progress: ConsoleProgress, screen: Console) -> list[list[str]]:
    with screen.capture() as capture:
        screen.print(progress.panel())
    return [line.split() for line in capture.get().splitlines()]


@pytest.fixture
def screen() -> Console:
    return Console(file=io.StringIO(), width=200, height=30, color_system=None)


def lines_of(capture: Capture) -> list[str]:
    """What was printed, without the time that each line begins with."""
    return [line.partition(" ")[2] for line in capture.get().splitlines()]


async def test_panel() -> None:
    """What is prepared; then of each model units, and its endpoint's limit, retries, cut replies and cost."""
    output = io.StringIO()
    screen = Console(file=output, width=200, height=30, force_terminal=True, color_system=None)
    with ConsoleProgress(screen) as progress:
        progress.status("preparing")
        progress.status("")
        stats = EndpointStats(in_flight=3, limit=16, answered=9, retries=2, truncated=1)
        stats.input_tokens = 1_000_000
        progress.plan("m", planned=3, done=1)
        progress.plan("m", planned=1, done=0)
        progress.attach(Account("m", stats, PRICE))
        progress.finished("m", from_earlier_run=False)
        progress.failed("m", "evolved/x", "no answer")
        progress.say("something")
    heading, row = shown(progress, screen)
    assert {"done", "open", "failed", "limit", "retries", "cut", "USD"} <= set(heading)
    assert {"m", "2/4", "16", "2.5000"} <= set(row)
    assert all(word in output.getvalue() for word in ("preparing", "2/4", "something"))


def test_a_log_of_errors_that_cannot_be_written_ends_no_run(tmp_path: Path) -> None:
    """As on a full disk: the unit stays open, with its error as the reason."""
    (tmp_path / "logs").write_text("")
    progress = ConsoleProgress(Console(file=io.StringIO()))
    progress.errors = tmp_path / "logs/errors.log"
    progress.broke("m evolved/x", ValueError("ours"))


def test_time_left() -> None:
    """Units of the cache are no measure of a server's speed."""
    clock = [100.0]
    screen = Console(file=io.StringIO(), width=80, height=24, get_time=lambda: clock[0])
    progress = ConsoleProgress(screen)
    progress.plan("m", planned=60, done=0)
    progress.attach(Account("m", EndpointStats(), None))
    for _ in range(40):
        progress.finished("m", from_earlier_run=True)
    assert shown(progress, screen)[1][-1] == "?"
    for _ in range(2):
        clock[0] += 20
        progress.finished("m", from_earlier_run=False)
    assert shown(progress, screen)[1][-2:] == ["6", "min"]


def test_line_where_no_panel_is(screen: Console) -> None:
    """A model's last unit has a line at once: units, replies of the cache, tokens, speed and money so far."""
    progress, stats = ConsoleProgress(screen), EndpointStats(limit=2, from_cache=3)
    answer = Answer(Reply(text="x"), Usage(input_tokens=1, output_tokens=5), 0.5, "m")
    stats.count_answer(answer, asked_tokens=1, is_cut_by_context=False)
    with screen.capture() as capture:
        progress.plan("m", planned=2, done=0)
        progress.attach(Account("m", stats, PRICE))
        for _ in range(2):
            progress.finished("m", from_earlier_run=True)
    assert lines_of(capture) == ["m  2/2 done  5 tokens  10 tokens/s  0.0000 USD  2 limit  3 cached"]


async def test_a_line_while_no_unit_ends(screen: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may need minutes for a reply: a line a minute says how many are in flight."""
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])  # not that of the event loop
    monkeypatch.setattr("triathlon_runner.schedule._progress.time", clock)
    monkeypatch.setattr("triathlon_runner.schedule._progress._REFRESH_SECONDS", 0.01)
    progress = ConsoleProgress(screen)
    with screen.capture() as capture, progress:
        progress.plan("m", planned=2, done=0)
        progress.attach(Account("m", EndpointStats(in_flight=2, limit=4), None))
        for seconds in (59.0, 61.0, 119.0, 122.0):
            now[0] = seconds
            await asyncio.sleep(0.1)
    assert lines_of(capture) == 2 * ["m  0/2 done  2 open  – tokens/s  2 in flight  ? time left  4 limit"]


async def test_errors(screen: Console) -> None:
    """Each error of a model is printed once, whatever its numbers and whoever tells it; ten of a model."""
    progress = ConsoleProgress(screen)
    progress.plan("m", planned=3, done=0)
    with screen.capture() as capture:
        progress.attach(Account("m", EndpointStats(stopped="gone after 3 s"), None))
        for number in (20, 21):
            progress.failed("m", "evolved/x", f"no answer in {number} s")
        with progress:
            for number in (30, 60):
                progress.say(f"m: its server starts, {number} s so far")
        progress.say("m: gone after 3 s")
        progress.say("m: stopped")
        progress.failed("m", "evolved/x", "stopped")
        for letter in "abcdefghijklmno":
            progress.failed("m", "evolved/x", f"it said '{letter}'")
    lines = lines_of(capture)
    assert lines[:5] == [
        "m evolved/x: stays open: no answer in 20 s",
        "m: gone after 3 s",
        "m: its server starts, 30 s so far",
        "m: its server starts, 60 s so far",
        "m: stopped",
    ]
    assert lines[-2:] == [
        "m evolved/x: stays open: it said 'h'",
        "m: and other errors, which are not printed",
    ]
