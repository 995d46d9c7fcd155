"""A server that misbehaves three times in ten costs time, not results."""

import asyncio
import random
from pathlib import Path

import pytest

from support.bad_server import misbehaving
from support.model_server import ModelServer
from support.server_replies import Asked, Raw, Said
from triathlon_runner.endpoints import (
    ApiConfig,
    Chat,
    Limits,
    Message,
    ModelUnavailableError,
    ReplyCache,
    Sampling,
    open_model,
)
from triathlon_runner.records import Finish, Reply

QUESTIONS = 150


def calm(asked: Asked) -> Said:
    """Every tenth reply is cut, every eleventh holds reasoning; all depend on the question alone."""
    number = int(asked.prompt)
    if number % 10 == 0:
        return Said(f"answer {number} is cut o", finish="length")
    if number % 11 == 0:
        return Said(f"<think>{number}?</think>answer {number}")
    return Said(f"answer {number}")


async def ask_all(server: ModelServer, cache: ReplyCache | None = None) -> list[Reply]:
    config = ApiConfig(base_url=server.base_url, model="scripted", timeout_seconds=0.5)
    limits = Limits(first_wait=0.01, longest_wait=0.1, attempts=20, failures_in_a_row=20)
    async with open_model("m", "instruct", config, cache=cache, limits=limits) as model:
        prompts = [Chat((Message("user", str(number)),)) for number in range(QUESTIONS)]
        answers = await asyncio.gather(*(model.ask(prompt, Sampling(64)) for prompt in prompts))
        assert model.stats.failed == 0
    return [answer.reply for answer in answers]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4))])
async def test_same_replies_as_a_calm_server(tmp_path: Path, seed: int) -> None:
    """With three requests in ten going wrong in every known way, the replies are those of a calm run."""
    async with ModelServer(calm) as quiet:
        expected = await ask_all(quiet)
    with ReplyCache(tmp_path / "c.sqlite") as cache:
        async with ModelServer(misbehaving(calm, seed)) as server:
            assert await ask_all(server, cache) == expected
            count = server.count
            assert await ask_all(server, cache) == expected
            assert server.count == count > 1.1 * QUESTIONS


async def test_a_server_of_another_kind_stops_the_model() -> None:
    """Where no reply ever kept the protocol, the row is wrong; the message shows what came."""
    async with ModelServer(lambda asked: Raw(b"<html>welcome</html>", "text/html")) as server:
        with pytest.raises(ModelUnavailableError, match=r"b'<html>welcome</html>'; look at base_url"):
            await ask_all(server)


async def test_a_server_of_another_model_stops_the_model() -> None:
    """Where every reply is in another name, few are enough, and the message says what to do about it."""
    async with ModelServer(lambda asked: Said("x", model="gpt-5-cheap")) as server:
        with pytest.raises(ModelUnavailableError, match=r'no reply was by .*`served_as: \["gpt-5-cheap"\]`'):
            await ask_all(server)
    assert server.count <= Limits().first_concurrency + 3


async def test_answers_never_shift() -> None:
    """However the replies overtake one another, each question gets its own."""
    rng = random.Random(3)

    async def script(asked: Asked) -> str:
        await asyncio.sleep(rng.random() * 0.05)
        return f"answer {asked.prompt}"

    async with ModelServer(script) as server:
        replies = await ask_all(server)
    assert [reply.text for reply in replies] == [f"answer {number}" for number in range(QUESTIONS)]
    assert {reply.finish for reply in replies} == {Finish.STOP}
