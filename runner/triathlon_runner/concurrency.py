"""Running coroutines at the same time."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from triathlon_runner.errors import leaves

T = TypeVar("T")
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
