"""Options that several commands share, and the objects that they name."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import Catalogue, read_catalogue
from triathlon_runner.cluster import open_cluster
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites_yaml import suites_file_beside

Executor = Literal["local", "ray"]
ExecutorOption = Annotated[
    Executor,
    typer.Option("--executor", help="Where programs are executed: here or on the nodes of a Ray cluster."),
]
RayAddress = Annotated[
    str | None,
    typer.Option("--ray-address", help="The cluster, as `ray start` prints it, or auto; for --executor ray."),
]
AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]


class Common:
    """Defaults of the options that several commands share."""

    models_file = Path("models.yaml")
    results = Path("results")


def catalogue_beside(models_file: Path | None = None) -> Catalogue:
    """Returns all suites, with those of a suites.yaml beside the list of models."""
    return read_catalogue(suites_file_beside(models_file))


def numbers(option: str, text: str) -> list[int]:
    """Returns the whole numbers of `1,10`, sorted; refuses a part that is no whole number from 1."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and part.isascii() and int(part) >= 1 for part in parts):
        raise UserError(
            f"expected {option} as whole numbers from 1, separated by commas (1,10), got {text!r}"
        )
    return sorted({int(part) for part in parts})


def data_store(data: Path | None, *, fetch: bool = True) -> DataStore:
    """Returns the store of data sets; refuses a folder that is none."""
    if data is not None and not data.is_dir():
        raise UserError(f"expected a folder with data files at --data (TRIATHLON_DATA), got {str(data)!r}")
    return DataStore(cache=cache_folder() / "data", folder=data, fetch=fetch)


def results_folder(path: Path) -> ResultsFolder:
    """Returns the results folder, after checking that it can be written."""
    folder = ResultsFolder(path)
    folder.check_writable()
    return folder


def check_executor(executor: Executor, ray_address: str | None) -> None:
    """Refuses `--ray-address` without `--executor ray`."""
    if ray_address is not None and executor != "ray":
        raise UserError(f"--ray-address {ray_address!r} is for --executor ray; add that, or leave it out")


def open_grader(
    executor: Executor, ray_address: str | None, report: Callable[[str], object]
) -> AbstractAsyncContextManager[Grader]:
    """Opens a grader that executes programs on this machine or on a cluster.

    `report` is called with one line about each node of the cluster.

    Raises:
        UserError: the cluster cannot be used.
        SandboxError: nothing can be executed here.
    """
    if executor == "ray":
        return open_cluster(ray_address, keys=cache_folder() / "keys", report=report)
    return open_local_grader()


@asynccontextmanager
async def open_local_grader() -> AsyncIterator[ProgramGrader]:
    """Opens a grader that executes programs on this machine, with the answer keys in the cache."""
    async with open_sandbox() as sandbox:
        yield ProgramGrader(sandbox, cache_folder() / "keys")
