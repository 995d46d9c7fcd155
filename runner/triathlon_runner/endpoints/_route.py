"""The way to a server: straight, or through the proxy that the environment names."""

import asyncio
import base64
import os
import ssl
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi

from triathlon_runner.endpoints._config import is_loopback
from triathlon_runner.errors import UserError

_PORTS = {"http": 80, "https": 443}
_EYEBALLS_SECONDS = 0.25
"""Before a host's next address is tried beside one that does not answer (RFC 8305)."""
_LARGEST_HEAD = 1 << 16

P = TypeVar("P", bound=asyncio.Protocol)


@dataclass(frozen=True, slots=True)
class Route:
    """Where the requests for one base URL are sent to, and how they name what they ask for."""

    url: SplitResult
    proxy: SplitResult | None
    context: ssl.SSLContext | None
    """For `https:`, of the server or of the proxy."""

    @property
    def is_tunnelled(self) -> bool:
        return self.proxy is not None and self.url.scheme == "https"

    @property
    def target(self) -> str:
        """What stands in a request line in front of the path below the base URL."""
        path = quote(self.url.path, safe="/%:@!$&'()*+,;=~-._")
        return f"http://{_host(self.url)}{path}" if self.proxy is not None and not self.is_tunnelled else path

    @property
    def server(self) -> str:
        """Whom a connection is made to, for messages."""
        if self.proxy is not None:
            return f"the proxy {_host(self.proxy)}"
        return f"{self.url.scheme}://{_host(self.url)}"

    @property
    def headers(self) -> dict[str, str]:
        """Those that the way needs."""
        named = {"Host": _host(self.url)}
        return named if self.is_tunnelled else {**named, **_credentials(self.proxy)}

    async def connect(self, protocol: P) -> P:
        """Connects it, encryption included.

        Raises:
            OSError: there is no way to the server, or the proxy does not open one.
        """
        loop = asyncio.get_running_loop()
        if not self.is_tunnelled:
            await loop.create_connection(lambda: protocol, **self._address(self.proxy or self.url))
            return protocol
        assert self.proxy is not None and self.context is not None
        transport, tunnel = await loop.create_connection(_Tunnel, **self._address(self.proxy))
        try:
            await tunnel.open(f"{_name(self.url)}:{_port(self.url)}", _credentials(self.proxy))
            inner = await loop.start_tls(transport, protocol, self.context, server_hostname=_ascii(self.url))
        except BaseException:
            transport.abort()
            raise
        assert inner is not None
        protocol.connection_made(inner)
        return protocol

    def _address(self, url: SplitResult) -> dict[str, Any]:
        host = _ascii(url)
        encrypted = {"ssl": self.context, "server_hostname": host} if url.scheme == "https" else {}
        return {"host": host, "port": _port(url), "happy_eyeballs_delay": _EYEBALLS_SECONDS, **encrypted}


def route_to(base_url: str) -> Route:
    """The way that the environment allows.

    Raises:
        UserError: it names a proxy of a kind that is not known, or there can be no such host.
    """
    proxy = proxy_for(base_url)
    for url in filter(None, (base_url, proxy)):
        _check(urlsplit(url))
    encrypted = any(url.startswith("https:") for url in (base_url, proxy or ""))
    return Route(
        urlsplit(base_url), urlsplit(proxy) if proxy else None, _certificates() if encrypted else None
    )


def _check(url: SplitResult) -> None:
    try:
        _host(url)
    except ValueError as error:
        raise UserError(f"expected a host and port that can be, got {url.hostname!r}: {error}") from None


def proxy_for(base_url: str) -> str | None:
    """The proxy that the environment names for this address; none has a way to this machine's own servers.

    Raises:
        UserError: it is no HTTP proxy.
    """
    parts = urlsplit(base_url)
    if is_loopback(base_url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if (scheme := urlsplit(proxy).scheme) not in ("http", "https"):
        raise UserError(
            f"expected an http:// or https:// proxy in {parts.scheme.upper()}_PROXY or ALL_PROXY, "
            f"got one that begins with {scheme + '://'!r}; set another, or add {parts.hostname!r} to NO_PROXY"
        )
    return proxy


def _certificates() -> ssl.SSLContext:
    """The system's authorities and, unless SSL_CERT_FILE or SSL_CERT_DIR narrows them, Mozilla's."""
    context = ssl.create_default_context()
    if not (os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")):
        context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


def _ascii(url: SplitResult) -> str:
    return (url.hostname or "").encode("idna").decode()


def _name(url: SplitResult) -> str:
    host = _ascii(url)
    return f"[{host}]" if ":" in host else host


def _port(url: SplitResult) -> int:
    return url.port or _PORTS[url.scheme]


def _host(url: SplitResult) -> str:
    return _name(url) if _port(url) == _PORTS[url.scheme] else f"{_name(url)}:{_port(url)}"


def _credentials(proxy: SplitResult | None) -> dict[str, str]:
    if proxy is None or not proxy.username:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


class ProxyRefusedError(OSError):
    """The proxy does not open a way to the server, and will not do so for another try."""

    @classmethod
    def of(cls, answer: str) -> OSError:
        """The error of a proxy's status line; one that another try may mend is none of this kind."""
        status = answer.split(" ")[1:2]
        if status == ["407"]:
            return cls(
                "the proxy on the way to the server wants a user and a password (407): set them in"
                " HTTPS_PROXY, as in http://user:password@host:port, or name the server in NO_PROXY"
            )
        if status and status[0].startswith("4"):
            return cls(f"the proxy does not open a way to the server: it answered {answer[:80]!r}")
        return OSError(f"the proxy answered {answer[:80]!r}")


class _Tunnel(asyncio.Protocol):
    """Asks a proxy for a way through; what comes behind its answer belongs to the server."""

    def __init__(self) -> None:
        self._head = b""
        self._opened: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    async def open(self, server: str, headers: dict[str, str]) -> None:
        """Returns when the way is open.

        Raises:
            OSError: the proxy refuses.
        """
        lines = [f"CONNECT {server} HTTP/1.1", f"Host: {server}", *map(": ".join, headers.items()), "", ""]
        assert self._transport is not None
        self._transport.write("\r\n".join(lines).encode())
        answer = (await self._opened).split(b"\r\n", 1)[0].decode("latin-1")
        if not answer.startswith(("HTTP/1.1 2", "HTTP/1.0 2")):
            raise ProxyRefusedError.of(answer)

    def data_received(self, data: bytes) -> None:
        self._head += data
        if not self._opened.done() and (b"\r\n\r\n" in self._head or len(self._head) > _LARGEST_HEAD):
            self._opened.set_result(self._head)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._opened.done():
            self._opened.set_exception(error or ConnectionResetError("the proxy closed the connection"))
