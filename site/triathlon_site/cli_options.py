"""Options that several commands of the site share."""

from pathlib import Path
from typing import Annotated, Final

import typer

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
