"""`--models` and `--suites`: ids separated by commas, which the shell completes.

What completion reads is imported in it: the commands of the site do not wait for the runner's.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner.errors import UserError


def complete_models(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids of models.yaml, for the shell; nothing where that cannot be read."""
    from triathlon_runner import registry  # noqa: PLC0415  see above

    try:
        return _completed(incomplete, (row.id for row in registry.load(_models_file(ctx)).models))
    except UserError:
        return []


def complete_suites(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids of suites, for the shell; nothing where suites.yaml cannot be read.

    Variants are left out: bash begins a new word at their `@`.
    """
    from triathlon_runner.catalogue import read_catalogue  # noqa: PLC0415  see above
    from triathlon_runner.suites_file import suites_file_beside  # noqa: PLC0415  see above

    try:
        entries = read_catalogue(suites_file_beside(_models_file(ctx))).entries()
    except UserError:
        return []
    return _completed(incomplete, (entry.id for entry in entries if entry.variant_of is None))


def _models_file(ctx: typer.Context) -> Path:
    return Path(ctx.params.get("models_file") or "models.yaml")


def _completed(incomplete: str, ids: Iterable[str]) -> list[str]:
    """`a,lo` becomes `a,loop/core`; an id that the list has already is left out."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in ids if name.startswith(last) and name not in before.split(",")]


_HELP = "Ids, separated by commas; left out: all."
Models = Annotated[str | None, typer.Option(help=_HELP, autocompletion=complete_models)]
Suites = Annotated[str | None, typer.Option(help=_HELP, autocompletion=complete_suites)]


def names(text: str | None) -> list[str] | None:
    """`a,b` as a list; None stands for all.

    Raises:
        UserError: there is no name in it.
    """
    if text is None:
        return None
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise UserError(
            f"expected names separated by commas, such as a,b, got {text!r}; leave it out for all"
        )
    return found
