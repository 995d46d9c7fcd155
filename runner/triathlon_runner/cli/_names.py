"""Options that commands of the runner and of the site share; `--models` and `--suites` complete in the shell.

Completion imports what it needs inside its functions, so that the site's commands start without it.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner.errors import UserError


def complete_models(ctx: typer.Context, incomplete: str) -> list[str]:
    """Returns ids of models.yaml, for the shell; none where that cannot be read."""
    from triathlon_runner import models_yaml  # noqa: PLC0415  see above

    try:
        return _completed(incomplete, (row.id for row in models_yaml.load(_models_file(ctx)).models))
    except UserError:
        return []


def complete_suites(ctx: typer.Context, incomplete: str) -> list[str]:
    """Returns ids of suites, for the shell; none where suites.yaml cannot be read.

    Variants are left out: bash begins a new word at their `@`.
    """
    from triathlon_runner.catalogue import read_catalogue  # noqa: PLC0415  see above
    from triathlon_runner.suites_yaml import suites_file_beside  # noqa: PLC0415  see above

    try:
        entries = read_catalogue(suites_file_beside(_models_file(ctx))).entries()
    except UserError:
        return []
    return _completed(incomplete, (entry.id for entry in entries if entry.variant_of is None))


def _models_file(ctx: typer.Context) -> Path:
    return Path(ctx.params.get("models_file") or "models.yaml")


def _completed(incomplete: str, ids: Iterable[str]) -> list[str]:
    """Completes the last id of a list: `a,lo` to `a,loop/core`; ids before it are not offered again."""
    complete, comma, last = incomplete.rpartition(",")
    listed = complete.split(",")
    return [complete + comma + name for name in ids if name.startswith(last) and name not in listed]


def one_of(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Returns what completes one of these names, for the shell."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


_HELP = "Ids, separated by commas; left out: all."
Models = Annotated[str | None, typer.Option(help=_HELP, autocompletion=complete_models)]
Suites = Annotated[str | None, typer.Option(help=_HELP, autocompletion=complete_suites)]
ModelsFile = Annotated[
    Path, typer.Option("--models-file", help="The list of models.", envvar="TRIATHLON_MODELS")
]
Results = Annotated[Path, typer.Option("--results", help="Folder of results.", envvar="TRIATHLON_RESULTS")]
Data = Annotated[
    Path | None, typer.Option("--data", help="Folder with official data files.", envvar="TRIATHLON_DATA")
]
Budget = Annotated[float | None, typer.Option(min=0, help="USD; once they are spent, no request is sent.")]


def names(text: str | None) -> list[str] | None:
    """Returns the names in `a,b`; None, which stands for all, for None.

    Raises:
        UserError: the text has no name.
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UserError(
            f"expected names separated by commas, such as a,b, got {text!r}; leave it out for all"
        )
    return parts
