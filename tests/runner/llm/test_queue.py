"""Who may send, and when: the queue and its limits, most on a clock that jumps, behind scripted servers."""

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.opened import opened
from support.server_replies import Said
from support.virtual_server import VirtualServer, ask, model_behind, run_virtually
from triathlon_runner.llm import Completion, Limits, ModelUnavailableError, Sampling, ServerUnreachableError
from triathlon_runner.llm._api import TimedOut
from triathlon_runner.llm._queue import LearnedLimit, RateLimit, RequestQueue
from triathlon_runner.llm.provider import HttpReply


@pytest.fixture(autouse=True)
def same_jitter() -> None:
    """Waits between two tries are random: each run of a test draws the same ones."""
    random.seed(1)


FAST, TENTH, VARIED = (0.01, 0.01), (0.1, 0.1), (0.2, 1.8)
"""Seconds until an answer, from and to."""


LIMITED = [
    # latency, limits of the server, questions of each chain, most 429s after 10 s, seconds of the best course
    *((pace, {"a_minute": 300, "burst": n}, 15, 0.4, 288) for pace in (FAST, VARIED) for n in (5, 300, None)),
    (VARIED, {"at_once": 8, "fault_share": 0.1}, 20, 0.15, 240 * 1.25),
    (TENTH, {"at_once": 8}, 30, 0.15, 36),
    (VARIED, {"at_once": 8}, 30, 0.15, 360),
]


@pytest.mark.parametrize(("latency", "limits", "length", "most", "best"), LIMITED)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2))])
def test_a_limit_is_found_and_used(
    latency: tuple[float, float], limits: dict[str, Any], length: int, most: float, best: float, seed: int
) -> None:
    """Requests a minute, even or in bursts, and at once, though one reply in ten fails by chance."""
    random.seed(seed)
    server = VirtualServer(latency, **limits)
    run_virtually(ask(server, chains=96, length=length))
    assert server.refused(since=10) < most
    assert all(server.answered_at(share) < 1.2 * best * share for share in (0.5, 0.9, 1.0))


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_chance(seed: int) -> None:
    """Faults by chance, 429s among them, three in ten: no more than twice the calm time, every answer got."""
    _, calm = run_virtually(ask(VirtualServer(FAST), chains=96, length=48, pause=1.15))
    server = VirtualServer(FAST, fault_share=0.3, rng=random.Random(seed))
    stats, seconds = run_virtually(ask(server, chains=96, length=48, pause=1.15))
    assert stats.answered >= 96 * 48
    assert seconds < 2 * calm


def test_a_long_wait_of_one_question_holds_up_no_other() -> None:
    """One 429 asks for ten minutes; the others go on after an outage of a second, with all slots."""

    class OneWaits(VirtualServer):
        async def send(self, path: str, body: dict[str, Any] | None, seconds: float) -> HttpReply:
            now = asyncio.get_running_loop().time()
            if 3 < now < 4:
                await asyncio.sleep(0.01)
                return HttpReply(503, b"", {})
            if not self.replies:
                self.replies.append((now, 429))
                return HttpReply(429, b"", {"retry-after": "600"})
            return await super().send(path, body, seconds)

    server = OneWaits(TENTH)
    run_virtually(ask(server, chains=40, length=40))
    assert server.answered_at(0.97) < 30  # 39 of 40 chains


def test_replies_that_come_too_late() -> None:
    """Each time-out lowers the requests at once, and every question gets its answer."""
    server = VirtualServer(VARIED, at_once=8, is_slow=True)
    stats, _ = run_virtually(ask(server, chains=32, length=40))
    assert stats.answered == 32 * 40
    assert stats.limit <= 12


@pytest.mark.parametrize(
    ("refused", "least", "most"), [(0.0, 256, 256), (0.3, 16, 256), (0.9, 1, 2), (1.0, 4, 4)]
)
def test_the_limit_follows_the_429s(refused: float, least: int, most: int) -> None:
    """Without 429s it doubles; a share that no lowering changes is chance; where all are 429s it stays."""
    level, rng = LearnedLimit(4, 256), random.Random(1)
    for now in range(3000):
        level.replied(now, now, is_refused=rng.random() < refused)
    assert least <= level.value <= most


@given(limit=st.integers(1, 3000))
def test_no_minute_holds_more(limit: int) -> None:
    """However one lays a window of 60 s, it holds no more requests than the limit, and nearly as many."""
    pace, now, sent = RateLimit(limit), 0.0, []
    for _ in range(2 * limit + 2):
        now += pace.wait(now)
        pace.spend(now, 1)
        sent.append(now)
    assert all(sent[i + limit] - sent[i] >= 60 - 1e-6 for i in range(len(sent) - limit))
    assert sent[limit] <= 61


