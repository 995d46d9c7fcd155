"""A key is sent where it belongs, and otherwise never seen; what a model wrote stays as it is."""

import base64
import json
import logging
import pickle
import traceback
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from pydantic import ValidationError

from support.opened import opened
from support.server_replies import Half, Raw, Reset, Response, Said, Status
from triathlon_runner.errors import UserError
from triathlon_runner.llm import Chat, EndpointError, Limits, Message, OpenAI, Sampling, open_model
from triathlon_runner.llm.provider import Secrets

ODD_KEY, OURS = 'q/r+"s\\t~' + "x1y2z3" * 4, "Zx9kQ2/mVtR7+pLw4Y"
OTHERS = "sk-proj-" + "a1b2c3" * 5
"""A key that is not ours."""
LIMITS = Limits(first_wait=0.001, attempts=2, outage_seconds=0.5, throttled_attempts=2)
PROMPT = Chat((Message("user", "q"),))


@pytest.fixture(autouse=True)
def _our_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", OURS)


def config(key: str, monkeypatch: pytest.MonkeyPatch) -> OpenAI:
    monkeypatch.setenv("TEST_KEY", key)
    return OpenAI(base_url="http://127.0.0.1:1/v1", model="scripted", key_env="TEST_KEY")


async def test_is_sent_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key goes out as a bearer token; what the package would take from the environment goes to nobody."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "not-for-others")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Private: not-for-others")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # not used on the way to this machine
    extra = {"X-Extra": "TEST_KEY"}
    row: dict[str, Any] = {"secret_headers": extra, "headers": {"user-agent": "mine"}}
    async with opened(lambda _: "fine", key_env="TEST_KEY", **row) as (server, model):
        await model.ask(PROMPT, Sampling(8))
    (asked,) = server.requests
    assert (asked.headers["Authorization"], asked.headers["X-Extra"]) == (f"Bearer {OURS}", OURS)
    assert "not-for-others" not in str(dict(asked.headers))
    assert [text for name, text in asked.headers.items() if name.lower() == "user-agent"] == ["mine"]


def spellings(key: str) -> Iterator[str]:
    yield key
    yield json.dumps(key)[1:-1]
    yield json.dumps(key, ensure_ascii=False)[1:-1].replace("/", "\\/")
    yield "".join(f"\\u{ord(letter):04X}" for letter in key)
    yield from (quote(key), quote(key, safe=""), quote_plus(key), quote(key, safe="").lower())
    yield from (quote(key, safe="+"), quote(quote(key, safe=""), safe=""))
    yield from ("".join(f"&#{ord(letter)};" for letter in key), "".join(f"&#x{ord(x):X};" for x in key))
    yield from (json.dumps(json.dumps(key))[3:-3], key.encode("utf-16-le").decode("latin-1"))
    yield "".join(f"%{byte:02x}" for byte in key.encode())
    yield key.encode().hex()
    for before in (b"", b"u", b"u:"):
        yield base64.b64encode(before + key.encode()).decode()
        yield base64.urlsafe_b64encode(before + key.encode() + b"&x").decode()


