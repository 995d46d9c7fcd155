"""`triathlon reproduce`: a paper's suites, prompts, repeats and truths; its tables beside ours."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triathlon_runner import models_yaml
from triathlon_runner.cli import (
    MOST_SAMPLES,
    Budget,
    Data,
    Models,
    ModelsFile,
    Results,
    app,
    ask_models,
    examples,
    missing_here,
    names,
)
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import check_names
from triathlon_runner.terminal import Screen, console, table, write
from triathlon_site.cli import build_command
from triathlon_site.cli_options import PANEL, Docs, Out, Url
from triathlon_site.reproduction_plan import PAPERS, Paper, PaperName

if TYPE_CHECKING:
    from triathlon_runner.schedule import Missing


@app.command(
    "reproduce",
    rich_help_panel=PANEL,
    epilog=examples(
        "triathlon reproduce evaloop --models my-model --dry-run",
        "triathlon reproduce reval --models my-model --samples 1 --data official",
        "triathlon reproduce evoeval --models my-model --tables evoeval --limit 20",
    ),
)
def reproduce_command(
    paper: Annotated[PaperName, typer.Argument(help="Whose tables.")],
    models: Models = None,
    tables: Annotated[
        str | None,
        typer.Option(help="Only these tables, by name as --dry-run lists them; left out: all of the paper."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each suite.")] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, max=MOST_SAMPLES, help="Samples a task; left out: the paper's.")
    ] = None,
    budget: Budget = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would take and what is missing, ask nothing.")
    ] = False,
    partly: Annotated[
        bool, typer.Option("--partly", help="Run what can run here, without what is missing.")
    ] = False,
    models_file: ModelsFile = None,
    results: Results = Path("results"),
    data: Data = None,
    out: Out = Path("_site"),
    url: Url = "",
    docs: Docs = "",
) -> None:
    """Runs a paper's own protocol and sets its tables beside what comes out, cell by cell.

    Says first what it takes and what is missing here: data, judge, libraries, languages.
    Goes on where an earlier run stopped. A model is compared with the row that has its name.

    Exit codes as of `triathlon run`.
    """
    screen, chosen = console(), PAPERS[paper]
    if (wanted := names(tables)) is not None:
        check_names(wanted, list(chosen.titles), what=f"table of {chosen.title}")
        chosen = chosen.of_tables(wanted)
    folder = results / "published"
    if not (folder / "sources.csv").is_file():
        raise UserError(
            f"expected the published tables in {str(folder)!r}, got none; name a results folder that has them"
            " with --results, such as that of a checkout, or copy its folder `published` there"
        )
    listed = models_yaml.load(models_file)
    missing = missing_here(chosen.suites, data)
    say_plan(chosen, missing, listed, screen)
    if missing and not (partly or dry_run):
        raise UserError(
            f"expected all that the tables of {chosen.title} need, missing is what stands above; get it,"
            " leave it out with --partly, or choose other --tables"
        )
    suites = [suite for suite in chosen.suites if suite not in missing or missing[suite].runs]
    if not suites:
        raise UserError(f"nothing of {chosen.title} can run here: what is missing stands above")
    code = ask_models(
        models=models,
        suites=",".join(suites),
        profile="full",
        limit=limit,
        samples=samples,
        dry_run=dry_run,
        estimates=True,
        budget=budget,
        models_file=models_file,
        results=results,
        data=data,
    )
    if not dry_run:
        from triathlon_site.pages.reproduced import reproduced_page  # noqa: PLC0415  see `cli`

        build_command(models_file, results, out, url=url, docs=docs)
        page = out / reproduced_page(paper)
        write(f"{page}" if page.exists() else f"no results for a page of {chosen.title} yet")
    raise typer.Exit(code)


def say_plan(
    paper: Paper, missing: Mapping[str, "Missing"], listed: models_yaml.Registry, screen: Screen
) -> None:
    """Prints each table with its suites, what cannot be as in the paper, and what is missing here."""
    shown = table("table", "what", "suites", whole=["table"])
    for name, title in paper.titles.items():
        shown.add_row(name, title, _together(paper.of_tables([name]).suites))
    screen.print(shown)
    for note in paper.notes:
        screen.print_message(f"note: {note}")
    for what in dict.fromkeys(lacks.what for lacks in missing.values()):
        suites = [suite for suite, lacks in missing.items() if lacks.what == what]
        screen.print_message(f"missing: {_together(suites)}: {what}")
    if listed.judge is None and any(suite.startswith("loop/") for suite in paper.suites):
        screen.print_message(
            "missing: a judge: the list of models has no `judge:`, so that ASL is a range (docs/running.md)"
        )


def _together(suites: list[str]) -> str:
    """`loop/mbpp-plus, @attack-upper`: a variant behind its suite without repeating that."""
    plain = suites[0].partition("@")[0]
    variants = (suite.removeprefix(plain) if suite.startswith(f"{plain}@") else suite for suite in suites[1:])
    return ", ".join((suites[0], *variants))
