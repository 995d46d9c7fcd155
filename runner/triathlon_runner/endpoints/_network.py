"""Proxies, certificates, TCP keep-alive, and what connection errors mean."""

import errno
import os
import socket
import ssl
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi

from triathlon_runner.endpoints._config import ApiConfig, is_loopback
from triathlon_runner.endpoints._errors import LostReply, NeverReachable, Unreachable
from triathlon_runner.endpoints._http_errors import PROXY_WANTS_A_USER
from triathlon_runner.errors import UserError

_KEEP_ALIVE_OPTIONS = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 30), ("TCP_KEEPCNT", 5))
"""Seconds, seconds, probes: firewalls forget a connection on which nothing passes for minutes."""
_PORTS = {"http": 80, "https": 443}
_SOCKS = ("socks4", "socks4a", "socks5", "socks5h")


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


def is_socks(proxy: str | None) -> bool:
    """Whether connections are opened by a SOCKS proxy."""
    return proxy is not None and urlsplit(proxy).scheme in _SOCKS


def connector(config: ApiConfig, proxy: str | None, **settings: Any) -> aiohttp.BaseConnector:
    """Makes the pool of connections to a row's server, without a limit: the queue has one.

    Raises:
        UserError: the proxy speaks SOCKS and the package for that is missing, or the row's certificate cannot
            be read.
    """
    settings |= {"limit": 0, "ssl": _certificates(config), "socket_factory": _open_socket}
    if not is_socks(proxy):
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
    if config.base_url.startswith("https:"):
        _check_named_authorities()
    context = ssl.create_default_context()
    if not (os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")):
        context.load_verify_locations(certifi.where())
    if config.client_certificate is not None:
        try:
            context.load_cert_chain(config.client_certificate)
        except OSError as error:
            raise UserError(
                "expected client_certificate to name a PEM file with a certificate and its key, got"
                f" {config.client_certificate!r}: {error}"
            ) from None
    return context


def _check_named_authorities() -> None:
    """Refuses a file in SSL_CERT_FILE without a certificate: OpenSSL would trust nobody, and not say why.

    Raises:
        UserError: it is missing, or holds no certificate.
    """
    file = os.environ.get("SSL_CERT_FILE")
    if not file:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError as error:  # an SSLError is one
        got = "no certificate in it" if isinstance(error, ssl.SSLError) else error.strerror
        raise UserError(
            "expected SSL_CERT_FILE to name a PEM file with the certificates of authorities, got"
            f" {file!r}: {got}; name another, or unset SSL_CERT_FILE"
        ) from None


def connection_failure(
    error: Exception, config: ApiConfig, proxy: str | None, *, first: bool, replied: bool
) -> Unreachable:
    """Returns what failed in words, and by its type whether another try can do better.

    Args:
        error: What aiohttp or the system raised.
        config: Whose server.
        proxy: The proxy on the way, if any.
        first: Whether no connection to this server was ever made.
        replied: Whether a whole reply has come from it.
    """
    server = f"the proxy {_address(proxy)}" if proxy else _address(config.base_url)
    words = " ".join(str(error).split())  # of a reply that is no HTTP they are several lines
    failure = Unreachable(f"the connection to {server} failed: {type(error).__name__} {words}")
    may_want_tls = config.base_url.startswith("http:") and not proxy and not replied
    hint = "; should it be https:// ?" if may_want_tls else ""
    match error:
        case aiohttp.ConnectionTimeoutError():
            failure = Unreachable(f"the connection failed: none to {server} in time")
        case TimeoutError():
            failure = LostReply(f"no whole reply within {config.timeout_seconds:g} s")
        case aiohttp.ClientPayloadError():
            failure = LostReply(f"{server} closed the connection in the middle of a reply")
        case aiohttp.ClientHttpProxyError():
            failure = _proxy_failure(error)
        case aiohttp.ServerDisconnectedError():
            failure = Unreachable(f"{server} closed the connection without a reply{hint}")
        case aiohttp.ClientConnectorCertificateError():
            failure = NeverReachable(
                f"the certificate of {server} is not trusted: {error.certificate_error}; name the file of the"
                " authority that signed it in SSL_CERT_FILE"
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
            failure = Unreachable(f"{server} refused the connection (is it running, and is the port right?)")
        case aiohttp.ClientOSError() if error.errno == errno.ECONNRESET:
            failure = Unreachable(f"{server} reset the connection without a reply{hint}")
    return failure


def _proxy_failure(error: aiohttp.ClientHttpProxyError) -> Unreachable:
    if error.status == 407:
        return NeverReachable(PROXY_WANTS_A_USER)
    if 400 <= error.status < 500:
        return NeverReachable(
            f"the proxy does not open a way to the server: it answered {error.status} {error.message!r}"
        )
    return Unreachable(f"the proxy answered {error.status} {error.message!r}")


def _address(url: str) -> str:
    """Scheme, host and port, without a password."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")
