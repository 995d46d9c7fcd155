"""Options that several commands of the site share, and what they name and choose."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from triathlon_runner.models_yaml import check_have_results

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


@dataclass(frozen=True)
class Wanted:
    """The models and suites that were named; None means all."""

    models: Sequence[str] | None = None
    suites: Sequence[str] | None = None
    known_models: Collection[str] = ()
    """Ids of models.yaml, with results or without."""
    known_suites: Collection[str] = ()
    """Ids of all suites, with results or without."""

    def check(self, models: Iterable[str], suites: Iterable[str]) -> None:
        """Compares what was named with the models and suites that have results.

        Raises:
            UserError: naming all that have none.
        """
        check_have_results(
            self.models or (), sorted(set(models)), what="model", is_known=self.known_models.__contains__
        )
        check_have_results(
            self.suites or (), sorted(set(suites)), what="suite", is_known=self.known_suites.__contains__
        )

    def includes(self, model: str, suites: Collection[str]) -> bool:
        """Whether a model's numbers on these suites are wanted: on all of them."""
        return (self.models is None or model in self.models) and (
            self.suites is None or set(suites) <= set(self.suites)
        )
