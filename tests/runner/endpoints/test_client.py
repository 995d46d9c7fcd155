"""The client underneath: where it sends, through what, and what it does not follow."""

import gzip
import sys

import pytest
from aiohttp import web

from support.model_server import ModelServer
from support.server_replies import Asked, Said
from triathlon_runner.endpoints import (
    ApiConfig,
    Chat,
    Limits,
    Message,
    ModelUnavailableError,
    Sampling,
    open_model,
)
from triathlon_runner.endpoints._client import proxy_for
from triathlon_runner.errors import UserError

PROMPT = Chat((Message("user", "q"),))
ABROAD = "https://api.example.com/v1"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    ("environment", "base_url", "proxy"),
    [
        ({}, ABROAD, None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, ABROAD, "http://proxy:3128"),
        ({"https_proxy": "http://u:p@proxy:3128"}, ABROAD, "http://u:p@proxy:3128"),
        ({"HTTPS_PROXY": "proxy:3128"}, ABROAD, "http://proxy:3128"),
        ({"HTTP_PROXY": "http://proxy:3128"}, ABROAD, None),
        ({"ALL_PROXY": "http://proxy:3128"}, ABROAD, "http://proxy:3128"),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "example.com"}, ABROAD, None),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "api.example.com:443"}, ABROAD, None),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "example.com:81"}, ABROAD, "http://proxy:3128"),
        ({"ALL_PROXY": "http://proxy:3128", "NO_PROXY": "b.org:81"}, "http://b.org:81/v1", None),
        ({"ALL_PROXY": "socks5://proxy:1080"}, ABROAD, "socks5://proxy:1080"),
        ({"ALL_PROXY": "http://proxy:3128"}, "http://127.0.0.1:8000/v1", None),
        ({"ALL_PROXY": "http://proxy:3128"}, "http://localhost:8000/v1", None),
    ],
)
def test_proxy(
    environment: dict[str, str], base_url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment's proxy is used as other programs use it, and never on the way to this machine."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(base_url) == proxy


def test_unknown_kind_of_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of another kind is a user's error that does not repeat its password."""
    monkeypatch.setenv("ALL_PROXY", "gopher://user:password@proxy:70")
    with pytest.raises(UserError, match="gopher") as caught:
        proxy_for(ABROAD)
    assert "password" not in str(caught.value)


async def test_a_socks_proxy_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A SOCKS proxy wants an extra package; without it the error names the extra, not the password."""
    monkeypatch.setenv("ALL_PROXY", "socks5://user:password@proxy:1080")
    monkeypatch.setitem(sys.modules, "aiohttp_socks", None)
    with pytest.raises(UserError, match=r"triathlon-leaderboard\[socks\]") as caught:
        async with open_model("m", "instruct", ApiConfig(base_url=ABROAD, model="m")):
            pass
    assert "password" not in str(caught.value)


async def test_redirects_are_not_followed() -> None:
    """A server that redirects stops the model with the address that it named: the key goes nowhere else."""

    class Moved(Said):
        async def send(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse:
            return web.Response(status=308, headers={"Location": elsewhere.base_url})

    async with ModelServer(lambda asked: "yes") as elsewhere, ModelServer(lambda asked: Moved("")) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", config) as model:
            with pytest.raises(ModelUnavailableError, match=r"redirects \(308\)") as caught:
                await model.ask(PROMPT, Sampling(8))
        assert elsewhere.base_url in str(caught.value)
        assert elsewhere.count == 0


async def test_compressed_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small reply that unpacks to more than any answer is not unpacked to its end."""
    monkeypatch.setattr("triathlon_runner.endpoints._client.LARGEST_REPLY", 100_000)

    class Bomb(Said):
        async def send(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse:
            packed = gzip.compress(b" " * 10_000_000)
            return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

    async with ModelServer(lambda asked: "fine" if asked.attempt else Bomb("")) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", config, limits=Limits(first_wait=0.01)) as model:
            assert (await model.ask(PROMPT, Sampling(8))).reply.text == "fine"
            assert "more than 100000 bytes" in model.stats.last_error


async def test_a_key_of_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that holds more than a line is a user's error that names the variable, not its content."""
    monkeypatch.setenv("TEST_KEY", "first\nsecond")
    row = ApiConfig(base_url="http://127.0.0.1:1/v1", model="x", key_env="TEST_KEY")
    with pytest.raises(UserError, match=r"\$TEST_KEY") as caught:
        async with open_model("m", "instruct", row):
            pass
    assert "second" not in str(caught.value)
