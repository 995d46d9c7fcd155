"""Sends requests to one model's server: the `openai` package's client on its own transport, retries off."""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
import openai

from triathlon_runner import __version__
from triathlon_runner.errors import UserError
from triathlon_runner.llm import _api
from triathlon_runner.llm.provider import ApiConfig, HttpReply, Secrets, Send, is_loopback

for _name in ("openai", "httpx2", "httpcore2"):  # they log headers as they come, with whatever stands in them
    logging.getLogger(_name).setLevel(logging.WARNING)

LARGEST_REPLY = 16 * 2**20
"""Bytes; a server that sends more is not answering."""
_LARGEST_PACKED = LARGEST_REPLY // 64
"""Bytes of a reply that is compressed, unasked: unpacked they can be a thousand times as many."""
_IDLE_SECONDS = 15.0
_CONNECT_SECONDS = 15.0
"""Longest wait for a connection."""
_KEPT_HEADERS = ("host", "content-length", "transfer-encoding", "x-stainless-raw-response")
"""The last one is read from the request again by the package itself."""


@asynccontextmanager
async def open_client(config: ApiConfig, secrets: Secrets, *, reached: bool) -> AsyncIterator[Send]:
    """Yields what sends requests to one model's server; closes its connections at the end.

    `reached`: a connection to the server was made before.

    What it yields raises `Unreachable` or `Lost` where no whole reply came, `Malformed` where the reply is
    larger than any answer, and a `ModelUnavailableError` where no try can reach the server for now.
    """
    address = urlsplit(config.base_url)
    server = f"{address.scheme}://{address.netloc}"
    proxies = {} if is_loopback(config.base_url) else getproxies()
    has_proxy = bool({address.scheme, "all"} & proxies.keys()) and not proxy_bypass(address.hostname or "")
    peer = f"the proxy on the way to {server} (HTTPS_PROXY, HTTP_PROXY)" if has_proxy else server
    was_connected = reached
    async with _package_client(config, secrets) as api:

        async def send(path: str, body: dict[str, Any] | None, seconds: float) -> HttpReply:
            nonlocal was_connected
            failure: Exception | None = None
            try:
                async with asyncio.timeout(seconds):
                    response = await _sent(api, path, body)
            except openai.APIStatusError as error:
                response = error.response
            except TimeoutError:
                failure = _api.TimedOut(
                    f"no whole reply within {seconds:g} s (allow more with --timeout, or with"
                    " `timeout_seconds` where its row has an api block)"
                )
            except openai.APIConnectionError as error:
                failure = _failure(error, server, peer, is_first=not was_connected)
            if failure is not None:
                raise failure  # not inside `except`: the error would carry the request and its key along
            was_connected = True
            return HttpReply(response.status_code, response.content, response.headers)

        yield send


def _package_client(config: ApiConfig, secrets: Secrets) -> openai.AsyncOpenAI:
    """Returns the package's client, which sends our headers, our key and no others."""
    own = httpx2.Headers(
        {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": f"triathlon/{__version__}",
        }
    )
    for headers in (config.key_headers(secrets.key), config.headers, secrets.headers):
        own.update(headers)  # the last of a name, in whatever case, counts

    async def send_own_headers(request: httpx2.Request) -> None:
        """Leaves out what the package adds by itself and from OPENAI_CUSTOM_HEADERS."""
        kept = {name: request.headers[name] for name in _KEPT_HEADERS if name in request.headers}
        request.headers = httpx2.Headers(kept)
        request.headers.update(own)

    async def bound(response: httpx2.Response) -> None:
        """Makes reading a reply fail that is larger than any answer."""
        is_packed = response.headers.get("content-encoding", "identity") != "identity"
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, _LARGEST_PACKED if is_packed else LARGEST_REPLY)

    is_local, has_tls = is_loopback(config.base_url), urlsplit(config.base_url).scheme == "https"
    try:
        http = openai.DefaultAsyncHttpxClient(
            trust_env=not is_local,  # no proxy on the way to this machine
            verify=httpx2.create_ssl_context(trust_env=has_tls or not is_local),  # SSL_CERT_FILE
            follow_redirects=False,
            timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
            limits=httpx2.Limits(keepalive_expiry=_IDLE_SECONDS),
            event_hooks={"request": [send_own_headers], "response": [bound]},
        )
    except OSError as error:  # an SSLError is one
        raise UserError(
            "expected certificates of authorities in SSL_CERT_FILE or SSL_CERT_DIR, where they are set:"
            f" {error}"
        ) from None
    except (ValueError, ImportError) as error:  # of the proxy that the environment names
        raise UserError(
            "expected a usable proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY:"
            f" {secrets.scrub_message(str(error))}; set another, or name"
            f" {urlsplit(config.base_url).hostname!r} in NO_PROXY (for socks5:// install"
            " 'triathlon-leaderboard[socks]')"
        ) from None
    return openai.AsyncOpenAI(
        api_key="none",  # `send_own_headers` has the key
        base_url=config.base_url,
        organization="",
        project="",
        max_retries=0,
        http_client=http,
    )


