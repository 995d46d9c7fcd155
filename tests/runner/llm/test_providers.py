"""Each provider's requests and replies, at scripted servers that speak its protocol."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from support.json_server import JsonServer, json_server
from triathlon_runner.endpoints import (
    Answer,
    ApiConfig,
    Chat,
    Completion,
    Limits,
    Message,
    ModelUnavailableError,
    ReplyCache,
    Sampling,
    open_model,
)
from triathlon_runner.endpoints.providers import PROVIDERS
from triathlon_runner.records import Finish

KEY = "secret-of-the-test"
PROMPT = Chat((Message("system", "be brief"), Message("user", "hi")))
CHAT = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {}}


def message(*content: dict[str, str], stop: str = "end_turn", **changes: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 5}
    said = {"type": "message", "role": "assistant", "model": "m-20250101", "content": list(content)}
    return {**said, "stop_reason": stop, "usage": usage, **changes}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


async def ask(
    replies: dict[str, Any],
    sampling: Sampling,
    path: str = "",
    prompt: Chat | Completion = PROMPT,
    **row: Any,
) -> tuple[Answer, JsonServer]:
    async with json_server(replies) as server:
        config = ApiConfig(base_url=server.root + path, model="m", key_env="TEST_KEY", **row)
        async with open_model("m", "instruct", config, limits=Limits(first_wait=0.01)) as model:
            return await model.ask(prompt, sampling), server


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


async def test_anthropic_request() -> None:
    """The Messages API gets system text, turns, limit and stop sequences under its own names."""
    sampling = Sampling(64, 0.5, 0.9, ("END", "\n\n"), seed=1)
    answer, server = await ask(
        {"POST /v1/messages": message(text("hello"))}, sampling, "/v1", provider="anthropic"
    )
    assert server.bodies == [
        {
            "model": "m",
            "max_tokens": 64,
            "system": "be brief",
            "messages": [{"role": "user", "content": "hi"}],
            "temperature": 0.5,
            "top_p": 0.9,
            "stop_sequences": ["END"],
        }
    ]
    headers = server.headers[0]
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "Authorization" not in headers
    assert (answer.reply.text, answer.served_model) == ("hello", "m-20250101")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (10, 5)


@pytest.mark.parametrize(
    ("said", "text_of", "reasoning", "finish"),
    [
        (message({"type": "thinking", "thinking": "so"}, text("a")), "a", "so", Finish.STOP),
        (message(text("cut"), stop="max_tokens"), "cut", "", Finish.LENGTH),
        (message(stop="refusal"), "", "", Finish.REFUSED),
        (message(stop="model_context_window_exceeded"), "", "", Finish.CONTEXT_OVERFLOW),
        (message(text("a\n\nb")), "a", "", Finish.STOP),
        ((400, {"type": "error", "error": {"message": "prompt is too long: 3 tokens > 2 maximum"}}), "", "",
         Finish.CONTEXT_OVERFLOW),
    ],
    ids=range(6),
)  # fmt: skip
async def test_anthropic_replies(said: Any, text_of: str, reasoning: str, finish: Finish) -> None:
    """Thinking is kept apart, reasons to stop become ours, and a blank stop sequence is heeded here."""
    sampling = Sampling(64, stop=("\n\n",))
    answer, server = await ask({"POST /messages": said}, sampling, provider="anthropic")
    assert (answer.reply.text, answer.reply.reasoning, answer.reply.finish) == (text_of, reasoning, finish)
    assert len(server.asked) == 1
    assert "top_p" not in server.bodies[0] and "stop_sequences" not in server.bodies[0]


@pytest.mark.parametrize(
    "bad",
    [
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        {"type": "completion"},
        message(text("x"), model="another"),
        message(),
    ],
    ids=range(4),
)
async def test_anthropic_tries_again(bad: Any) -> None:
    """What is no answer to this question is asked for again."""
    answer, server = await ask(
        {"POST /messages": [bad, message(text("good"))]}, Sampling(64), provider="anthropic"
    )
    assert (answer.reply.text, len(server.asked)) == ("good", 2)


async def test_anthropic_does_not_complete() -> None:
    """A text to go on with cannot be asked: the row is told what to set."""
    with pytest.raises(ModelUnavailableError, match="kind: instruct"):
        await ask({}, Sampling(8), prompt=Completion("def f"), provider="anthropic")


@pytest.mark.parametrize(
    ("row", "path", "query", "header"),
    [
        ({}, "/openai/deployments/mine", "?api-version=2024-10-21", ("api-key", KEY)),
        ({"api_version": "2025-01-01-preview"}, "/openai/deployments/mine",
         "?api-version=2025-01-01-preview", ("api-key", KEY)),
        ({"key_is_token": True}, "/openai/deployments/mine", "?api-version=2024-10-21",
         ("Authorization", f"Bearer {KEY}")),
        ({}, "/openai/v1", "", ("api-key", KEY)),
    ],
    ids=range(4),
)  # fmt: skip
async def test_azure(row: dict[str, Any], path: str, query: str, header: tuple[str, str]) -> None:
    """Azure gets the version in the address, and a key or a token under its own header."""
    replies = {f"POST {path}/chat/completions{query}": CHAT}
    answer, server = await ask(replies, Sampling(8), path, provider="azure", **row)
    assert answer.reply.text == "yes"
    assert server.headers[0][header[0]] == header[1]
    assert len({"api-key", "Authorization"} & set(server.headers[0])) == 1


def test_unknown_provider() -> None:
    """A provider that is not in the table is refused with those that are."""
    with pytest.raises(ValidationError, match=r"expected one of openai, anthropic, azure, got 'azur'"):
        ApiConfig(base_url="http://127.0.0.1:1/v1", model="m", provider="azur")


async def test_a_fourth_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of 30 lines and one line in the table make a provider, with retries, cache and identity."""
    monkeypatch.setitem(PROVIDERS, "brackets", "support.bracket_provider:Brackets")
    replies = {"POST /v1/say": {"said": "[yes]"}, "GET /v1/who": {"digest": "ab12"}}
    async with json_server(replies) as server:
        row = ApiConfig(base_url=f"{server.root}/v1", model="m", provider="brackets", key_env="TEST_KEY")
        with ReplyCache(tmp_path / "c.sqlite") as cache:
            async with open_model("m", "instruct", row, cache=cache) as model:
                assert (await model.identify_server()).identity == "server brackets, digest ab12"
                for _ in range(2):
                    assert (await model.ask(PROMPT, Sampling(8))).reply.text == "[yes]"
    assert server.asked == ["GET /v1/who", "POST /v1/say"]
    assert server.bodies[1] == {"say": "hi", "most": 8}
    assert server.headers[1]["X-Bracket-Key"] == KEY
