"""A run that is to stop sends nothing more, keeps what is in flight, ends soon, and can go on later."""

import asyncio
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.long_units import QUESTIONS, LongRun, LongSuite
from support.model_server import ModelServer
from support.server_replies import Asked, Half, Raw, Reset, Response, Said, Status, too_many
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.llm import EndpointStats
from triathlon_runner.models_yaml import Price
from triathlon_runner.schedule import Account, Control, Summary, deadline, seconds

UNITS = 30
ALL = UNITS * QUESTIONS
NOW = datetime(2026, 3, 28, 20, 0, tzinfo=UTC)
CENT = Said("x", input_tokens=9_000, output_tokens=1_000, changes={"model": None})
"""A reply that costs one cent at one dollar per million tokens."""


async def begun(
    run: LongRun, server: ModelServer, requests: int, control: Control
) -> "asyncio.Task[Summary]":
    """A run whose server has got so many requests."""
    task = asyncio.create_task(run(server.base_url, control))
    while server.count < requests and not task.done():  # noqa: ASYNC110  the server has no event for that
        await asyncio.sleep(0.01)
    return task


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_budget_holds_for_every_request(tmp_path: Path, at_once: bool) -> None:
    """At most what the requests in flight cost is spent beyond it, however many each unit still wants."""
    run = LongRun(tmp_path, LongSuite(UNITS, at_once=at_once))
    async with ModelServer(lambda asked: CENT, latency=0.02) as server:
        summary = await run(server.base_url, Control(budget_usd=1.00))
        spent = run.control.spent
        assert spent == pytest.approx(server.count * 0.01)
        assert 0.60 <= spent <= 1.00 + server.most_in_flight * 0.01 + 1e-9
        assert (summary.exit_code, "budget of 1 USD" in summary.stopped) == (1, True)
        assert summary.failures == {}
        asked = server.count
        assert (await run(server.base_url)).exit_code == 0
        assert (server.count, max(server.bodies.values())) == (ALL, 1), asked
    assert run.manifest().cost_usd == pytest.approx(ALL * 0.01)
    assert run.manifest().served_model == "scripted", "the row's, where the server names none"


async def test_a_budget_counts_each_request_once(tmp_path: Path) -> None:
    """In flight or answered: where it pays for one reply and a half, two are asked for, and no third one."""
    run = LongRun(tmp_path, LongSuite(1, at_once=True))
    async with ModelServer(lambda asked: CENT) as server:
        await run(server.base_url, Control(budget_usd=0.015))
        assert server.count == 2


async def test_a_budget_counts_lost_replies(tmp_path: Path) -> None:
    """Half of the replies are cut or no answer: their price is estimated, as the server may charge for it."""
    run = LongRun(tmp_path, LongSuite(UNITS), concurrency=8)

    def say(asked: Asked) -> Response:
        return CENT if asked.number < 4 or asked.number % 2 else (Half() if asked.number % 4 else Raw(b"{}"))

    async with ModelServer(say) as server:
        summary = await run(server.base_url, Control(budget_usd=0.60))
        assert "budget" in summary.stopped
        assert server.count * 0.01 <= 0.60 + server.most_in_flight * 0.01 + 1e-9
        (account,) = run.control.accounts
        assert account.stats.lost == server.count - account.stats.answered > 10
        assert account.usd_estimated == pytest.approx(account.stats.lost * 0.01, rel=0.01)


async def test_a_budget_holds_where_nobody_counts_tokens(tmp_path: Path) -> None:
    """The length of the texts stands in for the tokens; the speed is unknown."""
    run = LongRun(tmp_path, LongSuite(UNITS))
    reply = Said("x" * 35, changes={"usage": None})  # ten tokens, and some seven of the question
    async with ModelServer(lambda asked: reply, latency=0.02) as server:
        summary = await run(server.base_url, Control(budget_usd=0.002))
        assert "budget" in summary.stopped
        assert 14e-6 * server.count < run.control.spent < 20e-6 * server.count
        assert run.control.spent < 0.002 + 20e-6 * server.most_in_flight
        (account,) = run.control.accounts
        assert account.usd_estimated == account.usd and not account.stats.tokens_per_second


