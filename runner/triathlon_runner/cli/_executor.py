"""Where programs are executed: on this machine, or on the nodes of a Ray cluster."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

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
    """Refuses an address that nobody would use.

    Raises:
        UserError: `--ray-address` without `--executor ray`.
    """
    if ray_address is not None and executor != "ray":
        raise UserError(f"--ray-address {ray_address!r} is for --executor ray; add that, or leave it out")


@asynccontextmanager
async def open_grader(
    executor: Executor, ray_address: str | None, cache: Path, report: Callable[[str], object]
) -> AsyncIterator[Grader]:
    """A grader whose programs are executed there.

    Raises:
        UserError: the cluster cannot be used.
        SandboxError: nothing can be executed here.
    """
    keys = cache / "keys"
    if executor == "ray":
        async with open_cluster(ray_address, keys=keys, report=report) as grader:
            yield grader
    else:
        async with open_sandbox() as sandbox:
            yield ProgramGrader(sandbox, keys)
