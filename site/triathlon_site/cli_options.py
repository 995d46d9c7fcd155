"""Options that several commands of the site share, and what they name."""

from pathlib import Path
from typing import Annotated, Final

import typer

from triathlon_runner import models_yaml
from triathlon_runner.catalogue import Catalogue, read_catalogue, suites_file_beside

ModelsFile = Annotated[
    Path | None,
    typer.Option(
        "--models-file",
        help="The list of models; left out: models.yaml, where there is one.",
        envvar="TRIATHLON_MODELS",
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Folder of the site.")]
PANEL: Final = "Commands of the site"


def load_models(path: Path | None) -> models_yaml.Registry | None:
    """models.yaml; without the option and without the file, models are shown by their ids alone."""
    if path is None and not Path("models.yaml").exists():
        return None
    return models_yaml.load(path or Path("models.yaml"))


def known_suites(models_file: Path | None) -> Catalogue:
    """The built-in suites, and those of a suites.yaml beside the list of models."""
    return read_catalogue(suites_file_beside(models_file))
