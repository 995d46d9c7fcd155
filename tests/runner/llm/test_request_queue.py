"""Who may send, and when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from support.virtual_server import VirtualServer, ask
from support.virtual_time import run_virtually
from triathlon_runner.llm import EndpointStats, Limits, ModelUnavailableError, ServerUnreachableError
from triathlon_runner.llm._queue import RequestQueue


def make(
    slots: int, limits: Limits | None = None, rpm: int | None = None
) -> tuple[RequestQueue, EndpointStats]:
    stats = EndpointStats()
    limits = replace(limits or Limits(), first_concurrency=slots, concurrency=slots, requests_per_minute=rpm)
    return RequestQueue(limits, stats, reached=True), stats


@asynccontextmanager
async def passing(queue: RequestQueue) -> AsyncIterator[None]:
    async with queue.slot(queue.place(), 1):
        yield


async def test_never_more_than_the_level() -> None:
    """At no moment are more requests in flight than the level allows."""
    queue, stats = make(3)
    most = 0

    async def ask() -> None:
        nonlocal most
        async with passing(queue):
            most = max(most, stats.in_flight)
            await asyncio.sleep(0.001)

    await asyncio.gather(*(ask() for _ in range(50)))
    assert most == 3
    assert stats.in_flight == 0


async def test_a_request_that_ended_is_not_in_flight() -> None:
    """Whether the next one may be sent is asked when the one before counts as ended: a budget counts both."""
    seen: list[int] = []
    stats = EndpointStats()

    def may_send() -> bool:
        seen.append(stats.in_flight)
        return True

    limits = Limits(first_concurrency=1, concurrency=1)
    queue = RequestQueue(limits, stats, may_send=may_send, reached=True)

    async def ask() -> None:
        async with passing(queue):
            pass

    async with passing(queue):
        second = asyncio.create_task(ask())
        await asyncio.sleep(0)
        seen.clear()
    await second
    assert seen[0] == 0


async def test_first_come_first_served_also_when_tried_again() -> None:
    """A question that is tried again goes before all that came after it."""
    queue, _ = make(1)
    order: list[str] = []

    async def ask(name: str, tries: int) -> None:
        place = queue.place()
        for number in range(tries):
            async with queue.slot(place, 1):
                order.append(f"{name}{number}")
                await asyncio.sleep(0)

    await asyncio.gather(ask("a", 2), ask("b", 2), ask("c", 1))
    assert order.index("a1") < order.index("c0")
    assert order.index("b1") < order.index("c0") or order.index("b0") < order.index("c0")


@pytest.mark.parametrize("when", ["in the queue", "as the slot comes"])
async def test_cancelled(when: str) -> None:
    """A question that is given up while it waits, or as it gets its slot, leaves its place to the others."""
    queue, stats = make(1)
    async with passing(queue):
        waiter = asyncio.create_task(_pass(queue))
        await asyncio.sleep(0)
        if when == "in the queue":
            waiter.cancel()
            await asyncio.wait([waiter])
    waiter.cancel()
    await asyncio.wait([waiter])
    assert stats.in_flight == 0
    async with asyncio.timeout(1):
        await _pass(queue)


async def _pass(queue: RequestQueue) -> None:
    async with passing(queue):
        pass


async def test_stop_turns_everybody_away() -> None:
    """A stopped model refuses those who wait and those who come, with the reason."""
    queue, stats = make(1)
    inside = asyncio.Event()

    async def hold() -> None:
        async with passing(queue):
            inside.set()
            await asyncio.sleep(0.01)

    async def wait() -> None:
        async with passing(queue):
            raise AssertionError("let through")

    holder = asyncio.create_task(hold())
    await inside.wait()
    waiter = asyncio.create_task(wait())
    await asyncio.sleep(0)
    queue.stop(ModelUnavailableError("bad key"))
    for refused in (waiter, asyncio.create_task(wait())):
        with pytest.raises(ModelUnavailableError, match="bad key"):
            await refused
    await holder
    assert stats.stopped == "bad key"


async def test_one_at_a_time_while_the_endpoint_fails() -> None:
    """After many failures in a row one request at a time is tried; an answer lets all flow again."""
    queue, stats = make(8, Limits(failures_in_a_row=2, first_wait=0.001))
    most = 0

    async def ask() -> None:
        nonlocal most
        async with passing(queue):
            most = max(most, stats.in_flight)
            await asyncio.sleep(0.002)

    queue.failed("down", None)
    queue.failed("down", None)
    await asyncio.gather(*(ask() for _ in range(5)))
    assert most == 1
    async with queue.slot(queue.place(), 1) as slot:
        queue.answered(slot, 1)
    await asyncio.gather(*(ask() for _ in range(16)))
    assert most == 8


async def test_requests_per_minute() -> None:
    """The row's limit a minute is kept, also by requests that come all at once."""
    queue, _ = make(64, rpm=1200)
    began = queue.now()
    await asyncio.gather(*(_pass(queue) for _ in range(64)))
    assert queue.now() - began >= 3 * 60 / 1200


async def test_a_failed_try_gives_its_tokens_back() -> None:
    """Tokens of a failed try do not count against the row's limit a minute; those of an answer do."""
    queue = RequestQueue(Limits(tokens_per_minute=60_000), EndpointStats())
    for _ in range(20):
        async with queue.slot(queue.place(), 6000):
            pass
    assert queue._tokens.wait(queue.now()) == 0
    async with queue.slot(queue.place(), 100) as slot:
        queue.answered(slot, 30_000)
    assert queue._tokens.wait(queue.now()) > 20


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
    assert "longer than 10 min with --outage" in error and "`requests_per_minute`" in error
    assert 4 < len(lines) < 14


def test_rare_answers() -> None:
    """A server that takes one request at a time, for longer than an outage may last, is asked to the end."""
    lines: list[str] = []
    server = VirtualServer(lambda rng: 900.0, at_once=1)
    stats, _ = run_virtually(ask(server, chains=3, length=1, say=lines.append))
    assert stats.answered == 3
    assert not lines