@dataclass(slots=True)
class _BoundedStream(httpx2.AsyncByteStream):
    inner: httpx2.AsyncByteStream
    most: int

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.inner:
            size += len(piece)
            if size > self.most:
                raise _api.Malformed(f"a reply of more than {self.most} bytes")
            yield piece

    async def aclose(self) -> None:
        await self.inner.aclose()


async def _sent(api: openai.AsyncOpenAI, path: str, body: dict[str, Any] | None) -> httpx2.Response:
    """Sends a request as the package's typed call, where it has one."""
    if body is None:
        return await api.get(path, cast_to=httpx2.Response)
    more = {name: value for name, value in body.items() if name not in ("model", "messages", "prompt")}
    if path == "/chat/completions":
        chat = api.chat.completions.with_raw_response
        reply = await chat.create(model=body["model"], messages=body["messages"], extra_body=more)
        return reply.http_response
    if path == "/completions":
        texts = api.completions.with_raw_response
        text = await texts.create(model=body["model"], prompt=body["prompt"], extra_body=more)
        return text.http_response
    return await api.post(path, cast_to=httpx2.Response, body=body)


def _failure(  # noqa: PLR0911  a line a cause
    error: BaseException, server: str, peer: str, *, is_first: bool
) -> Exception:
    """Returns what failed in words, and by its type whether another try can do better.

    `peer` is what is connected to: the server or a proxy. `is_first`: no connection was ever made.
    """
    causes = list(_causes(error))
    words = " ".join(str(causes[-1]).split())
    if any(isinstance(cause, httpx2.ProxyError) for cause in causes):
        return (_api.ModelUnavailableError if words.startswith("4") else _api.Unreachable)(
            f"the proxy on the way to {server} did not connect: {words}; look at HTTPS_PROXY and"
            " HTTP_PROXY, or name the server in NO_PROXY"
        )
    for cause in reversed(causes):  # the system's own says most
        match cause:
            case _api.Retryable():
                return cause
            case ssl.SSLCertVerificationError():
                return _api.ModelUnavailableError(
                    f"the certificate of {server} is not trusted: {cause.verify_message}; name the file"
                    " of the authority that signed it in SSL_CERT_FILE"
                )
            case ssl.SSLError() if is_first:
                return _api.Unreachable(f"no TLS connection to {server} ({words}); should it be http:// ?")
            case socket.gaierror() if is_first:
                is_temporary = cause.errno == socket.EAI_AGAIN  # this machine's network or name service
                return (_api.ServerUnreachableError if is_temporary else _api.ModelUnavailableError)(
                    f"the host of {peer} cannot be found ({cause.strerror}): is its name right?"
                )
            case ConnectionRefusedError():
                return _api.Unreachable(
                    f"{peer} refused the connection (is it running, and is the port right?)"
                )
            case httpx2.DecodingError():
                return _api.Malformed(f"a reply of {server} that cannot be unpacked ({words})")
            case httpx2.ConnectTimeout():
                return _api.Unreachable(f"no connection to {peer} in time")
            case httpx2.ReadError() | httpx2.RemoteProtocolError() | httpx2.WriteError():
                closed = f"{server} closed the connection before its reply was whole"
                if is_first and server.startswith("http:"):
                    return _api.Unreachable(f"{closed}; should it be https:// ?")
                return _api.Lost(closed)
    return _api.Unreachable(f"the connection to {server} failed: {type(causes[-1]).__name__} {words}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yields the errors behind an error, outermost first."""
    inner = (
        error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__ or error.__context__
    )
    if inner is not None:
        yield inner
        yield from _causes(inner)
