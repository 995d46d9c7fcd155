"""Running coroutines at the same time; values that several of them wait for."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

from triathlon_runner.errors import leaves

T = TypeVar("T")
Key = TypeVar("Key")
Value = TypeVar("Value")
OnProgress = Callable[[int, int], None]
"""Called after each unit with the number of those that are done, and of all."""


def show_nothing(done: int, total: int) -> None:
    """The `OnProgress` of work that nobody watches."""


async def run_all(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Returns the results of all of them, in their order.

    Where one fails, or the caller is cancelled, the others are cancelled and waited for. `asyncio.gather`
    does not wait: sandboxes would be left in the middle of closing their processes.

    Raises:
        Exception: the first error of any of them.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as errors:
        raise next(leaves(errors)) from errors
    return [task.result() for task in tasks]


class Once(Generic[Key, Value]):
    """Values that are made once, one a key; several callers at the same time wait for the first one's."""

    def __init__(self, values: dict[Key, Value] | None = None) -> None:
        """Takes the values that are there already."""
        self._values: dict[Key, Value] = {} if values is None else values
        self._locks: dict[Key, asyncio.Lock] = {}

    async def get(self, key: Key, make: Callable[[], Awaitable[Value]]) -> Value:
        """The key's value; where making it fails, the next caller tries again."""
        if key not in self._values:
            async with self._locks.setdefault(key, asyncio.Lock()):
                if key not in self._values:
                    self._values[key] = await make()
        return self._values[key]
