"""The way to a server: encrypted, through a proxy, through a tunnel."""

import asyncio
import base64
import socket
import ssl
from pathlib import Path

import pytest
import trustme

from support.raw_server import listening
from triathlon_runner.endpoints import ApiConfig, Limits
from triathlon_runner.endpoints import _client as transports
from triathlon_runner.endpoints._api import Unreachable
from triathlon_runner.endpoints._client import open_client
from triathlon_runner.endpoints._config import Secrets
from triathlon_runner.endpoints._request_queue import silent
from triathlon_runner.endpoints.provider import HttpReply
from triathlon_runner.errors import UserError

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
CREDENTIALS = f"Proxy-Authorization: Basic {base64.b64encode(b'user:p@ss').decode()}"


class Servers:
    """A server that speaks TLS where it has a context, and a proxy before it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.proxied: list[str] = []
        self.tunnelled_to = 0
        self.refuses = False

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append((await reader.readuntil(b"\r\n\r\n{}")).decode())
        writer.write(REPLY)
        await writer.drain()
        await asyncio.sleep(0.01)

    async def proxy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.proxied.append(head)
        if not head.startswith("CONNECT"):
            writer.write(REPLY)
        elif self.refuses:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        else:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.tunnelled_to)
            async with asyncio.TaskGroup() as group:
                group.create_task(pump(reader, far_writer))
                group.create_task(pump(far_reader, writer))
        await writer.drain()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one side ends, which ends the other."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
    finally:
        writer.transport.abort()


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """One that this process trusts for the test."""
    made = trustme.CA()
    made.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    return made


def certified(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    return context


async def ask(base_url: str, certificate: Path | None = None) -> HttpReply:
    named = str(certificate) if certificate else None
    config = ApiConfig(base_url=base_url, model="m", timeout_seconds=5, client_certificate=named)
    async with open_client(config, Secrets(config), Limits(connect_seconds=5), {}, silent) as client:
        return await client.post("/x", b"{}")


async def test_encrypted(authority: trustme.CA) -> None:
    """A server whose certificate is trusted is asked over TLS; one with another's name is not asked."""
    servers = Servers()
    async with listening(servers.answer, certified(authority, "127.0.0.1")) as port:
        assert (await ask(f"https://127.0.0.1:{port}/v1")).body == b"body"
    async with listening(servers.answer, certified(authority, "example.com")) as port:
        with pytest.raises(Unreachable, match="certificate"):
            await ask(f"https://127.0.0.1:{port}/v1")
    assert len(servers.asked) == 1


async def test_client_certificate(authority: trustme.CA, tmp_path: Path) -> None:
    """A server that wants to see a certificate sees the row's; a file that holds none is a user's error."""
    servers, context = Servers(), certified(authority, "127.0.0.1")
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    issued, file = authority.issue_cert("client.example.com"), tmp_path / "client.pem"
    issued.private_key_and_cert_chain_pem.write_to_path(str(file))
    async with listening(servers.answer, context) as port:
        assert (await ask(f"https://127.0.0.1:{port}/v1", file)).body == b"body"
        with pytest.raises(Unreachable):
            await ask(f"https://127.0.0.1:{port}/v1")
    with pytest.raises(UserError, match="client_certificate"):
        await ask("https://127.0.0.1:1/v1", tmp_path / "missing.pem")


async def test_connections_are_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system probes a connection on which a reply is awaited for minutes, so that it is not forgotten."""
    opened: list[socket.socket] = []
    make = transports._open_socket
    options: list[int] = []

    def open_socket(address: object) -> socket.socket:
        opened.append(make(address))
        return opened[-1]

    monkeypatch.setattr(transports, "_open_socket", open_socket)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        options.append(opened[0].getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
        await Servers().answer(reader, writer)

    async with listening(answer) as port:
        assert (await ask(f"http://127.0.0.1:{port}/v1")).body == b"body"
    assert options == [1]


async def test_plain_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy gets the whole address and its own password, which is not the key."""
    servers = Servers()
    async with listening(servers.proxy) as port:
        monkeypatch.setattr(transports, "proxy_for", lambda _: f"http://user:p%40ss@127.0.0.1:{port}")
        assert (await ask("http://api.example.com/v1")).body == b"body"
    lines = servers.proxied[0].split("\r\n")
    assert lines[0] == "POST http://api.example.com/v1/x HTTP/1.1"
    assert {"Host: api.example.com", CREDENTIALS} < set(lines)


@pytest.mark.parametrize("encrypted_proxy", [False, True])
async def test_encrypted_through_a_proxy(
    encrypted_proxy: bool, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy opens a tunnel and sees neither the question nor the key; its password stays with it."""
    servers = Servers()
    to_proxy = certified(authority, "127.0.0.1") if encrypted_proxy else None
    async with (
        listening(servers.answer, certified(authority, "api.example.com")) as servers.tunnelled_to,
        listening(servers.proxy, to_proxy) as port,
    ):
        scheme = "https" if encrypted_proxy else "http"
        monkeypatch.setattr(transports, "proxy_for", lambda _: f"{scheme}://user:p%40ss@127.0.0.1:{port}")
        assert (await ask("https://api.example.com/v1")).body == b"body"
    assert servers.proxied[0].startswith("CONNECT api.example.com:443 HTTP/1.1\r\n")
    assert CREDENTIALS in servers.proxied[0]
    assert "Proxy-Authorization" not in servers.asked[0]
    assert servers.asked[0].startswith("POST /v1/x HTTP/1.1\r\n")


async def test_a_proxy_that_refuses(authority: trustme.CA, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy's own words say why there is no way."""
    servers = Servers()
    servers.refuses = True
    async with listening(servers.proxy) as port:
        monkeypatch.setattr(transports, "proxy_for", lambda _: f"http://127.0.0.1:{port}")
        with pytest.raises(Unreachable, match=r"wants a user and a password \(407\)"):
            await ask("https://api.example.com/v1")
