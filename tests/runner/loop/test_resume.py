"""The loop over the real endpoint client: every loop is asked, and a stopped run asks nothing again."""

import asyncio
from pathlib import Path

import pytest

from support.loop_fakes import ADD, RIGHT, FakeGrader, is_summary
from support.model_server import ModelServer
from support.server_replies import Asked
from triathlon_runner.endpoints import ApiConfig, ReplyCache, open_model
from triathlon_runner.loop import LoopSuite
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import LoopRecord, Outcome
from triathlon_runner.suites import DataSetInfo


def say(asked: Asked) -> str:
    """A model at its fixed point: one program, one sentence."""
    return "Write a Python function to add two numbers." if is_summary(asked.prompt) else RIGHT


async def run(server: ModelServer, cache: ReplyCache) -> LoopRecord:
    suite = LoopSuite("loop/test", DataSetInfo("test", "1", "0" * 64), [ADD], load_prompts("loop"))
    async with open_model(
        "m", "instruct", ApiConfig(base_url=server.base_url, model="scripted"), cache=cache
    ) as m:
        return await suite.run("t/add", 0, m, FakeGrader(), "hash")


async def test_a_model_at_its_fixed_point_is_asked_in_every_loop(tmp_path: Path) -> None:
    """Equal questions of different loops each reach the server, though replies are cached."""
    async with ModelServer(say) as server:
        with ReplyCache(tmp_path / "replies") as cache:
            record = await run(server, cache)
        assert (record.sustained_loops, server.count) == (10, 19)


async def test_a_run_stopped_in_loop_6_asks_only_what_was_in_flight(tmp_path: Path) -> None:
    """Ten requests are answered when the eleventh is cut off: the next run asks nine, and ends the same."""
    reached = asyncio.Event()

    async def hang_in_loop_6(asked: Asked) -> str:
        if asked.number == 10:
            reached.set()
            await asyncio.sleep(60)
        return say(asked)

    async with ModelServer(hang_in_loop_6) as server:
        with ReplyCache(tmp_path / "replies") as cache:
            stopped = asyncio.create_task(run(server, cache))
            await reached.wait()
            stopped.cancel()
            with pytest.raises(asyncio.CancelledError):
                await stopped
            record = await run(server, cache)
        assert (record.sustained_loops, record.outcome) == (10, Outcome.PASSED)
        assert server.count == 11 + 9
    async with ModelServer(say) as untouched:
        with ReplyCache(tmp_path / "other") as cache:
            undisturbed = await run(untouched, cache)
    assert record.model_copy(update={"seconds": 0.0}) == undisturbed.model_copy(update={"seconds": 0.0})
