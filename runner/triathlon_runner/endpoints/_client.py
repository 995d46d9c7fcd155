"""aiohttp, set up so that it sends to whom and what it is told, and neither retries nor leaks."""

import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi

from triathlon_runner import __version__
from triathlon_runner.endpoints._config import ApiConfig, is_loopback
from triathlon_runner.endpoints._errors import Unreachable
from triathlon_runner.endpoints._http import HttpReply, Post
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._secrets import Secrets
from triathlon_runner.errors import UserError

LARGEST_REPLY = 16 * 2**20
"""Bytes; a server that sends more is not answering."""
_KEEP_ALIVE_SECONDS = 15.0


@asynccontextmanager
async def open_client(config: ApiConfig, secrets: Secrets, limits: Limits) -> AsyncIterator[Post]:
    """Sends questions to one model's endpoint; the connections are closed at the end.

    Raises:
        UserError: the environment names a proxy of a kind that is not known.
    """
    headers = {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": f"triathlon/{__version__}",
        "Authorization": f"Bearer {secrets.key or 'none'}",
        **config.headers,
        **secrets.headers,
    }
    connector = aiohttp.TCPConnector(
        limit=0,  # the gate limits connections
        keepalive_timeout=_KEEP_ALIVE_SECONDS,
        ssl=_certificates() if config.base_url.startswith("https:") else True,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=config.timeout_seconds, sock_connect=limits.connect_seconds),
        trust_env=False,  # it would also take a password from .netrc
        proxy=proxy_for(config.base_url),
    ) as session:
        yield partial(_post, session, config)


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
    return context


async def _post(session: aiohttp.ClientSession, config: ApiConfig, path: str, body: bytes) -> HttpReply:
    try:
        # Redirects are not followed: the key would go where nobody sent it, and a POST may become a GET.
        async with session.post(config.base_url + path, data=body, allow_redirects=False) as response:
            content = await _content(response)
            return HttpReply(response.status, content, _lower(response.headers))
    except TimeoutError as error:
        connecting = isinstance(error, aiohttp.ConnectionTimeoutError)
        failure = (
            "the connection failed: time-out"
            if connecting
            else f"no whole reply within {config.timeout_seconds:g} s"
        )
    except (aiohttp.ClientError, OSError, _TooLargeError) as error:
        cause = _root(error)
        failure = f"the connection failed: {type(cause).__name__} {cause}".strip()
    raise Unreachable(failure)  # here, so that no error carries the request and its key along


async def _content(response: aiohttp.ClientResponse) -> bytes:
    if (response.content_length or LARGEST_REPLY + 1) <= LARGEST_REPLY and not response.headers.get(
        "Content-Encoding"
    ):
        return await response.read()
    taken = bytearray()
    async for chunk in response.content.iter_any():
        taken += chunk
        if len(taken) > LARGEST_REPLY:
            raise _TooLargeError(f"a reply of more than {LARGEST_REPLY} bytes")
    return bytes(taken)


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _root(error: BaseException) -> BaseException:
    """What the layers in between have wrapped, and sometimes misnamed."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


class _TooLargeError(Exception):
    pass
