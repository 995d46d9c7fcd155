"""Where programs are executed and models served: on this machine, or on the nodes of a Ray cluster."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from triathlon_runner.cluster import open_cluster
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.serving import LocalServers, Servers

Executor = Literal["local", "ray"]
ExecutorOption = Annotated[
    Executor,
    typer.Option("--executor", help="Where programs are executed and models served: here or on a cluster."),
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where the work of a command is done."""

    grader: Grader
    servers: Servers


@asynccontextmanager
async def open_place(
    executor: Executor, ray_address: str | None, cache: Path, report: Callable[[str], object]
) -> AsyncIterator[Place]:
    """Something that judges programs and serves models, there.

    Raises:
        UserError: the cluster cannot be used.
        SandboxError: nothing can be executed here.
    """
    keys = cache / "keys"
    if executor == "ray":
        async with open_cluster(ray_address, keys=keys, report=report) as cluster:
            yield Place(cluster.grader, cluster.servers(cache))
    else:
        async with open_sandbox() as sandbox:
            yield Place(ProgramGrader(sandbox, keys), LocalServers(cache))
