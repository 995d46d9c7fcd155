"""The address that stays while the server behind it moves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from support.model_server import ModelServer
from support.server_replies import Asked, Hang, Response, Said
from triathlon_runner.cluster._relay import Relay

QUESTION = {"model": "scripted", "messages": [{"role": "user", "content": "q"}]}


def at(server: ModelServer) -> tuple[str, int]:
    parts = urlsplit(server.base_url)
    assert parts.hostname is not None and parts.port is not None
    return parts.hostname, parts.port


@asynccontextmanager
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, timeout=30) as found:
        yield found


async def ask(relay: Relay, http: httpx.AsyncClient) -> str:
    answer = await http.post(f"{relay.base_url}/chat/completions", json=QUESTION)
    text: Any = answer.json()["choices"][0]["message"]["content"]
    return str(text)


async def test_passes_on_and_moves() -> None:
    """Answers come unchanged, large ones too, and after a move from the new server at the same address."""
    large = "x" * 3_000_000
    async with (
        ModelServer(lambda asked: large) as first,
        ModelServer(lambda asked: "two") as second,
        Relay() as relay,
    ):
        url = relay.base_url
        assert url.startswith("http://127.0.0.1:")
        relay.aim(at(first))
        async with client() as http:
            assert await asyncio.gather(*(ask(relay, http) for _ in range(5))) == [large] * 5
        relay.aim(at(second))
        async with client() as http:
            assert await ask(relay, http) == "two"
        assert relay.base_url == url
    assert (first.count, second.count) == (5, 1)


async def test_a_move_cuts_what_waits() -> None:
    """Who waits for the server that is lost is told at once, and so is who comes while there is none."""
    asked_once = asyncio.Event()

    def hang(asked: Asked) -> Response:
        asked_once.set()
        return Hang()

    async with ModelServer(hang) as server, Relay() as relay, client() as http:
        relay.aim(at(server))
        waiting = asyncio.create_task(ask(relay, http))
        await asked_once.wait()
        relay.aim(None)
        with pytest.raises(httpx.TransportError):
            await waiting
        with pytest.raises(httpx.TransportError):
            await ask(relay, http)


async def test_nobody_listens_there() -> None:
    """A server that is not there ends the connection, and does not end the relay."""
    async with Relay() as relay, client() as http:
        relay.aim(("127.0.0.1", 9))
        with pytest.raises(httpx.TransportError):
            await ask(relay, http)
        async with ModelServer(lambda asked: Said("back")) as server:
            relay.aim(at(server))
            assert await ask(relay, http) == "back"
