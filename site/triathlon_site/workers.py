"""Running jobs in forked processes, which have all that this one has without its being sent."""

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final, TypeVar

PROCESSES: Final = len(os.sched_getaffinity(0))
"""One for each core that this process may use."""
T = TypeVar("T")
_jobs: Sequence[Callable[[], Any]] = ()
"""In a forked process, those that its pool was started for."""


def run_all(jobs: Sequence[Callable[[], T]], processes: int) -> list[T]:
    """Runs every job, so many at a time, and returns the results in the order of the jobs.

    Only results travel between processes. Where one process is enough, or the system cannot fork, this one
    does the work.
    """
    if min(processes, len(jobs)) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return [job() for job in jobs]
    context = multiprocessing.get_context("fork")
    gc.freeze()  # collections in the forked processes look at nothing older, and so copy none of it
    try:
        with ProcessPoolExecutor(processes, context, initializer=_start, initargs=(jobs,)) as pool:
            # Not pool.map: after Ctrl-C it would cancel futures that the pool still ends itself.
            futures = [pool.submit(_run, place) for place in range(len(jobs))]
            return [future.result() for future in futures]
    finally:
        gc.unfreeze()


def _start(jobs: Sequence[Callable[[], Any]]) -> None:
    global _jobs  # noqa: PLW0603 (in the forked process alone)
    _jobs = jobs
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(place: int) -> Any:
    """Runs a job, which Ctrl-C ends without a traceback; half a result is never sent."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _jobs[place]()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
