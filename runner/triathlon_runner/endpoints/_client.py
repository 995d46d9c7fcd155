"""Sending one request: the official `openai` client, its retries off."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI

from triathlon_runner import __version__
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import Unreachable
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._secrets import Secrets
from triathlon_runner.endpoints._transport import Transport
from triathlon_runner.errors import UserError


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Client:
    """Requests to one model's server. `post` takes bytes: what is sent is what the cache of replies knows."""

    def __init__(self, openai: AsyncOpenAI) -> None:
        """Made by `open_client`."""
        self._openai = openai

    async def post(self, path: str, body: bytes) -> HttpReply:
        """Sends a JSON body to a path below the base URL, or to a whole address.

        Raises:
            Unreachable: no whole reply came.
        """
        try:
            reply = await self._openai.post(path, cast_to=httpx2.Response, content=body)
        except APIStatusError as error:
            reply = error.response
        except APIConnectionError as error:
            raise Unreachable(f"the connection failed: {error}") from None
        return HttpReply(reply.status_code, reply.content, reply.headers)

    async def get(self, path: str) -> HttpReply:
        """The same for a GET request without a body."""
        try:
            reply = await self._openai.get(path, cast_to=httpx2.Response)
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
) -> AsyncIterator[Client]:
    """A client for one model's server; its connections are closed at the end.

    Args:
        config: The row's `api:` block.
        secrets: Its secret headers.
        limits: How long connecting may take.
        authorization: The headers with which the provider shows the key.
        say: Gets a line where the first connection takes long.

    Raises:
        UserError: a proxy or certificate cannot be used, or a header cannot be sent.
    """
    headers = {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": f"triathlon/{__version__}",
        **authorization,
    }
    headers = _replaced(headers, {**config.headers, **secrets.headers})
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
        yield Client(openai)


def _replaced(headers: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """The headers with those of the row in place of equal names, however they are written.

    Raises:
        UserError: one would be more than a header.
    """
    for name, value in changes.items():
        if not (name.isascii() and name.isprintable() and value.isprintable()) or set(name) & set(' :"'):
            raise UserError(
                f"expected a name and one line of text for the header {name!r}: it holds other characters"
            )
    named = {name.lower(): (name, value) for name, value in (*headers.items(), *changes.items())}
    return dict(named.values())
