"""Processes that work on what this one has gathered."""

import multiprocessing
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor


def workers(processes: int) -> Executor:
    """So many processes that have all that this one has, without its being sent; one thread where the system
    cannot fork, or where one is enough.
    """
    if processes > 1 and "fork" in multiprocessing.get_all_start_methods():
        return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork"))
    return ThreadPoolExecutor(1)
