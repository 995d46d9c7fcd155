"""Identical questions in flight at once are asked once."""

import asyncio
from collections.abc import Awaitable, Callable

from triathlon_runner.endpoints._api import Answer


class Flights:
    """The questions in flight, by key."""

    def __init__(self) -> None:
        """Nothing flies yet."""
        self._flying: dict[bytes, asyncio.Future[Answer | None] | None] = {}
        """With what wakes those who joined, where anybody did."""

    async def join(self, key: bytes) -> Answer | None:
        """Waits for the same question where it is in flight; None where it is not, or was given up."""
        if key not in self._flying:
            return None
        landing = self._flying[key]
        if landing is None:
            landing = self._flying[key] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(landing)

    def __contains__(self, key: bytes) -> bool:
        return key in self._flying

    async def fly(self, key: bytes, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Asks; those who join get the same answer or error, and None if this caller is cancelled."""
        self._flying[key] = None
        answer: Answer | None = None
        try:
            answer = await ask()
        except Exception as error:
            if (landing := self._flying[key]) is not None:
                landing.set_exception(error)
                landing.exception()  # seen: who joined may have gone
            raise
        finally:
            landing = self._flying.pop(key)
            if landing is not None and not landing.done():
                landing.set_result(answer)
        return answer
