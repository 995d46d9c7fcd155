"""What `triathlon gate` may be told, and what of it is checked before anything is read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner.cli._names import complete_models, complete_suites
from triathlon_runner.errors import UserError

Baseline = Annotated[
    str, typer.Option(help="Id of the model to compare with.", autocompletion=complete_models)
]
Candidate = Annotated[
    str, typer.Option(help="Id of the model that may be worse.", autocompletion=complete_models)
]
Suites = Annotated[
    str | None,
    typer.Option(
        help="Ids, separated by commas; left out: the core suites of the profile quick.",
        autocompletion=complete_suites,
    ),
]
Alpha = Annotated[float, typer.Option(help="Probability of a wrong verdict, above 0 and below 1.")]
Margin = Annotated[
    float,
    typer.Option(help="How much lower the candidate's mean score may be, 0 to 1: 0.02 is two points of 100."),
]
Seed = Annotated[int, typer.Option(help="Of the random order of tasks.")]
MaxTasks = Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each model.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document; progress goes to standard error.")]
SiteUrl = Annotated[
    str | None,
    typer.Option(
        "--site-url",
        help="Where the site is published, for links to the tasks that were lost; left out: _site/.",
        envvar="TRIATHLON_URL",
    ),
]
MarkdownFile = Annotated[Path | None, typer.Option("--markdown", help="File that gets the report, too.")]


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What is compared, and how strictly."""

    models: tuple[str, str]
    alpha: float
    margin: float
    seed: int
    max_tasks: int | None
    site_url: str | None = None

    def check(self, markdown: Path | None) -> None:
        """Before anything is read.

        Raises:
            UserError: one model against itself, a number that is out of range, a file in no folder.
        """
        baseline, candidate = self.models
        if baseline == candidate:
            raise UserError(f"expected two models at --baseline and --candidate, got {baseline!r} twice")
        if not 0 < self.alpha < 1:
            raise UserError(f"expected --alpha above 0 and below 1, such as 0.05, got {self.alpha!r}")
        if not 0 <= self.margin < 1:
            raise UserError(f"expected --margin from 0 to below 1, such as 0.02, got {self.margin!r}")
        if self.site_url and not self.site_url.startswith(("https://", "http://")):
            raise UserError(
                "expected --site-url (TRIATHLON_URL) as the site's web address, such as"
                f" 'https://example.org/board/', got {self.site_url!r}; leave it out for links to _site/"
            )
        if markdown is not None and not markdown.parent.is_dir():
            raise UserError(
                f"expected --markdown in a folder that exists, got {str(markdown)!r}; make it first"
            )
