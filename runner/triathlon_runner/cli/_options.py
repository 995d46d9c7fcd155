"""Options that several commands share, and the objects that they name."""

from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import Catalogue, read_catalogue
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites_yaml import suites_file_beside

ModelsFile = Annotated[
    Path, typer.Option("--models-file", help="The list of models.", envvar="TRIATHLON_MODELS")
]
Results = Annotated[Path, typer.Option("--results", help="Folder of results.", envvar="TRIATHLON_RESULTS")]
Data = Annotated[
    Path | None, typer.Option("--data", help="Folder with official data files.", envvar="TRIATHLON_DATA")
]

AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]


class Common:
    """Defaults of the options that several commands share."""

    models_file = Path("models.yaml")
    results = Path("results")


def catalogue_beside(models_file: Path | None = None) -> Catalogue:
    """Returns all suites, with those of a suites.yaml beside the list of models.

    Raises:
        UserError: suites.yaml has a fault.
    """
    return read_catalogue(suites_file_beside(models_file))


def data_store(data: Path | None, *, fetch: bool = True) -> DataStore:
    """Returns the store of data sets.

    Raises:
        UserError: `--data` names no folder.
    """
    if data is not None and not data.is_dir():
        raise UserError(f"expected a folder with data files at --data (TRIATHLON_DATA), got {str(data)!r}")
    return DataStore(cache=cache_folder() / "data", folder=data, fetch=fetch)


def results_folder(path: Path) -> ResultsFolder:
    """Returns the results folder, after checking that it can be written.

    Raises:
        UserError: it cannot.
    """
    folder = ResultsFolder(path)
    folder.check_writable()
    return folder
