"""Each provider's options, requests and replies."""

import inspect
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from support.bracket_provider import Brackets
from support.model_server import ModelServer
from support.opened import opened
from triathlon_runner.llm import (
    PROVIDERS,
    Answer,
    Anthropic,
    ApiBlock,
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
from triathlon_runner.records import Finish

KEY = "secret-of-the-test"
PROMPT = Chat((Message("system", "be brief"), Message("user", "hi")))
BLOCK: TypeAdapter[ApiConfig] = TypeAdapter(ApiBlock)


def message(*content: dict[str, str], stop: str = "end_turn", **changes: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 5}
    said = {"type": "message", "role": "assistant", "model": "m-20250101", "content": list(content)}
    return {**said, "stop_reason": stop, "usage": usage, **changes}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


async def ask_anthropic(
    said: Any, sampling: Sampling, prompt: Chat | Completion = PROMPT
) -> tuple[Answer, ModelServer]:
    limits, paths = Limits(first_wait=0.01), {"POST /v1/messages": said}
    row: dict[str, Any] = {"model": "m", "key_env": "TEST_KEY"}
    async with opened(lambda _: "", of=Anthropic, paths=paths, limits=limits, **row) as (server, model):
        return await model.ask(prompt, sampling), server


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


async def test_anthropic_request() -> None:
    """The Messages API gets system text, turns and limit under its own names, and no stop sequences."""
    answer, server = await ask_anthropic(
        message(text("hello")), Sampling(64, 0.5, 0.9, ("END", "\n\n"), seed=1)
    )
    ((_, body, headers),) = server.asked
    assert body == {
        "model": "m",
        "max_tokens": 64,
        "system": "be brief",
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 0.5,
        "top_p": 0.9,
    }
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "Authorization" not in headers
    assert (answer.reply.text, answer.served_model) == ("hello", "m-20250101")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (10, 5)


@pytest.mark.parametrize(
    ("said", "text_of", "reasoning", "finish", "requests"),
    [
        (message({"type": "thinking", "thinking": "so"}, text("a")), "a", "so", Finish.STOP, 1),
        (message(text("cut"), stop="max_tokens"), "cut", "", Finish.LENGTH, 1),
        (message(stop="refusal"), "", "", Finish.REFUSED, 1),
        (message(stop="model_context_window_exceeded"), "", "", Finish.LENGTH, 1),
        (message(text("a\n\nb")), "a", "", Finish.STOP, 1),
        ([(529, {"error": {"message": "Overloaded"}}), message(text("a"))], "a", "", Finish.STOP, 2),
        ([{"type": "completion"}, message(text("a"))], "a", "", Finish.STOP, 2),
        ([message(text("x"), model="another"), message(text("a"))], "a", "", Finish.STOP, 2),
        ([message(), message(text("a"))], "a", "", Finish.STOP, 2),
    ],
    ids=range(9),
)
async def test_anthropic_replies(
    said: Any, text_of: str, reasoning: str, finish: Finish, requests: int
) -> None:
    """Thinking is kept apart, reasons to stop become ours, and what is no answer is asked for again."""
    answer, server = await ask_anthropic(said, Sampling(64, stop=("\n\n",)))
    assert (answer.reply.text, answer.reply.reasoning, answer.reply.finish) == (text_of, reasoning, finish)
    assert len(server.asked) == requests


@pytest.mark.parametrize(("outputs", "uncounted"), [(5, 0), (0, 1), (None, 1), ("5", 1)], ids=str)
async def test_anthropic_usage(outputs: object, uncounted: int) -> None:
    """A text of 0 tokens was not counted, as with the other protocol: its cost is estimated."""
    said = message(text("hello"), usage={"input_tokens": 7, "output_tokens": outputs})
    answer, _ = await ask_anthropic(said, Sampling(64))
    assert answer.usage.uncounted == uncounted


async def test_anthropic_does_not_complete() -> None:
    """A text to go on with cannot be asked: the row is told what to set."""
    with pytest.raises(ModelUnavailableError, match="kind: instruct"):
        await ask_anthropic({}, Sampling(8), Completion("def f"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"provider": "antropic"},
        {"provider": "anthropic", "unsupported": ["seed"]},
        {"base_url": "ftp://example.org"},
        {"base_url": "https://example.org/v1?key=a1b2c3"},
        {"base_url": "https://example.org/v1/chat/completions"},
        {"model": ""},
        {"unsupported": ["temperture"]},
        {"max_tokens_field": "max"},
        {"requests_per_minute": "60"},
        {"concurrency": -1},
        {"timeout_seconds": 0},
        {"body": {"temperature": 1}},
        {"body": {"stream": True}},
        {"headers": {"X Team": "a"}},
        {"headers": {"X-Team": "a\r\nX-Other: b"}},
        {"headers": {"X-Title": "caf\xe9"}},
    ],
    ids=str,
)
def test_refused_in_a_row(wrong: dict[str, Any]) -> None:
    """Unknown keys, options of another provider, wrong values and what the protocol decides are refused."""
    with pytest.raises(ValidationError):
        BLOCK.validate_python({"base_url": "https://example.org/v1", "model": "m", **wrong})


@pytest.mark.parametrize("provider", PROVIDERS.values())
def test_every_field_is_explained(provider: type[ApiConfig]) -> None:
    fields = provider.model_fields.items()
    assert [name for name, field in fields if not field.description and name != "provider"] == []


async def test_a_third_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 30 lines and one line in the table make a provider, with retries, cache and identity.

    Beside the others, `llm/__init__.py` imports it: it imports nothing from there.
    """
    assert "triathlon_runner.llm import" not in inspect.getsource(sys.modules[Brackets.__module__])
    monkeypatch.setitem(PROVIDERS, "brackets", Brackets)
    paths = {"POST /v1/say": {"said": "[yes]"}, "GET /v1/who": {"digest": "ab12"}}
    row = {"model": "m", "provider": "brackets", "key_env": "TEST_KEY", "loudness": 2}
    async with ModelServer(lambda asked: "", paths=paths) as server:
        config = BLOCK.validate_python({**row, "base_url": server.base_url})
        with ReplyCache(tmp_path / "c.sqlite") as cache:
            async with open_model("m", "instruct", config, cache=cache) as model:
                assert (await model.identify_server()).identity == "server brackets, digest ab12"
                for _ in range(2):
                    assert (await model.ask(PROMPT, Sampling(8))).reply.text == "[yes]"
    assert [name for name, _, _ in server.asked] == ["GET /v1/who", "POST /v1/say"]
    assert server.asked[1][1] == {"say": "hi", "most": 8}
    assert server.asked[1][2]["X-Bracket-Key"] == KEY
