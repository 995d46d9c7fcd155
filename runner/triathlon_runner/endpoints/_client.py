"""Sending one request: the official `openai` client, its retries off, over connections of aiohttp.

aiohttp costs half of httpx's CPU time a request. openai's own aiohttp backend has no setting for what replies
that take minutes need: TCP keep-alive, a limit on the time and size of the whole reply, and a second
attempt where the server had closed an idle connection.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace

import aiohttp
import httpx2
from multidict import CIMultiDict
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from yarl import URL

from triathlon_runner import __version__
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import Malformed, Unreachable
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._network import connection_failure, connector, is_socks, proxy_for
from triathlon_runner.endpoints._secrets import Secrets
from triathlon_runner.endpoints.provider import HttpReply
from triathlon_runner.errors import UserError


class OpenAIClient:
    """A `Client` over the official package."""

    def __init__(self, openai: AsyncOpenAI) -> None:
        self._openai = openai

    async def post(self, path: str, body: bytes) -> HttpReply:
        """See `Client.post`."""
        return await _reply_of(self._openai.post(path, cast_to=httpx2.Response, content=body))

    async def get(self, path: str) -> HttpReply:
        """See `Client.get`."""
        return await _reply_of(self._openai.get(path, cast_to=httpx2.Response))


async def _reply_of(response: Awaitable[httpx2.Response]) -> HttpReply:
    """Waits for a response; one with an error's status is a reply like any other."""
    try:
        reply = await response
    except APIStatusError as error:
        reply = error.response
    except APIConnectionError as error:
        raise Unreachable(f"the connection failed: {error}") from None
    return HttpReply(reply.status_code, reply.content, reply.headers)


@asynccontextmanager
async def open_client(
    config: ApiConfig,
    secrets: Secrets,
    limits: Limits,
    authorization: Mapping[str, str],
    say: Callable[[str], None],
) -> AsyncIterator[OpenAIClient]:
    """Opens a client for one model's server and closes its connections at the end.

    Args:
        config: The row's `api:` block.
        secrets: Its secret headers.
        limits: How long connecting may take.
        authorization: The headers with which the provider shows the key.
        say: Gets a line where the first connection takes long.

    Raises:
        UserError: a proxy or certificate cannot be used, or a header cannot be sent.
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
        _check_headers(of_row)
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
        yield OpenAIClient(openai)


def _check_headers(headers: Mapping[str, str]) -> None:
    """Raises a UserError, without the value, if a header has characters that none may have."""
    for name, value in headers.items():
        if not (name.isascii() and name.isprintable() and value.isprintable()) or set(name) & set(' :"'):
            raise UserError(
                f"expected a name and one line of text for the header {name!r}, got other characters in"
                " one of them; look at `headers` and `secret_headers` in the model's row"
            )


LARGEST_REPLY = 16 * 2**20
"""Bytes after unpacking; a server that sends more is not answering."""
_KEEP_IDLE_SECONDS = 15.0
_SLOW_CONNECT_SECONDS = 2.5
"""A first connection that takes longer is reported."""
_FAILURES = (aiohttp.ClientError, TimeoutError, OSError, ValueError)


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
        self._timeout = aiohttp.ClientTimeout(total=config.timeout_seconds, connect=limits.connect_seconds)
        self._proxy = proxy_for(config.base_url)
        self._first, self._replied = True, False
        self._slow: asyncio.TimerHandle | None = None
        self._reusing = self._session(keepalive_timeout=_KEEP_IDLE_SECONDS)
        self._new_connections = self._session(force_close=True)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Returns the whole reply, whatever its status.

        Raises:
            Unreachable: no whole reply came.
        """
        for session in (self._reusing, self._new_connections):
            attempt = SimpleNamespace(reused=False)
            try:
                return await self._exchange(session, request, attempt)
            except _FAILURES as error:
                self._end_slow()  # the failure itself is reported
                failure = connection_failure(
                    error, self._config, self._proxy, first=self._first, replied=self._replied
                )
                failure.was_connected = not self._first
                was_closed = isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError)
            if not (was_closed and attempt.reused):  # else the server had closed an idle connection
                break
        raise failure  # not inside `except`: the error would carry the request and its key along

    async def aclose(self) -> None:
        """Ends all connections, also where a second Ctrl-C cancels this."""
        self._end_slow()
        try:
            await self._reusing.close()
        finally:
            await self._new_connections.close()

    async def _exchange(
        self, session: aiohttp.ClientSession, request: httpx2.Request, attempt: SimpleNamespace
    ) -> httpx2.Response:
        async with session.request(
            request.method,
            URL(str(request.url), encoded=True),
            data=request.content or None,
            headers=self._headers,
            allow_redirects=False,
            proxy=None if is_socks(self._proxy) else self._proxy,
            timeout=self._timeout,
            trace_request_ctx=attempt,
        ) as response:
            if response.status < 200:
                raise ValueError(f"status {response.status} in place of a reply")
            body = await _read(response)
            self._replied = True
            headers = [pair for pair in response.headers.items() if pair[0].lower() != "content-encoding"]
            return httpx2.Response(response.status, headers=headers, content=body, request=request)

    def _session(self, **settings: object) -> aiohttp.ClientSession:
        trace = aiohttp.TraceConfig()
        trace.on_connection_reuseconn.append(_note_reused)
        trace.on_connection_create_start.append(self._connecting)
        trace.on_connection_create_end.append(self._connected)
        return aiohttp.ClientSession(
            connector=connector(self._config, self._proxy, **settings),
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[trace],
        )

    async def _connecting(self, *_: object) -> None:
        if self._first and self._slow is None:
            message = f"still connecting to {self._config.base_url}"
            self._slow = asyncio.get_running_loop().call_later(_SLOW_CONNECT_SECONDS, self._say, message)

    async def _connected(self, *_: object) -> None:
        self._first = False
        self._end_slow()

    def _end_slow(self) -> None:
        if self._slow is not None:
            self._slow.cancel()


async def _note_reused(session: object, context: SimpleNamespace, parameters: object) -> None:
    del session, parameters
    context.trace_request_ctx.reused = True


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Returns the unpacked body; raises `Malformed` if it is longer than any answer."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > LARGEST_REPLY:
            raise Malformed(f"a reply of more than {LARGEST_REPLY} bytes")
    return bytes(body)
