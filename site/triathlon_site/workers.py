"""Processes that work on what this one has gathered."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Map(Protocol):
    """What Python's own `map` does."""

    def __call__(self, function: Callable[..., T], /, *values: Iterable[Any]) -> Iterator[T]: ...


@contextmanager
def workers(processes: int, *, at_a_time: int = 1, nice: int = 0) -> Iterator[Map]:
    """A `map` of so many processes, which have all that this one has without its being sent.

    Where one is enough, or the system cannot fork, this one does the work as its results are asked for.

    Args:
        processes: how many.
        at_a_time: how much each of them takes.
        nice: by how much they go behind this one: what it does meanwhile everybody waits for.
    """
    if processes < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield _here
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, context, initializer=os.nice, initargs=(nice,)) as pool:
        yield partial(pool.map, chunksize=at_a_time)


def _here(function: Callable[..., T], /, *values: Iterable[Any]) -> Iterator[T]:
    return map(function, *values)
