"""One connection: what counts as a whole reply, and when a connection is used again."""

import asyncio
import gc
import gzip
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import ValidationError

from support.raw_server import listening
from triathlon_runner.endpoints import ApiConfig, Limits
from triathlon_runner.endpoints._api import Unreachable
from triathlon_runner.endpoints._client import open_client
from triathlon_runner.endpoints._config import Secrets
from triathlon_runner.endpoints._request_queue import silent
from triathlon_runner.endpoints.provider import Client
from triathlon_runner.errors import UserError

OK = b"HTTP/1.1 200 OK\r\n"


class RawServer:
    """Says the given bytes to each request; None ends the connection."""

    def __init__(self, *said: bytes | None) -> None:
        self.said = list(said)
        self.requests: list[bytes] = []
        self.connections = 0
        self.asked, self.lost = asyncio.Event(), asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                self.asked.set()
                while self.said:
                    if (piece := self.said.pop(0)) is None:
                        return
                    writer.write(piece)
                    await writer.drain()
                    if not piece.startswith(b"HTTP/1.1 1"):
                        break
        except (asyncio.IncompleteReadError, ConnectionError):
            self.lost.set()


@asynccontextmanager
async def posting(raw: RawServer, seconds: float = 5.0) -> AsyncIterator[Client]:
    async with listening(raw.serve) as port:
        config = ApiConfig(base_url=f"http://127.0.0.1:{port}/v1", model="m", timeout_seconds=seconds)
        async with open_client(config, Secrets(config), Limits(), {}, silent) as client:
            yield client


async def body_of(*said: bytes | None) -> bytes:
    async with posting(RawServer(*said)) as client:
        return (await client.post("/x", b"{}")).body


@pytest.mark.parametrize(
    "said",
    [
        [OK + b"Content-Length: 4\r\n\r\nbody"],
        [OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"],
        [b"HTTP/1.1 100 Continue\r\n\r\n", OK + b"Content-Length: 4\r\n\r\nbody"],
        [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 4\r\n\r\nbody"],
        [OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(gzip.compress(b"body"))
         + gzip.compress(b"body")],
        [OK + b"Content-Encoding: deflate\r\nContent-Length: %d\r\n\r\n" % len(zlib.compress(b"body"))
         + zlib.compress(b"body")],
    ],
)  # fmt: skip
async def test_whole_replies(said: list[bytes | None]) -> None:
    """However a server marks the end of its reply, packs it or announces it, it is read whole."""
    assert await body_of(*said) == b"body"


async def test_a_body_that_the_connection_ends() -> None:
    """Where nothing else tells how long a reply is, its connection's end does."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n{}")
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nbo")
        await writer.drain()
        writer.write(b"dy")
        writer.write_eof()
        await reader.read()

    raw = RawServer()
    raw.serve = serve  # type: ignore[method-assign]
    async with posting(raw) as client:
        assert (await client.post("/x", b"{}")).body == b"body"


@pytest.mark.parametrize(
    "said",
    [
        [b"no HTTP at all\r\n\r\n"],
        [OK + b"Content-Length: 4\r\n\r\nbo", None],
        [OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"],
        [OK + b"Content-Encoding: br\r\nContent-Length: 4\r\n\r\nbody"],
        [OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nbody"],
        [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
        [None],
    ],
)
async def test_no_whole_reply(said: list[bytes | None]) -> None:
    """What is no HTTP, broken off, or packed in another way than was asked for, is no reply."""
    with pytest.raises(Unreachable):
        async with posting(RawServer(*said), seconds=0.3) as client:
            await client.post("/x", b"{}")


async def test_a_connection_is_kept() -> None:
    """Questions that follow one another take one connection; one that the server wants to end is not kept."""
    reply = OK + b"Content-Length: 2\r\n\r\n{}"
    raw = RawServer(reply, reply, reply.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), reply)
    async with posting(raw) as client:
        for _ in range(3):
            await client.post("/x", b"{}")
        assert raw.connections == 1
        await client.post("/x", b"{}")
        assert raw.connections == 2


async def test_what_comes_unasked_is_no_reply() -> None:
    """A second reply behind the first is not taken for the answer to the next question."""
    reply = OK + b"Content-Length: 1\r\n\r\n"
    raw = RawServer(reply + b"1" + reply + b"2", reply + b"3")
    async with posting(raw) as client:
        assert (await client.post("/x", b"{}")).body == b"1"
        assert (await client.post("/x", b"{}")).body == b"3"
        assert raw.connections == 2


async def test_nobody_waits() -> None:
    """Where the asker goes away the connection ends, so that the server can stop working on it."""
    raw = RawServer()
    async with posting(raw) as client:
        asking = asyncio.create_task(client.post("/x", b"{}"))
        await raw.asked.wait()
        assert not raw.lost.is_set()
        asking.cancel()
        await asyncio.wait_for(raw.lost.wait(), 5)
        assert asking.cancelled()


async def test_headers() -> None:
    """The request names its host and length; a header of the row replaces ours, however it is written."""
    raw = RawServer(OK + b"Content-Length: 2\r\n\r\n{}")
    headers = {"user-agent": "ours", "X-Team": "é"}
    async with listening(raw.serve) as port:
        config = ApiConfig(base_url=f"http://127.0.0.1:{port}/v1", model="m", headers=headers)
        async with open_client(config, Secrets(config), Limits(), {}, silent) as client:
            await client.post("/x", b"{}")
    lines = raw.requests[0].decode().split("\r\n")
    assert lines[0] == "POST /v1/x HTTP/1.1"
    assert lines[-1] == "{}"
    assert [line for line in lines if line.lower().startswith("user-agent")] == ["user-agent: ours"]
    assert {f"Host: 127.0.0.1:{port}", "Content-Length: 2", "X-Team: é"} < set(lines)


async def test_closing_that_is_cancelled() -> None:
    """Where Ctrl-C comes again while connections are closed, all are closed: aiohttp reports none."""
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    raw = RawServer(OK + b"Content-Length: 2\r\n\r\n{}")

    async def ask() -> None:
        async with posting(raw) as client:
            await client.post("/x", b"{}")
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().call_soon(task.cancel)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(ask())
    gc.collect()
    assert reported == []


@pytest.mark.parametrize("headers", [{"X-Team": "a\r\nHost: b"}, {"X Team": "a"}, {"X-Té": "a"}])
def test_a_header_that_would_be_more(headers: dict[str, str]) -> None:
    """A header that would break the request is refused where the row is read."""
    with pytest.raises(ValidationError, match="header"):
        ApiConfig(base_url="http://127.0.0.1:1/v1", model="m", headers=headers)


async def test_a_secret_header_that_would_be_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value comes from a variable: it is refused before anything is sent, and not shown."""
    monkeypatch.setenv("TEAM", "hidden\r\nHost: b")
    config = ApiConfig(base_url="http://127.0.0.1:1/v1", model="m", secret_headers={"X-Team": "TEAM"})
    with pytest.raises(UserError, match=r"one line of text in \$TEAM") as caught:
        async with open_client(config, Secrets(config), Limits(), {}, silent):
            pass
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/v1", "http://a..b/v1"])
def test_a_host_that_cannot_be(url: str) -> None:
    """An address without a possible host or port is refused where the row is read."""
    with pytest.raises(ValidationError, match="host and port"):
        ApiConfig(base_url=url, model="m")
