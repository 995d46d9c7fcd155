"""A key is sent, and otherwise never seen."""

import asyncio
import json
import logging
import pickle
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from support.model_server import ModelServer, Script
from support.server_replies import Asked, Half, Raw, Reset, Response, Said, Status
from triathlon_runner.endpoints import (
    ApiConfig,
    Chat,
    EndpointError,
    Limits,
    Message,
    ReplyCache,
    Sampling,
    open_model,
)
from triathlon_runner.endpoints._config import Secrets
from triathlon_runner.errors import UserError

KEY = "sk-test-" + "x1y2z3" * 5
LIMITS = Limits(first_wait=0.001, attempts=2, outage_seconds=0.5)
PROMPT = Chat((Message("user", "q"),))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def config(base_url: str) -> ApiConfig:
    return ApiConfig(base_url=base_url, model="scripted", key_env="TEST_KEY")


async def test_is_sent() -> None:
    """The key goes out as a bearer token, a secret header under its name."""
    async with ModelServer(lambda asked: "fine") as server:
        row = config(server.base_url).model_copy(update={"secret_headers": {"X-Extra": "TEST_KEY"}})
        async with open_model("m", "instruct", row) as model:
            await model.ask(PROMPT, Sampling(8))
    (asked,) = server.requests
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.headers["X-Extra"] == KEY


async def test_other_variables_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What OpenAI's client would take from the environment by itself goes to nobody."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "not-for-others")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Private: not-for-others")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with ModelServer(lambda asked: "fine") as server:
        row = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", row) as model:
            await model.ask(PROMPT, Sampling(8))
    assert "not-for-others" not in str(dict(server.requests[0].headers))


async def test_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine is reached without the proxy that the environment names."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with (
        ModelServer(lambda asked: "fine") as server,
        open_model("m", "instruct", config(server.base_url), limits=LIMITS) as model,
    ):
        assert (await model.ask(PROMPT, Sampling(8))).reply.text == "fine"


