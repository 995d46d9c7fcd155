"""Sends requests to one model's server: the official `openai` client, its retries off, over aiohttp.

aiohttp costs half of httpx's CPU time a request. openai's own aiohttp backend has no setting for what replies
that take minutes need: TCP keep-alive, a limit on the time and size of the whole reply, and another attempt
where the server had closed an idle connection.
"""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
import httpx2
from multidict import CIMultiDict
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from yarl import URL

from triathlon_runner import __version__
from triathlon_runner.endpoints._api import LostReply, Malformed, NeverReachable, Unreachable
from triathlon_runner.endpoints._config import ApiConfig, Limits, Secrets, is_loopback
from triathlon_runner.endpoints._http_errors import PROXY_WANTS_A_USER
from triathlon_runner.endpoints.provider import HttpReply
from triathlon_runner.errors import UserError
from triathlon_runner.pasted_keys import REMOVED

LARGEST_REPLY = 16 * 2**20
"""Bytes after unpacking; a server that sends more is not answering."""
_KEEP_IDLE_SECONDS = 15.0
_SLOW_CONNECT_SECONDS = 2.5
"""A first connection that takes longer is reported."""
_KEEP_ALIVE_OPTIONS = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 30), ("TCP_KEEPCNT", 5))
"""Seconds, seconds, probes: firewalls forget a connection on which nothing passes for minutes."""
_PORTS = {"http": 80, "https": 443}
_SOCKS = ("socks4", "socks4a", "socks5", "socks5h")


class OpenAIClient:
    """A `Client` over the official package; keys that a server repeats are removed from its replies."""

    def __init__(self, openai: AsyncOpenAI, secrets: Secrets) -> None:
        self._openai, self._secrets = openai, secrets

    async def post(self, path: str, body: bytes) -> HttpReply:
        """See `Client.post`."""
        return await self._reply(self._openai.post(path, cast_to=httpx2.Response, content=body))

    async def get(self, path: str) -> HttpReply:
        """See `Client.get`."""
        return await self._reply(self._openai.get(path, cast_to=httpx2.Response))

    async def _reply(self, response: Awaitable[httpx2.Response]) -> HttpReply:
        """Waits for a response; one with an error's status is a reply like any other."""
        try:
            reply = await response
        except APIStatusError as error:
            reply = error.response
        except APIConnectionError as error:
            raise Unreachable(f"the connection failed: {error}") from None
        body = self._secrets.in_reply.sub(REMOVED.encode(), reply.content)
        return HttpReply(reply.status_code, body, reply.headers)


@asynccontextmanager
async def open_client(
    config: ApiConfig,
    secrets: Secrets,
    limits: Limits,
    authorization: Mapping[str, str],
    say: Callable[[str], None],
) -> AsyncIterator[OpenAIClient]:
    """Opens a client for one model's server and closes its connections at the end.

    `authorization`: the headers with which the provider shows the key. `say` gets a line where the first
    connection takes long.

    Raises:
        UserError: a proxy or certificate cannot be used.
    """
    headers = CIMultiDict(
        {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": f"triathlon/{__version__}",
            **authorization,
        }
    )
    for of_row in (config.headers, secrets.headers):
        headers.update(of_row)  # names are equal in any case
    transport = Transport(config, limits, headers, say)
    http = httpx2.AsyncClient(transport=transport, follow_redirects=False, timeout=None)
    async with AsyncOpenAI(
        api_key="none",  # `Transport` has the headers, the key among them
        base_url=config.base_url,
        organization="",
        project="",
        max_retries=0,
        timeout=None,
        http_client=http,
    ) as openai:
        yield OpenAIClient(openai, secrets)


