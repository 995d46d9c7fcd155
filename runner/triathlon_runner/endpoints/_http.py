"""What a client of HTTP does here, without the libraries that do it: they take most of a second to import."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Client(Protocol):
    """Requests to one model's server. `post` takes bytes: what is sent is what the cache of replies knows."""

    async def post(self, path: str, body: bytes) -> HttpReply:
        """Sends a JSON body to a path below the base URL, or to a whole address.

        Raises:
            Unreachable: no whole reply came.
        """
        ...

    async def get(self, path: str) -> HttpReply:
        """Sends a GET request without a body; see `post`."""
        ...