@pytest.mark.parametrize("questions", [1, 40])
@pytest.mark.parametrize("retry_after", [False, True])
def test_nothing_but_429s(questions: int, retry_after: bool) -> None:
    """After ten minutes of nothing but 429s the model stops, and the message says what to do."""
    lines: list[str] = []

    async def main() -> str:
        server = VirtualServer(at_once=0, retry_after=retry_after)
        with pytest.raises(ExceptionGroup) as caught:
            await ask(server, chains=questions, length=1, say=lines.append)
        (error,) = {str(error) for error in caught.value.exceptions}
        assert all(isinstance(each, ServerUnreachableError) for each in caught.value.exceptions)
        return error

    error, seconds = run_virtually(main())
    assert 600 <= seconds < 750
    assert "longer than 10 min with `run --outage`" in error and "`requests_per_minute`" in error
    assert 4 < len(lines) < 14


@pytest.mark.parametrize("first", ["list of models", "question"])
@pytest.mark.parametrize(
    ("status", "wait", "says", "least", "most"),
    [
        (429, 86400, r"wait 24 h 0 min \(.*\), longer than the 15 min .* `run --longest-wait`", 0, 1),
        (503, 7200, r"wait 2 h 0 min \(.*\), longer than the 15 min", 0, 1),
        (503, 500, r"no answer for \d+ min.*given up.* with `run --outage`", 600, 700),
    ],
)
def test_a_wait_is_no_longer_than_allowed(
    status: int, wait: int, says: str, least: float, most: float, first: str
) -> None:
    """Whatever is asked, the model stops at once where the wait is too long, else after the outage."""

    async def busy(path: str, body: dict[str, Any] | None, seconds: float) -> HttpReply:
        return HttpReply(status, b"", {"retry-after": str(wait)})

    async def main() -> None:
        model = model_behind(busy)
        question = model.ask(Completion("q"), Sampling(64))
        with pytest.raises(ServerUnreachableError, match=says):
            await (question if first == "question" else model.config.server_info(model.fetch))
        question.close()

    _, seconds = run_virtually(main())
    assert least <= seconds < most


def test_a_busy_list_is_waited_for() -> None:
    """A server that lists its models after two waits of 30 s was there: the first contact is no limit."""
    replies = [(429, b""), (503, b""), (200, b'{"data": [{"id": "m"}]}')]
    lines: list[str] = []

    async def busy(path: str, body: dict[str, Any] | None, seconds: float) -> HttpReply:
        return HttpReply(*replies.pop(0), {"retry-after": "30"}) if replies else HttpReply(404, b"", {})

    async def main() -> None:
        model = model_behind(busy, say=lines.append)
        assert (await model.config.server_info(model.fetch)).listed == ("m",)

    assert 60 <= run_virtually(main())[1] < 75
    assert "trying again, for 10 min at most" in lines[0]


@pytest.mark.parametrize(("is_silent", "least"), [(False, 2 * 4 * 10), (True, 300 + 5 * 10)])
def test_a_guess_without_an_answer_stops_no_model(is_silent: bool, least: float) -> None:
    """A server that lists its models and calls itself busy elsewhere, or is silent there, is unknown."""

    async def only_lists(path: str, body: dict[str, Any] | None, seconds: float) -> HttpReply:
        if path == "/models":
            return HttpReply(200, b'{"data": [{"id": "m"}]}', {})
        if is_silent:
            await asyncio.sleep(seconds)
            raise TimedOut("no reply")
        return HttpReply(503, b"", {"retry-after": "3600"})

    async def main() -> None:
        model = model_behind(only_lists)
        info = await model.config.server_info(model.fetch)
        assert (info.name, info.listed, model.stats.stopped) == ("", ("m",), "")

    assert least <= run_virtually(main())[1] < least + 10


def test_a_slow_reply_is_waited_for_with_a_line() -> None:
    """Whoever probes a slow server is told what the silence waits for, once a question."""
    lines: list[str] = []

    async def slow(path: str, body: dict[str, Any] | None, seconds: float) -> HttpReply:
        await asyncio.sleep(11.0 if body is None else 300.0)
        return HttpReply(404, b"", {})

    async def main() -> None:
        model = model_behind(slow, say=lines.append)
        await model.fetch("/models")
        await model.fetch("/completions", {"prompt": "q"}, seconds=600.0)

    run_virtually(main())
    assert lines == ["waiting for the reply to /completions"]


