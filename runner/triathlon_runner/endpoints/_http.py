"""What passes between an endpoint and the client library, which is imported only when a model is opened."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple


class HttpReply(NamedTuple):
    """A reply, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]


Post = Callable[[str, bytes], Awaitable[HttpReply]]
"""Sends a JSON body to a path. Raises `Unreachable` where no whole reply comes."""
