"""Options that several commands of the site share, and what they name."""

from pathlib import Path
from typing import Annotated, Final

import typer

from triathlon_runner import models_yaml

ModelsFile = Annotated[
    Path | None,
    typer.Option(
        "--models-file",
        help="The list of models; left out: models.yaml, where there is one.",
        envvar="TRIATHLON_MODELS",
    ),
]
Url = Annotated[
    str,
    typer.Option(
        "--url",
        help="Where the site will be published, for the addresses in its feed, its badges and the page that a"
        " host shows for an address which leads nowhere.",
        envvar="TRIATHLON_URL",
    ),
]
Docs = Annotated[
    str,
    typer.Option(
        "--docs",
        help="Where the docs of `make docs` will be, seen from the front page, such as docs/index.html:"
        " every page then links to them.",
        envvar="TRIATHLON_DOCS",
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Folder of the site.")]
PANEL: Final = "Commands of the site"


def load_models(path: Path | None) -> models_yaml.Registry:
    """models.yaml; without the option and without the file, models are shown by their ids alone."""
    return models_yaml.load(path or Path("models.yaml"), missing_ok=path is None)
