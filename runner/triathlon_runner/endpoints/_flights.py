"""Identical questions in flight at once are asked once."""

import asyncio
from collections.abc import Awaitable, Callable

from triathlon_runner.endpoints._api import Answer


class Flights:
    """The questions in flight, by key."""

    def __init__(self) -> None:
        """Nothing flies yet."""
        self._flying: dict[bytes, asyncio.Future[Answer | None]] = {}

    async def join(self, key: bytes) -> Answer | None:
        """Waits for the same question where it is in flight; None where it is not, or was given up."""
        flying = self._flying.get(key)
        return None if flying is None else await asyncio.shield(flying)

    def __contains__(self, key: bytes) -> bool:
        return key in self._flying

    async def fly(self, key: bytes, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Asks; those who join get the same answer or error, and None if this caller is cancelled."""
        landing: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._flying[key] = landing
        try:
            answer = await ask()
            landing.set_result(answer)
            return answer
        except Exception as error:
            landing.set_exception(error)
            landing.exception()  # seen: nobody may have joined
            raise
        finally:
            del self._flying[key]
            if not landing.done():
                landing.set_result(None)
