"""A model whose server somebody starts again."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from support.fake_vllm import fake_row
from support.model_server import Script
from support.opened import opened
from support.server_replies import Status
from triathlon_runner.cli import _here
from triathlon_runner.llm import (
    Completion,
    EndpointError,
    Limits,
    ModelSettings,
    ModelUnavailableError,
    ReplyCache,
    Sampling,
)
from triathlon_runner.models_yaml import Registry
from triathlon_runner.schedule import Control, ModelOpener, OpenModel
from triathlon_runner.serving import Server, ServerLostError

QUICK = Limits(outage_seconds=float("inf"), first_wait=0.001, longest_wait=0.002, attempts=2)
FAKE = ModelSettings(engine="fake")
QUESTION = Completion("q")


@asynccontextmanager
async def managed(script: Script, ensure: AsyncMock) -> AsyncIterator[OpenModel]:
    """A model behind a server of ours; `ensure` is what its manager does when a question has failed."""
    async with opened(script, "base", settings=FAKE, limits=QUICK, concurrency=4) as (_, model):
        yield OpenModel(model, "a test", "m", slots=4, server=Mock(spec=Server, ensure=ensure, starts=1))


@asynccontextmanager
async def served(
    folder: Path, row: dict[str, Any], say: Callable[[str], None] = lambda _: None, **options: Any
) -> AsyncIterator[OpenModel]:
    """The model of a row behind a stand-in for vLLM, with a cache in this folder."""
    registry = Registry.model_validate({"models": [row]})
    with ReplyCache(folder / "c.sqlite") as replies:
        opener = ModelOpener(registry, replies, folder, say, **options)
        async with opener.open(registry.models[0]) as model:
            yield model


async def test_a_server_that_is_well_is_not_started() -> None:
    """A question that fails on a server that is well fails; ten in a row stop the model."""
    async with managed(lambda asked: Status(500), AsyncMock()) as model:
        for _ in range(9):
            with pytest.raises(EndpointError) as caught:
                await model.ask(QUESTION, Sampling(8))
            assert not isinstance(caught.value, ModelUnavailableError)
        with pytest.raises(ModelUnavailableError, match="none of 10 questions in a row"):
            await model.ask(QUESTION, Sampling(8))


@pytest.mark.parametrize(
    ("reply", "message", "ensured"),
    [
        (Status(503), "the server of 'm' failed again", 1),
        (Status(404, "no such model", "model_not_found"), "no such model", 0),
    ],
    ids=["given up", "refused"],
)
async def test_what_no_restart_cures_stops_the_model(reply: Status, message: str, ensured: int) -> None:
    """A server that is given up, by its manager's message; a refusal, without asking the manager."""
    ensure = AsyncMock(side_effect=ServerLostError("the server of 'm' failed again"))
    async with managed(lambda asked: reply, ensure) as model:
        with pytest.raises(ModelUnavailableError, match=message):
            await model.ask(QUESTION, Sampling(8))
    assert ensure.await_count == ensured


async def test_the_timeout_of_a_server_of_our_own(tmp_path: Path) -> None:
    """`--timeout` holds for it, too."""
    async with served(tmp_path, fake_row(tmp_path, "stalls_after:2"), timeout_seconds=0.2) as opened:
        question = asyncio.create_task(opened.ask(QUESTION, Sampling(8)))
        async with asyncio.timeout(30):
            while not (opened.stats and opened.stats.last_error):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        question.cancel()
        assert "no whole reply within 0.2 s (allow more with --timeout" in opened.stats.last_error


async def test_a_server_of_our_own_that_dies(tmp_path: Path) -> None:
    """A real child that ends with every fourth question is started again, and each question answered."""
    said: list[str] = []
    async with served(tmp_path, fake_row(tmp_path, "dies_after:4"), said.append) as opened:
        for number in range(4):
            answer = await opened.ask(Completion(f"{number}"), Sampling(8))
            assert answer.reply.text == f"after {number}"
        assert "closed the connection" in opened.stats.last_error, "whether its address is right is not asked"
    assert any("restarting the server of m" in line for line in said)


@pytest.mark.parametrize(
    ("args", "template", "reused"),
    [
        ({"quantization": "awq"}, "a", False),
        ({"hf_overrides.a": 1}, "a", False),
        ({"reasoning-parser": "a"}, "a", False),
        ({}, "another text", False),
        ({}, "the same text", True),
    ],
)
async def test_cached_replies_are_of_the_same_settings(
    tmp_path: Path, args: dict[str, object], template: str, reused: bool
) -> None:
    """With another chat template, or arguments that make another model, a server of ours is asked anew."""
    texts = {"a": "one", "another text": "two", "the same text": "one"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    row = fake_row(tmp_path, chat_template=str(tmp_path / "a"), args={"quantization": "fp8"})
    found = []
    for _ in range(2):
        async with served(tmp_path, row) as opened:
            answers = [await opened.ask(question, Sampling(8)) for question in (QUESTION, Completion("r"))]
        found += [answer.from_earlier_run for answer in answers]
        row["serve"]["args"] |= args
        row["serve"]["chat_template"] = str(tmp_path / template)
    assert found == [False, False, reused, reused]


@pytest.mark.parametrize(("restarts", "exit_code"), [(0, 2), (3, 1)])
async def test_a_probed_server_that_dies(
    tmp_path: Path, restarts: int, exit_code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is started again, as in a run; where that may not be, `probe` shows the end of its log."""

    async def watch(server: Server) -> None:  # a check of a server that is well would be one of its questions
        while server._child:
            await server._child.wait()
            await server.ensure()

    monkeypatch.setattr(Server, "watch", watch)
    row = fake_row(tmp_path, "dies_after:6", max_restarts=restarts)
    registry = Registry.model_validate({"models": [row]})
    with ReplyCache(tmp_path / "c.sqlite") as replies:
        opener = ModelOpener(registry, replies, tmp_path, lambda line: None)
        async with asyncio.timeout(300):
            result = await _here._probe(registry.models[0], opener, Control())
    assert result["exit_code"] == exit_code
    assert exit_code == 1 or "EngineDeadError" in result["error"]
