"""What passes between an endpoint and the client library, which is imported only when a model is opened."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple


class HttpReply(NamedTuple):
    """A reply, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]


Post = Callable[[str, Mapping[str, Any]], Awaitable[HttpReply]]
"""Sends a body to a path. Raises `Unreachable` where no whole reply comes."""
