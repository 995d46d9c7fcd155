"""Coroutines at the same time, values that several of them wait for, long computations in another process.

A thread is no help for the latter: Python's parser and a search through a long text keep the interpreter's
lock to their end. Reading a reply of 1 MB kept the loop waiting for up to a second, taking a program out of
it for two.
"""

import asyncio
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from typing import Any, Final, Generic, TypeVar

from triathlon_runner.errors import InfrastructureError, leaves

LONG: Final = 8_000
"""Characters from which a text is read in another process: a shorter one takes a few milliseconds."""
_PR_SET_PDEATHSIG: Final = 1

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


async def in_other_process(
    characters: int, function: Callable[..., T], *arguments: object, **named: object
) -> T:
    """Returns what a function returns; for a text of so many characters in another process, if that is long.

    Function, arguments and result must be of kinds that `pickle` takes.

    Raises:
        InfrastructureError: the process ended; a text can be too much for Python's parser.
    """
    call = partial(function, *arguments, **named)
    if characters < LONG:
        return call()
    try:
        return await asyncio.get_running_loop().run_in_executor(_processes(), call)
    except (BrokenProcessPool, OSError):  # the latter while a pool whose process has ended closes its pipes
        _processes.cache_clear()
        raise InfrastructureError(
            f"the process that read a text of {characters} characters ended before it was done"
        ) from None


@cache
def _processes() -> ProcessPoolExecutor:
    """The processes, started when they are needed first; they end with this one, which no fork copies."""
    context = multiprocessing.get_context("spawn")
    processes = min(4, len(os.sched_getaffinity(0)))
    return ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(os.getpid(),))


def _begin(parent: int) -> None:
    """Leaves Ctrl-C to the parent, and ends with it, though it may be killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
