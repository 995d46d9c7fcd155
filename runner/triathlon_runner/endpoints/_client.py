"""The official client, set up so that it neither retries nor leaks, and sends where it is told."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from openai import AsyncOpenAI, Omit
from typing_extensions import override

from triathlon_runner import __version__
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import Unreachable
from triathlon_runner.endpoints._http import HttpReply, Post
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._secrets import Secrets

LARGEST_REPLY = 16 * 2**20
"""Bytes; a server that sends more is not answering."""
_MANY = 100_000
"""The gate limits connections, not the client's pool."""


@asynccontextmanager
async def open_client(config: ApiConfig, secrets: Secrets, limits: Limits) -> AsyncIterator[Post]:
    """Sends questions to one model's endpoint; the connections are closed at the end."""
    http = openai.DefaultAioHttpClient(
        timeout=httpx2.Timeout(config.timeout_seconds, connect=limits.connect_seconds),
        limits=httpx2.Limits(max_connections=_MANY, keepalive_expiry=15.0),
        trust_env=not is_loopback(config.base_url),  # a proxy has no way to this machine's own servers
        event_hooks={"response": [_cap]},
    )
    client = _Client(
        base_url=config.base_url,
        api_key="kept apart",  # the headers hold the real one; by default OPENAI_API_KEY would go to anybody
        max_retries=0,
        http_client=http,
    )
    client.only_headers = {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": f"triathlon/{__version__}",
        "Authorization": f"Bearer {secrets.key or 'none'}",
        **config.headers,
        **secrets.headers,
    }
    async with client:
        yield partial(_post, client, config.timeout_seconds)


class _Client(AsyncOpenAI):
    """Sends the headers that it is told and none that the environment or the platform add."""

    only_headers: Mapping[str, str | Omit]

    @property
    @override
    def default_headers(self) -> dict[str, str | Omit]:
        return dict(self.only_headers)

    @property
    @override
    def auth_headers(self) -> dict[str, str]:
        return {}


def is_loopback(base_url: str) -> bool:
    """Whether the address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _post(client: AsyncOpenAI, seconds: float, path: str, body: Mapping[str, Any]) -> HttpReply:
    try:
        async with asyncio.timeout(seconds):
            response = await client.post(path, body=body, cast_to=httpx2.Response)
    except openai.APIStatusError as error:
        response = error.response
    except TimeoutError:
        response, failure = None, f"no whole reply within {seconds:g} s"
    except (openai.APIConnectionError, httpx2.HTTPError, _TooLargeError) as error:
        cause = _root(error)
        response, failure = None, f"the connection failed: {type(cause).__name__} {cause}".strip()
    if response is None:  # raised here, so that no error carries the request and its key along
        raise Unreachable(failure)
    return HttpReply(response.status_code, response.content, response.headers)


def _root(error: BaseException) -> BaseException:
    """What the layers in between have wrapped, and sometimes misnamed."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


class _TooLargeError(Exception):
    pass


class _Capped(httpx2.AsyncByteStream):
    """A reply's bytes, up to a limit."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for chunk in self._inner:
            taken += len(chunk)
            if taken > LARGEST_REPLY:
                raise _TooLargeError(f"a reply of more than {LARGEST_REPLY} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _cap(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Capped(response.stream)
