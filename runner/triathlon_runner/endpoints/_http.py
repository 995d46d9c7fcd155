"""What passes between an endpoint and the connections below it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple


class HttpReply(NamedTuple):
    """A reply, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]


Post = Callable[[str, bytes], "asyncio.Future[HttpReply]"]
"""Sends a JSON body to a path, at once; the reply, or `Unreachable` where no whole one comes."""