@pytest.mark.parametrize(
    "said",
    [
        Status(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"),
        Status(400, f"you sent {KEY}"),
        Status(500, f"Authorization: Bearer {KEY}"),
        Status(429, f"quota of {KEY} is used up", "insufficient_quota"),
        Said("x", model=f"model-of-{KEY}"),
        Raw(f"{KEY} is no JSON".encode()),
        Reset(),
        Half(KEY),
    ],
    ids=range(8),
)
async def test_never_in_errors(
    said: Response, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A server that repeats the key does not get it into a message, a traceback, a log or the statistics."""
    caplog.set_level(logging.DEBUG)
    async with (
        ModelServer(lambda asked: said) as server,
        open_model("m", "instruct", config(server.base_url), limits=LIMITS) as model,
    ):
        with pytest.raises(EndpointError) as caught:
            await model.ask(PROMPT, Sampling(8))
    shown = [repr(model), repr(model.stats), *_chain(caught.value)]
    shown += traceback.format_exception(caught.value)
    shown += [record.getMessage() for record in caplog.records]
    shown += capfd.readouterr()
    assert KEY not in "\n".join(shown)


OTHERS = "sk-proj-" + "a1b2c3" * 5
"""A key that is not ours."""


@pytest.mark.parametrize(
    "said",
    [
        Status(401, f"Incorrect API key provided: {OTHERS}", "invalid_api_key"),
        Status(400, f"upstream https://x.example.org/v1?key={OTHERS} refused"),
        Status(500, f"Authorization: Bearer {OTHERS}"),
        Status(429, "x" * 175 + f" {OTHERS}"),
        Raw(f"{OTHERS} is no JSON".encode()),
        Raw(f"{'x' * 60} {OTHERS} is no JSON".encode()),
    ],
    ids=range(6),
)
async def test_a_key_that_is_not_ours(said: Response) -> None:
    """What looks like a key in a server's message is removed, also where the row names no key."""
    lines: list[str] = []
    limits = replace(LIMITS, throttled_attempts=2)
    async with ModelServer(lambda asked: said) as server:
        row = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", row, limits=limits, say=lines.append) as model:
            with pytest.raises(EndpointError) as caught:
                await model.ask(PROMPT, Sampling(8))
    shown = [*lines, model.stats.last_error, model.stats.stopped, repr(caught.value)]
    assert "[key " in str(caught.value)
    assert OTHERS[:16] not in "\n".join(shown)


async def test_what_looks_like_a_key_in_a_reply() -> None:
    """A program that a model writes is not changed, whatever stands in it."""
    text = f'connect("http://me:secret@127.0.0.1", "{OTHERS}")'
    async with ModelServer(lambda asked: text) as server:
        row = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", row) as model:
            assert (await model.ask(PROMPT, Sampling(8))).reply.text == text


def _chain(error: BaseException | None) -> Iterator[str]:
    """What any reporter of errors could print: every error behind this one, suppressed ones too."""
    while error is not None:
        yield repr(error) + str(error) + repr(vars(error))
        error = error.__cause__ or error.__context__


async def test_never_in_the_cache(tmp_path: Path) -> None:
    """A reply that repeats the key is stored and returned without it."""
    path = tmp_path / "c.sqlite"

    def script(asked: Asked) -> Response:
        return Said(f"your key is {KEY}", reasoning=f"{KEY}!", model="scripted")

    with ReplyCache(path) as cache:
        async with (
            ModelServer(script) as server,
            open_model("m", "instruct", config(server.base_url), cache=cache) as model,
        ):
            answer = await model.ask(PROMPT, Sampling(8))
        assert answer.reply.text == "your key is [key removed]"
        assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_not_in_shapes() -> None:
    """Neither the row nor the object that holds the key shows it or can be written to a file."""
    row = config("http://127.0.0.1:1/v1")
    secrets = Secrets(row)
    assert KEY not in repr(row) + row.model_dump_json() + repr(secrets)
    with pytest.raises(TypeError):
        pickle.dumps(secrets)


async def test_missing() -> None:
    """A variable that is not set is a user's error that names it, before anything is asked."""
    row = ApiConfig(base_url="http://127.0.0.1:1/v1", model="x", key_env="NO_SUCH_KEY")
    assert row.missing_variables() == ["NO_SUCH_KEY"]
    with pytest.raises(UserError, match=r"\$NO_SUCH_KEY"):
        async with open_model("m", "instruct", row):
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"key_env": KEY},
        {"key_env": "gsk_abcdefgh"},
        {"secret_headers": {"X-Key": KEY}},
        {"headers": {"Authorization": f"Bearer {KEY}"}},
        {"headers": {"api-key": KEY}},
        {"base_url": f"https://user:{KEY}@example.org/v1"},
        {"base_url": f"https://example.org/v1?key={KEY}"},
    ],
    ids=str,
)
def test_a_key_in_the_file_is_refused(wrong: dict[str, object]) -> None:
    """A key that stands in the file itself is refused, and not repeated in the message."""
    with pytest.raises(ValidationError) as caught:
        ApiConfig.model_validate({"base_url": "https://example.org/v1", "model": "m", **wrong})
    (fault,) = caught.value.errors(include_input=False, include_url=False)
    assert fault["type"] == "value_error"
    assert KEY not in fault["msg"] and "gsk_" not in fault["msg"]
    assert KEY not in str(caught.value)


def always(response: Response) -> Script:
    return lambda asked: response


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_a_key_that_json_escapes(monkeypatch: pytest.MonkeyPatch, ascii_only: bool) -> None:
    """A key is removed however a server's JSON writes its characters."""
    key = 'q/r+"s\\tü' + "7" * 8
    monkeypatch.setenv("TEST_KEY", key)
    escaped = json.dumps(f"is \\ {key}!", ensure_ascii=ascii_only)
    plus = [escaped.replace("+", each) for each in ("\\u002B", "\\u002b")]
    for content in (escaped, escaped.replace("/", "\\/"), *plus):
        choice = f'{{"finish_reason": "stop", "message": {{"content": {content}}}}}'
        raw = f'{{"model": "scripted", "choices": [{choice}]}}'.encode()
        async with ModelServer(always(Raw(raw))) as server:
            row = ApiConfig(base_url=server.base_url, model="scripted", secret_headers={"X-Key": "TEST_KEY"})
            async with open_model("m", "instruct", row) as model:
                assert (await model.ask(PROMPT, Sampling(8))).reply.text == "is \\ [key removed]!"