class Transport(httpx2.AsyncBaseTransport):
    """Sends requests of the `openai` client to one model's server and reads whole replies."""

    def __init__(
        self, config: ApiConfig, limits: Limits, headers: Mapping[str, str], say: Callable[[str], None]
    ) -> None:
        """Opens no connection yet; must be made inside a running event loop.

        `headers` are all that are sent. The SDK would add some of its own, and those of
        OPENAI_CUSTOM_HEADERS; a server gets only what the model's row asks for.

        Raises:
            UserError: the environment names a proxy that cannot be used, or the certificate cannot be read.
        """
        self._config, self._headers, self._say = config, headers, say
        self._proxy = proxy_for(config.base_url)
        self._connected = self._replied = False
        self._slow: asyncio.TimerHandle | None = None
        trace = aiohttp.TraceConfig()
        trace.on_connection_reuseconn.append(_note_reused)
        trace.on_connection_create_start.append(self._note_connecting)
        trace.on_connection_create_end.append(self._note_connected)
        self._session = aiohttp.ClientSession(
            connector=_connector(config, self._proxy),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=config.timeout_seconds, connect=limits.connect_seconds),
            trace_configs=[trace],
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Returns the whole reply, whatever its status.

        Raises:
            Unreachable: no whole reply came.
        """
        failure: Unreachable | None = None
        while failure is None:
            attempt = SimpleNamespace(reused=False)
            try:
                return await self._exchange(request, attempt)
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
                self._end_slow()  # the failure itself is reported
                was_closed = isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError)
                if not (was_closed and attempt.reused):  # else the server had closed an idle connection
                    failure = self._failure(error)
        raise failure  # not inside `except`: the error would carry the request and its key along

    async def aclose(self) -> None:
        """Ends all connections."""
        self._end_slow()
        await self._session.close()

    async def _exchange(self, request: httpx2.Request, attempt: SimpleNamespace) -> httpx2.Response:
        async with self._session.request(
            request.method,
            URL(str(request.url), encoded=True),
            data=request.content or None,
            headers=self._headers,
            allow_redirects=False,
            proxy=None if _is_socks(self._proxy) else self._proxy,
            trace_request_ctx=attempt,
        ) as response:
            if response.status < 200:
                raise ValueError(f"status {response.status} in place of a reply")
            body = bytearray()
            async for piece in response.content.iter_any():
                body += piece
                if len(body) > LARGEST_REPLY:
                    raise Malformed(f"a reply of more than {LARGEST_REPLY} bytes")
            self._replied = True
            headers = [pair for pair in response.headers.items() if pair[0].lower() != "content-encoding"]
            return httpx2.Response(response.status, headers=headers, content=bytes(body), request=request)

    async def _note_connecting(self, *_: object) -> None:
        if not self._connected and self._slow is None:
            message = f"still connecting to {self._config.base_url}"
            self._slow = asyncio.get_running_loop().call_later(_SLOW_CONNECT_SECONDS, self._say, message)

    async def _note_connected(self, *_: object) -> None:
        self._connected = True
        self._end_slow()

    def _end_slow(self) -> None:
        if self._slow is not None:
            self._slow.cancel()

    def _failure(self, error: Exception) -> Unreachable:
        """Returns what failed in words, and by its type whether another try can do better."""
        first = not self._connected
        server = f"the proxy {_address(self._proxy)}" if self._proxy else _address(self._config.base_url)
        words = " ".join(str(error).split())  # of a reply that is no HTTP they are several lines
        failure = Unreachable(f"the connection to {server} failed: {type(error).__name__} {words}")
        may_want_tls = self._config.base_url.startswith("http:") and not self._proxy and not self._replied
        hint = "; should it be https:// ?" if may_want_tls else ""
        match error:
            case aiohttp.ConnectionTimeoutError():
                failure = Unreachable(f"the connection failed: none to {server} in time")
            case TimeoutError():
                failure = LostReply(
                    f"no whole reply within {self._config.timeout_seconds:g} s (allow more with --timeout, or"
                    " with `timeout_seconds` in the api block of its row)"
                )
            case aiohttp.ClientPayloadError():
                failure = LostReply(f"{server} closed the connection in the middle of a reply")
            case aiohttp.ClientHttpProxyError(status=407):
                failure = NeverReachable(PROXY_WANTS_A_USER)
            case aiohttp.ClientHttpProxyError():
                kind = NeverReachable if 400 <= error.status < 500 else Unreachable
                failure = kind(f"the proxy did not connect to the server: {error.status} {error.message!r}")
            case aiohttp.ServerDisconnectedError():
                failure = Unreachable(f"{server} closed the connection without a reply{hint}")
            case aiohttp.ClientConnectorCertificateError():
                failure = NeverReachable(
                    f"the certificate of {server} is not trusted: {error.certificate_error}; name the file of"
                    " the authority that signed it in SSL_CERT_FILE"
                )
            case aiohttp.ClientConnectorSSLError() if first:
                failure = NeverReachable(
                    f"{server} does not speak TLS ({error.os_error}); should it be http:// ?"
                )
            case aiohttp.ClientConnectorDNSError() if first:
                failure = NeverReachable(
                    f"the host of {server} cannot be found ({error.os_error.strerror}): is its name right?",
                    is_temporary=error.os_error.errno == socket.EAI_AGAIN,
                )
            case aiohttp.ClientConnectorError() if error.os_error.errno == errno.ECONNREFUSED:
                failure = Unreachable(
                    f"{server} refused the connection (is it running, and is the port right?)"
                )
            case aiohttp.ClientOSError() if error.errno == errno.ECONNRESET:
                failure = Unreachable(f"{server} reset the connection without a reply{hint}")
        failure.was_connected = self._connected
        return failure


async def _note_reused(session: object, context: SimpleNamespace, parameters: object) -> None:
    del session, parameters
    context.trace_request_ctx.reused = True


def proxy_for(base_url: str) -> str | None:
    """Returns the proxy that the environment names for this address; None on the way to this machine.

    NO_PROXY may name hosts and `host:port`.

    Raises:
        UserError: it is a proxy of an unknown kind.
    """
    parts = urlsplit(base_url)
    if is_loopback(base_url) or proxy_bypass(f"{parts.hostname}:{parts.port or _PORTS[parts.scheme]}"):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if (scheme := urlsplit(proxy).scheme) not in ("http", "https", *_SOCKS):
        raise UserError(
            f"expected an http://, https:// or socks5:// proxy in {parts.scheme.upper()}_PROXY or ALL_PROXY,"
            f" got one that begins with {scheme + '://'!r}; set another, or add {parts.netloc!r} to NO_PROXY"
        )
    return proxy


def _is_socks(proxy: str | None) -> bool:
    return proxy is not None and urlsplit(proxy).scheme in _SOCKS


def _connector(config: ApiConfig, proxy: str | None) -> aiohttp.BaseConnector:
    """Makes the pool of connections to a row's server, without a limit: the queue has one.

    Raises:
        UserError: the proxy speaks SOCKS and the package for that is missing, or the row's certificate cannot
            be read.
    """
    settings: dict[str, Any] = {
        "limit": 0,
        "keepalive_timeout": _KEEP_IDLE_SECONDS,
        "ssl": _certificates(config) if config.base_url.startswith("https:") else True,
        "socket_factory": _open_socket,
    }
    if not _is_socks(proxy):
        return aiohttp.TCPConnector(**settings)
    try:
        from aiohttp_socks import ProxyConnector  # noqa: PLC0415  an extra
    except ImportError:
        raise UserError(
            "expected the package aiohttp-socks, because the environment names a SOCKS proxy: install"
            f" 'triathlon-leaderboard[socks]', or add {urlsplit(config.base_url).netloc!r} to NO_PROXY"
        ) from None
    made: aiohttp.BaseConnector = ProxyConnector.from_url(proxy, **settings)
    return made


def _open_socket(address: Any) -> socket.socket:
    """Returns a socket with TCP keep-alive, so that a lost connection is noticed in long waits."""
    family, kind, protocol, *_ = address
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE_OPTIONS:
        if hasattr(socket, name):  # not on every system
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return opened


def _certificates(config: ApiConfig) -> ssl.SSLContext:
    """Trusts the system's authorities and, unless SSL_CERT_FILE or SSL_CERT_DIR narrows them, Mozilla's."""
    context = ssl.create_default_context()
    file = os.environ.get("SSL_CERT_FILE")
    try:
        if file:  # OpenSSL has read it, but says nothing of a file that is missing or holds no certificate
            context.load_verify_locations(file)
        elif not os.environ.get("SSL_CERT_DIR"):
            context.load_verify_locations(certifi.where())
    except OSError as error:  # an SSLError is one
        got = "no certificate in it" if isinstance(error, ssl.SSLError) else error.strerror
        raise UserError(
            "expected SSL_CERT_FILE to name a PEM file with the certificates of authorities, got"
            f" {file!r}: {got}; name another, or unset SSL_CERT_FILE"
        ) from None
    if config.client_certificate is not None:
        try:
            context.load_cert_chain(config.client_certificate)
        except OSError as error:
            raise UserError(
                "expected client_certificate to name a PEM file with a certificate and its key, got"
                f" {config.client_certificate!r}: {error}"
            ) from None
    return context


def _address(url: str) -> str:
    """Scheme, host and port, without a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