@pytest.mark.parametrize("units", [2, UNITS])
async def test_a_deadline_ends_a_wait(tmp_path: Path, units: int) -> None:
    """Questions that wait for another try, as the server wants, or for their turn, have nothing in flight."""

    def say(asked: Asked) -> Response:
        return Status(503) if asked.number % 2 and units > 2 else too_many(600)

    run = LongRun(tmp_path, LongSuite(units), concurrency=8)
    control = Control(deadline=NOW.replace(year=9999))
    async with ModelServer(say) as server, asyncio.timeout(60):
        task = await begun(run, server, min(units, 4), control)
        at, control.deadline = time.monotonic(), datetime.now(UTC)
        summary = await task
    assert "deadline" in summary.stopped
    assert (summary.finished, summary.open, summary.failures) == (0, units, {})
    assert time.monotonic() - at < 25
    assert not any("given up" in line for line in run.said)


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_stop_finishes_the_requests_in_flight(tmp_path: Path, at_once: bool) -> None:
    """Their replies are kept, no other is asked for, and the next run goes on from there."""
    answered, slots = 16, 8
    run = LongRun(tmp_path, LongSuite(UNITS, at_once=at_once), concurrency=slots)

    def lines_about_the_stop() -> list[str]:
        return [line for line in run.said if "finishing what is in flight" in line]

    async def say(asked: Asked) -> str:
        """Replies at once to the first requests, and to the others when the run has said that it stops."""
        while asked.number >= answered and not lines_about_the_stop():  # noqa: ASYNC110  it has no event
            await asyncio.sleep(0.01)
        return "x"

    async with ModelServer(say) as server, asyncio.timeout(60):
        task = asyncio.ensure_future(run(server.base_url))
        # Until every slot waits for a reply, and the earlier replies are stored.
        while (server.count, run.control.in_flight) != (answered + slots, slots) and not task.done():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        run.control.stop("Ctrl-C")
        summary = await task
        assert (summary.exit_code, summary.stopped, summary.failures) == (1, "Ctrl-C", {})
        assert server.count == answered + slots
        (line,) = lines_about_the_stop()
        assert f"({slots} requests" in line and "30 s" in line
        assert (await run(server.base_url)).exit_code == 0
        assert (server.count, max(server.bodies.values())) == (ALL, 1)


async def test_a_stop_gives_up_what_takes_too_long(tmp_path: Path) -> None:
    """After so many seconds the rest is given up, and said so; what is finished is kept."""
    run = LongRun(tmp_path, LongSuite(4), concurrency=8)

    def say(asked: Asked) -> str | Response:
        return Reset(3600) if "task 0, question 5" in asked.prompt else "x"

    async with ModelServer(say) as server, asyncio.timeout(60):
        task = await begun(run, server, 3 * QUESTIONS + 6, Control(stop_seconds=0.5))
        run.control.stop("Ctrl-C")
        summary = await task
    assert (summary.finished, summary.open, summary.failures) == (3, 1, {})
    assert any("given up: 1 request, " in line for line in run.said)
    assert [account.stats.lost for account in run.control.accounts] == [1], "it may be charged for"


async def test_what_a_stop_ends_may_take_a_while() -> None:
    """As where a question restarts a server of ours: it is ended once, and the stop goes on."""
    control = Control()
    ending = asyncio.create_task(control.end_waits())
    with pytest.raises(InfrastructureError, match="the run was stopped"):
        async with control.call():
            try:
                await asyncio.sleep(3600)
            finally:
                await asyncio.sleep(1)
    assert not ending.done()
    ending.cancel()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8h", 28_800),
        ("90m", 5_400),
        ("10s", 10),
        ("1h 2min 3.5 sec", 3_723.5),
        ("2d12h", 216_000),
        ("1.5h", 5_400),
        *((text, None) for text in ("", " ", "soon", "8", "0s", "-5m", "07:00", "2026-07-01T07:00")),
    ],
)
def test_spans_of_time(text: str, expected: float | None) -> None:
    """A deadline is one, too: it takes no time of day."""
    if expected is not None:
        assert seconds("--outage", text) == expected
        left = deadline(text) - datetime.now(UTC)
        assert left.total_seconds() == pytest.approx(expected, abs=5)
        return
    with pytest.raises(UserError, match=r"expected --deadline as 90s, 10m or 1h30m, got") as caught:
        deadline(text)
    assert repr(text) in str(caught.value)


def test_a_budget_is_that_of_all_models() -> None:
    """What the judge costs counts, too."""
    control = Control(budget_usd=0.01)
    for model in ("m", "judge"):
        assert control.may_send()
        stats = EndpointStats(answered=5, input_tokens=5000)
        control.accounts.append(Account(model, stats, Price(input=1.0, output=2.0)))
    assert control.spent == pytest.approx(0.01)
    assert not control.may_send() and "budget of 0.01 USD" in control.stopped


def test_a_clock_set_back_prolongs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left until the deadline is counted by a clock that nobody sets; it is named to the second."""
    elapsed = [0.0]
    monkeypatch.setattr("triathlon_runner.schedule._stop.time.monotonic", lambda: elapsed[0])
    control = Control(deadline=datetime.now(UTC) + timedelta(days=1))
    elapsed[0] = 86_000.0
    assert control.may_send()
    elapsed[0] = 86_401.0
    assert not control.may_send()
    moment = r"the deadline is here: \d\d:\d\d:\d\d on \d+ [A-Z][a-z]+ \d{4}, local time"
    assert re.fullmatch(moment, control.stopped)
