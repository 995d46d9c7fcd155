"""Values that are made once, such as the answer key of a problem that many programs are graded on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Once(Generic[Key, Value]):
    """One value a key; several callers at the same time wait for the first one's."""

    def __init__(self, make: Callable[[Key], Awaitable[Value]]) -> None:
        self._make = make
        self._values: dict[Key, Value] = {}
        self._locks: dict[Key, asyncio.Lock] = {}

    async def get(self, key: Key) -> Value:
        """The key's value; where making it fails, the next caller tries again."""
        try:
            return self._values[key]
        except KeyError:
            pass
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._values:
                self._values[key] = await self._make(key)
        return self._values[key]
