"""What passes between an endpoint and the connections below it."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple, Protocol


class HttpReply(NamedTuple):
    """A reply, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Post(Protocol):
    """Sends a JSON body to a path, at once; the reply, or `Unreachable` where no whole one comes."""

    def __call__(self, path: str, body: bytes, fresh: bool = False, /) -> "asyncio.Future[HttpReply]":
        """`fresh`: over a new connection, whatever connections are kept."""
        ...
