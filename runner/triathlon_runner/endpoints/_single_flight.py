"""Identical questions in flight at once are asked once."""

import asyncio
from collections.abc import Awaitable, Callable

from triathlon_runner.endpoints._api import Answer


class SingleFlight:
    """The questions in flight, by key."""

    def __init__(self) -> None:
        """None is in flight."""
        self._in_flight: dict[bytes, asyncio.Future[Answer | None] | None] = {}
        """With the future that others wait for, where anybody does."""

    def __contains__(self, key: bytes) -> bool:
        return key in self._in_flight

    async def join(self, key: bytes) -> Answer | None:
        """Waits for the same question where it is in flight; None where it is not, or was given up."""
        if key not in self._in_flight:
            return None
        result = self._in_flight[key]
        if result is None:
            result = self._in_flight[key] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(result)

    async def ask(self, key: bytes, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Asks; those who join get the same answer or error, and None if this caller is cancelled."""
        self._in_flight[key] = None
        answer: Answer | None = None
        try:
            answer = await ask()
        except Exception as error:
            if (result := self._in_flight[key]) is not None:
                result.set_exception(error)
                result.exception()  # marks it as retrieved: who joined may have gone
            raise
        finally:
            result = self._in_flight.pop(key)
            if result is not None and not result.done():
                result.set_result(answer)
        return answer
