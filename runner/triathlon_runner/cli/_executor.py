"""Where programs are executed: on this machine, or on the nodes of a Ray cluster."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Literal

import typer

from triathlon_runner.cache import cache_folder
from triathlon_runner.cluster import open_cluster
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.sandbox import open_sandbox

Executor = Literal["local", "ray"]
ExecutorOption = Annotated[
    Executor,
    typer.Option("--executor", help="Where programs are executed: here or on the nodes of a Ray cluster."),
]
RayAddress = Annotated[
    str | None,
    typer.Option("--ray-address", help="The cluster, as `ray start` prints it, or auto; for --executor ray."),
]


def check_executor(executor: Executor, ray_address: str | None) -> None:
    """Checks that the address of a cluster is for a run on one.

    Raises:
        UserError: `--ray-address` without `--executor ray`.
    """
    if ray_address is not None and executor != "ray":
        raise UserError(f"--ray-address {ray_address!r} is for --executor ray; add that, or leave it out")


@asynccontextmanager
async def open_grader(
    executor: Executor, ray_address: str | None, report: Callable[[str], object]
) -> AsyncIterator[Grader]:
    """Opens a grader that executes programs on this machine or on a cluster.

    Args:
        executor: Which of the two.
        ray_address: Of the cluster; None for one on this machine.
        report: Called with one line about each node of a cluster.

    Raises:
        UserError: the cluster cannot be used.
        SandboxError: nothing can be executed here.
    """
    if executor == "ray":
        async with open_cluster(ray_address, keys=cache_folder() / "keys", report=report) as cluster_grader:
            yield cluster_grader
    else:
        async with open_local_grader() as local_grader:
            yield local_grader


@asynccontextmanager
async def open_local_grader() -> AsyncIterator[ProgramGrader]:
    """Opens a grader that executes programs on this machine, with the answer keys in the cache.

    Raises:
        SandboxError: nothing can be executed here.
    """
    async with open_sandbox() as sandbox:
        yield ProgramGrader(sandbox, cache_folder() / "keys")
