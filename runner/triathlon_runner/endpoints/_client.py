"""Sending to whom and what it is told: connections that are kept, no redirects, no second try, no leaks.

A general HTTP client took half of the CPU time of a question; this one does the little that asking needs.
"""

import asyncio
import socket
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from triathlon_runner import __version__
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._connection import Connection
from triathlon_runner.endpoints._errors import NeverReachable, Unreachable
from triathlon_runner.endpoints._gate import silent
from triathlon_runner.endpoints._http import HttpReply, Post
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._route import ProxyRefusedError, Route, route_to
from triathlon_runner.endpoints._secrets import Secrets
from triathlon_runner.errors import UserError

_KEEP_ALIVE_SECONDS = 15.0
_SLOW_CONNECT_SECONDS = 2.5
"""A first connection that takes longer is said."""


@asynccontextmanager
async def open_client(
    config: ApiConfig, secrets: Secrets, limits: Limits, say: Callable[[str], None] = silent
) -> AsyncIterator[Post]:
    """Sends questions to one model's endpoint; the connections are closed at the end.

    Raises:
        UserError: the environment names a proxy of a kind that is not known, or a header cannot be sent.
    """
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "gzip, deflate",
        "Content-Type": "application/json",
        "User-Agent": f"triathlon/{__version__}",
        "Authorization": f"Bearer {secrets.key or 'none'}",
        **config.headers,
        **secrets.headers,
    }
    pool = _Pool(route_to(config.base_url), headers, limits.connect_seconds, config.timeout_seconds, say)
    try:
        yield pool.post
    finally:
        await pool.close()


class _Pool:
    """Connections to one server; the one that was used last is used next."""

    def __init__(
        self,
        route: Route,
        headers: Mapping[str, str],
        connect_seconds: float,
        timeout_seconds: float,
        say: Callable[[str], None],
    ) -> None:
        self._say, self._said_slow, self._was_connected = say, False, False
        self._route = route
        named = {name.lower(): (name, value) for name, value in (*route.headers.items(), *headers.items())}
        self._head = "".join(_line(*pair) for pair in named.values())
        self._target = route.target
        self._connect_seconds, self._timeout_seconds = connect_seconds, timeout_seconds
        self._idle: deque[Connection] = deque()
        self._open: set[Connection] = set()

    def post(self, path: str, body: bytes, fresh: bool = False, /) -> "asyncio.Future[HttpReply]":
        """Sends one request; its reply, whatever its status, or `Unreachable` where no whole one comes."""
        head = f"POST {self._target}{path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n"
        request = head.encode() + body
        if not fresh and (connection := self._kept()) is not None:
            return connection.send(request, self._timeout_seconds)
        return asyncio.get_running_loop().create_task(self._post_first(request))

    async def _post_first(self, request: bytes) -> HttpReply:
        connection = await self._connected()
        return await connection.send(request, self._timeout_seconds)

    def _kept(self) -> Connection | None:
        stale = time.monotonic() - _KEEP_ALIVE_SECONDS
        while self._idle and self._idle[0].idle_since < stale:
            self._idle.popleft().close()
        while self._idle:
            if (connection := self._idle.pop()).usable:
                return connection
        return None

    async def _connected(self) -> Connection:
        connection = Connection(asyncio.get_running_loop(), self._idle.append, self._open.discard)
        self._open.add(connection)
        slow = asyncio.get_running_loop().call_later(_SLOW_CONNECT_SECONDS, self._say_slow)
        try:
            async with asyncio.timeout(self._connect_seconds):
                return await self._route.connect(connection)
        except TimeoutError:
            failure = Unreachable(
                f"the connection failed: none to {self._route.server} within {self._connect_seconds:g} s"
            )
        except OSError as error:
            failure = self._failure(error)
        finally:
            slow.cancel()
            self._was_connected = self._was_connected or connection.connected
            if not connection.connected:
                self._open.discard(connection)
        raise failure  # here, so that no error carries the request and its key along

    def _say_slow(self) -> None:
        if not (self._was_connected or self._said_slow):
            self._said_slow = True
            self._say(f"still connecting to {self._route.server}")

    def _failure(self, error: OSError) -> Unreachable:
        """What failed, and whether another try can do better."""
        where = self._route.server
        if isinstance(error, ssl.SSLCertVerificationError):
            return NeverReachable(
                f"the certificate of {where} is not trusted: {error.verify_message}; name the file of the"
                " authority that signed it in SSL_CERT_FILE"
            )
        if isinstance(error, ProxyRefusedError):
            return NeverReachable(str(error))
        if isinstance(error, ssl.SSLError) and not self._was_connected:
            return NeverReachable(f"{where} does not speak TLS ({error.reason}); should it be http:// ?")
        if isinstance(error, socket.gaierror) and not self._was_connected:
            return NeverReachable(
                f"the host of {where} cannot be found ({error.strerror}): is its name right?",
                is_away=error.errno == socket.EAI_AGAIN,
            )
        return Unreachable(f"the connection to {where} failed: {type(error).__name__} {error}")

    async def close(self) -> None:
        """Ends all connections."""
        connections = [connection for connection in self._open if connection.connected]
        for connection in connections:
            connection.close()
        for connection in connections:
            await connection.ended()


def _line(name: str, value: str) -> str:
    """One header.

    Raises:
        UserError: it would be more than a header.
    """
    if not (name.isascii() and name.isprintable() and value.isprintable()) or set(name) & set(' :"'):
        raise UserError(
            f"expected a name and one line of text for the header {name!r}: it holds other characters"
        )
    return f"{name}: {value}\r\n"
