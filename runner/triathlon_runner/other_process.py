"""Long computations in another process, so that the event loop goes on.

A thread is no help: Python's parser and a search through a long text keep the interpreter's lock to their
end. Reading a reply of 1 MB kept the loop waiting for up to a second, taking a program out of it for two.
"""

import asyncio
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from typing import Final, TypeVar

from triathlon_runner.errors import InfrastructureError

LONG: Final = 8_000
"""Characters from which a text is read in another process: a shorter one takes a few milliseconds."""
_PR_SET_PDEATHSIG: Final = 1

T = TypeVar("T")


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
    except BrokenProcessPool:
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