@pytest.mark.parametrize("key", [ODD_KEY, OURS])
def test_every_spelling_is_removed_from_messages(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a server spells the key, messages and evidence are shown without it; it is in no shape."""
    row = config(key, monkeypatch)
    secrets = Secrets(row)
    for spelled in spellings(key):
        for scrub in (secrets.scrub_message, secrets.scrub_evidence):
            shown = scrub(f"<{spelled}>")
            assert "[key removed]" in shown and len(shown) < 28, spelled
    assert key not in repr(row) + row.model_dump_json() + repr(secrets)
    with pytest.raises(TypeError):
        pickle.dumps(secrets)


def faults(key: str) -> list[Response]:
    return [
        Status(401, f"Incorrect API key provided: {key}", "invalid_api_key"),
        Status(400, f"you sent {quote(key, safe='')}"),
        Status(302, headers={"Location": f"http://evil.example/?e={quote(key, safe='')}"}),
        Status(500, f"Authorization: Bearer {key}"),
        Status(429, "x" * 175 + f" {key}"),
        Said("x", model=f"model of {key}"),
        Raw(f"{key} is no JSON".encode()),
        Raw(f"{'x' * 60} {key} is no JSON".encode()),
        Reset(),
        Half(key),
    ]


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("key", [OURS, OTHERS])
async def test_never_in_errors(
    number: int, key: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A key in a reply does not get into a message, a traceback, a log or the statistics."""
    caplog.set_level(logging.DEBUG)
    lines: list[str] = []
    script = faults(key)[number]
    async with opened(lambda _: script, limits=LIMITS, say=lines.append, key_env="TEST_KEY") as (_, model):
        with pytest.raises(EndpointError) as caught:
            await model.ask(PROMPT, Sampling(8))
    shown = [repr(model), repr(model.stats), *lines, *_chain(caught.value)]
    shown += traceback.format_exception(caught.value)
    shown += [record.getMessage() for record in caplog.records]
    shown += capfd.readouterr()
    assert not [spelled for spelled in spellings(key) if spelled[:16] in "\n".join(shown)]


def _chain(error: BaseException | None) -> Iterator[str]:
    """What any reporter of errors could print: every error behind this one, suppressed ones too."""
    while error is not None:
        yield repr(error) + str(error) + repr(vars(error))
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("key", ["EMPTY", "test", "return", OURS, OTHERS])
async def test_what_a_model_wrote_stays(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key is cut out of a program or out of reasoning, though it be a word of the program."""
    monkeypatch.setenv("TEST_KEY", key)
    text = f'{key} = 0\ndef test():\n    return {key} or "http://me:secret@127.0.0.1"'
    async with opened(lambda _: Said(text, reasoning=text), key_env="TEST_KEY") as (_, model):
        reply = (await model.ask(PROMPT, Sampling(8))).reply
        assert (reply.text, reply.reasoning) == (text, text)
        assert model.secrets.scrub_evidence("EMPTY test return") == "EMPTY test return"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"key_env": "OPENAI_API_KEY"}, "to go to openai.com or azure.com, got the host '127.0.0.1'"),
        ({"key_env": "OPENAI_API_KEY", "base_url": "https://openai.com.evil.example/v1"}, "send_key_to"),
        ({"key_env": "OPENAI_ADMIN_KEY"}, "send_key_to"),
        ({"key_env": "OPENAI_API_KEY_2"}, "send_key_to"),
        ({"secret_headers": {"X-Key": "ANTHROPIC_AUTH_TOKEN"}}, "anthropic.com"),
        ({"key_env": "OPENAI_API_KEY", "send_key_to": "10.0.0.1"}, "`send_key_to: 127.0.0.1`"),
        ({"key_env": "OPENAI_API_KEY", "send_key_to": "127.0.0.1"}, ""),
        ({"key_env": "OPENAI_API_KEY", "base_url": "https://api.openai.com/v1"}, ""),
        ({"key_env": "AZURE_OPENAI_KEY", "base_url": "https://me.openai.azure.com"}, ""),
        ({"key_env": "MY_OWN_KEY"}, ""),
        ({"key_env": "OPENAIR_KEY"}, ""),
    ],
    ids=str,
)
def test_whose_key_goes_where(row: dict[str, Any], says: str) -> None:
    """A provider's key goes to that provider's hosts only, unless the row names the host."""
    row = {"base_url": "http://127.0.0.1:1/v1", "model": "m", **row}
    if not says:
        OpenAI.model_validate(row)
        return
    with pytest.raises(ValidationError) as caught:
        OpenAI.model_validate(row)
    assert says in str(caught.value)


@pytest.mark.parametrize("key", ["", " ", "a\nb", "sk-…"])
async def test_no_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is empty, or holds what no header can, is a user's error that names it."""
    row = config(key, monkeypatch)
    assert row.missing_variables() == ([] if key.strip() else ["TEST_KEY"])
    says = "one line of ASCII text in .TEST_KEY" if key.strip() else "hold .TEST_KEY"
    with pytest.raises(UserError, match=says):
        async with open_model("m", "instruct", row):
            pass