def test_rare_answers() -> None:
    """A server that takes one request at a time, for longer than an outage may last, is asked to the end."""
    lines: list[str] = []
    server = VirtualServer((900.0, 900.0), at_once=1)
    stats, _ = run_virtually(ask(server, chains=3, length=1, say=lines.append))
    assert stats.answered == 3
    assert not lines


def make(slots: int, **limits: Any) -> RequestQueue:
    return RequestQueue(Limits(first_concurrency=slots, concurrency=slots, **limits), reached=True)


async def send(queue: RequestQueue, seconds: float = 0.0, in_flight: list[int] | None = None) -> None:
    async with queue.slot(queue.place(), 1):
        if in_flight is not None:
            in_flight.append(queue.stats.in_flight)
        await asyncio.sleep(seconds)


async def test_one_at_a_time_while_the_server_fails() -> None:
    """After failures in a row one request at a time is sent; an answer lets as many flow as are allowed."""
    queue, in_flight = make(8, failures_in_a_row=2, first_wait=0.001), list[int]()
    for _ in range(2):
        queue.failed("down", None)
    await asyncio.gather(*(send(queue, 0.002, in_flight) for _ in range(5)))
    assert max(in_flight) == 1
    async with queue.slot(queue.place(), 1) as slot:
        queue.answered(slot, 1)
    await asyncio.gather(*(send(queue, 0.002, in_flight) for _ in range(50)))
    assert (max(in_flight), queue.stats.in_flight) == (8, 0)


async def test_first_come_first_served_also_when_tried_again() -> None:
    """A question that is tried again goes before all that came after it."""
    queue, order = make(1), list[str]()

    async def tries(name: str, count: int) -> None:
        place = queue.place()
        for number in range(count):
            async with queue.slot(place, 1):
                order.append(f"{name}{number}")
                await asyncio.sleep(0)

    await asyncio.gather(tries("a", 2), tries("b", 2), tries("c", 1))
    assert order.index("a1") < order.index("c0") and order.index("b0") < order.index("c0")


@pytest.mark.parametrize("when", ["in the queue", "as the slot comes"])
async def test_cancelled(when: str) -> None:
    """A question that is given up while it waits, or as it gets its slot, leaves its place to the others."""
    queue = make(1)
    async with queue.slot(queue.place(), 1):
        waiter = asyncio.create_task(send(queue))
        await asyncio.sleep(0)
        if when == "in the queue":
            waiter.cancel()
            await asyncio.wait([waiter])
    waiter.cancel()
    await asyncio.wait([waiter])
    assert queue.stats.in_flight == 0
    async with asyncio.timeout(1):
        await send(queue)


async def test_stop_turns_everybody_away() -> None:
    """A stopped model refuses those who wait and those who come, with the reason."""
    queue = make(1)
    async with queue.slot(queue.place(), 1):
        waiter = asyncio.create_task(send(queue))
        await asyncio.sleep(0)
        queue.stop(ModelUnavailableError("bad key"))
        for refused in (waiter, asyncio.create_task(send(queue))):
            with pytest.raises(ModelUnavailableError, match="bad key"):
                await refused
    assert queue.stats.stopped == "bad key"


async def test_a_row_s_limits_a_minute() -> None:
    """Requests that come all at once are spread; tokens of answers count, not those of failed tries."""
    queue = make(64, requests_per_minute=1200)
    began = queue.now()
    await asyncio.gather(*(send(queue) for _ in range(64)))
    assert queue.now() - began >= 3 * 60 / 1200
    queue = make(8, tokens_per_minute=60_000)
    for _ in range(20):
        async with queue.slot(queue.place(), 6000):
            pass
    assert queue._tokens.wait(queue.now()) == 0
    async with queue.slot(queue.place(), 100) as slot:
        queue.answered(slot, 30_000)
    assert queue._tokens.wait(queue.now()) > 20


async def test_tokens_that_nobody_counts() -> None:
    """Without `usage` the length of the texts counts for the row's limit a minute: 100 tokens are 5 s."""
    said = Said("x" * 350, changes={"usage": None})
    async with opened(lambda _: said, "base", tokens_per_minute=1200) as (_, model):
        await model.ask(Completion("q"), Sampling(64))
        assert model.queue._tokens.wait(model.queue.now()) > 1
