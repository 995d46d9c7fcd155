"""Long texts are read in another process: however long, they keep the event loop no longer."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from unittest.mock import Mock

import pytest

from support.steps import steps_of
from support.virtual_server import VirtualServer, body_of, model_behind
from triathlon_runner.concurrency import LONG, in_other_process
from triathlon_runner.errors import InfrastructureError
from triathlon_runner.llm import Answer, Chat, Message, Sampling
from triathlon_runner.llm._api import OtherModel
from triathlon_runner.llm.provider import HttpReply
from triathlon_runner.records import AnswerRecord, Outcome, Reply
from triathlon_runner.replies import Extraction, extract
from triathlon_runner.runtime._grade import Graded, answer_record

F = "def f(x):\n    return x + 1\n"


async def test_a_long_text_is_read_elsewhere() -> None:
    """A short one is not: that would take longer. A terminal's Ctrl-C does not end those that read."""
    assert await in_other_process(LONG - 1, os.getpid) == os.getpid()
    assert await in_other_process(LONG, os.getpid) != os.getpid()
    assert await in_other_process(LONG, signal.getsignal, signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize("is_closing", [False, True])
async def test_an_ended_process_is_our_failure(monkeypatch: pytest.MonkeyPatch, is_closing: bool) -> None:
    """Also in a pool that closes because of it; what comes behind it gets a new process."""
    with monkeypatch.context() as patch:
        if is_closing:
            patch.setattr(ProcessPoolExecutor, "submit", Mock(side_effect=OSError("handle is closed")))
        with pytest.raises(InfrastructureError, match="8000 characters ended before it was done"):
            await in_other_process(LONG, os._exit, 1)
    assert await in_other_process(LONG, len, "four") == 4


async def read(text: str, name: str = "m") -> Answer:
    model = model_behind(VirtualServer().send)
    request = model.request(Chat((Message("user", "q"),)), Sampling(64))
    return await model.read_reply(request, HttpReply(200, body_of(text, name), {}))


async def program(text: str) -> Extraction:
    return await extract(Reply(text=text), entry_point="f", prompt="")


async def answer(text: str) -> AnswerRecord:
    async def grade(_: str) -> Graded:
        return Graded(Outcome.FAILED)

    return await answer_record(Reply(text=text), "direct", grade, question="", expected=())


@pytest.mark.parametrize("work", [read, program, answer])
@pytest.mark.parametrize("part", ["<think>a</think>\n", f"```python\n{F}```\n"])
def test_a_longer_text_takes_no_more_steps_here(work: Callable[[str], Awaitable[object]], part: str) -> None:
    """Reading a reply, and taking a program or an answer out of it: ten times the text, the same steps."""

    def until_it_waits(text: str) -> None:
        waiting = work(text).__await__()
        assert isinstance(next(waiting), asyncio.Future)
        waiting.close()

    async def both() -> tuple[int, int]:
        await asyncio.gather(*(work(part * 1_000) for _ in range(8)))  # starts all processes
        few, many = (steps_of(partial(until_it_waits, part * count)) for count in (1_000, 10_000))
        return few, many

    few, many = asyncio.run(both())
    assert many <= few * 1.1 + 20, (few, many)


async def test_what_reading_raises_comes_back_whole() -> None:
    for text in ("x", "x" * LONG):
        with pytest.raises(OtherModel, match="answered by 'other'") as raised:
            await read(text, "other")
        assert raised.value.served == "other"
