"""The commands of the site, added to the runner's: `triathlon build`, `serve`, `scores`.

The site itself is imported inside them: numpy, pandas, scipy and plotly take more than a second, and the
commands of the runner, `triathlon --help` and `triathlon --version` need none of it.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from triathlon_runner import models_yaml
from triathlon_runner.catalogue import Catalogue, read_catalogue
from triathlon_runner.cli import (
    Chosen,
    Models,
    ModelsFile,
    Results,
    Suites,
    add_commands,
    app,
    examples,
    names,
    one_of,
)
from triathlon_runner.errors import UserError
from triathlon_runner.terminal import console, counted, print_error, table, write
from triathlon_site.cli_options import PANEL, Docs, Out, Url

if TYPE_CHECKING:
    from triathlon_site.pages import Gathered
    from triathlon_site.scores import Board

_Row = dict[str, Any]
_WIDE: Final = 110
"""Columns of a window that has room for the intervals of ranks, tasks, and open units where there are 0."""
_NAME_WIDTH: Final = 28
_TITLE_WIDTH: Final = 12


def add_wanted_commands() -> None:
    """Adds the runner's commands to the site's, for which a command of the site does not wait."""
    own = {command.name for command in app.registered_commands}
    if own.isdisjoint(sys.argv[1:2]):
        add_commands()


@app.command(
    "build",
    rich_help_panel=PANEL,
    epilog=examples("triathlon build", "triathlon build --strict --out public"),
)
def build_command(
    models_file: ModelsFile = None,
    results: Results = Path("results"),
    out: Out = Path("_site"),
    strict: Annotated[
        bool,
        typer.Option("--strict", help="A fault in the results, or no results, ends the build (exit code 2)."),
    ] = False,
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="Record this state in history.json, so that later builds say what changed since.",
        ),
    ] = False,
    url: Url = "",
    docs: Docs = "",
    as_of: Annotated[
        str,
        typer.Option(
            "--as-of",
            help="The day that decides which models can be used, such as 2026-11-26; left out: the newest"
            " day in results/published/models-info.csv and the results.",
        ),
    ] = "",
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache", help="Read every results file, also where neither its size nor its time changed."
        ),
    ] = False,
) -> None:
    """Writes the site from the results. A build that fails leaves the old site as it was."""
    from triathlon_site.build import Options, build, cache_folder, in_words  # noqa: PLC0415  see above

    report = build(
        results,
        out,
        models_yaml.load(models_file, needed=False),
        Options(strict, history, url, docs, as_of),
        known=read_catalogue(models_file),
        cache=None if no_cache else cache_folder(),
    )
    screen = console()
    for line in in_words(results, report.notices):
        screen.print_message(f"warning: {line}")
    if not report.units and report.imported_units:
        screen.print_message(
            f"all {counted(report.imported_units, 'unit')} are imported: they stand on"
            f" {out / 'imported.html'}, without ranks; `triathlon run` measures"
        )
    elif not report.units:
        screen.print_message(
            "warning: there are no results yet: the site says so; `triathlon run` makes some"
        )
    models = counted(report.models, "model")
    write(f"{report.pages} files for {models} in {report.seconds:.1f} s: {out / 'index.html'}")


@app.command(
    "serve",
    rich_help_panel=PANEL,
    epilog=examples("triathlon serve", "triathlon serve --port 0"),
)
def serve_command(
    out: Out = Path("_site"),
    port: Annotated[int, typer.Option("--port", help="0 takes any free port.", min=0, max=65535)] = 8000,
) -> None:
    """Shows the site on this machine only (loopback), until Ctrl-C."""
    from triathlon_site.serve import serve  # noqa: PLC0415  see above

    serve(out, port, started=lambda address: write(f"{address}  (Ctrl-C stops)"))


@app.command(
    "scores",
    rich_help_panel=PANEL,
    epilog=examples("triathlon scores", "triathlon scores --models my-model --suites loop/core --json"),
)
def scores_command(
    models: Models = None,
    suites: Suites = None,
    models_file: ModelsFile = None,
    results: Results = Path("results"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document instead of tables.")] = False,
) -> None:
    """Every model, suite and metric with interval, tasks and open units: the numbers of the site.

    Ranks are among all models, whichever are shown. Imported results stand apart and have none.
    A column of several suites is shown where --suites names all of them.
    Variants (SUITE@VARIANT) stand on the site alone, below the board of their suite.
    """
    from triathlon_site.build import cache_folder, gather, in_words  # noqa: PLC0415  see above
    from triathlon_site.exports import imported_records, noise_records, records, score_frame  # noqa: PLC0415  see above

    listed, known = models_yaml.load(models_file, needed=False), read_catalogue(models_file)
    gathered = gather(results, listed, known=known, cache=cache_folder())
    for line in in_words(results, notices := gathered.results.notices):
        print_error(f"warning: {line}")
    wanted = _wanted(models, suites, listed, known, gathered)
    rows = records(score_frame(gathered.boards, gathered.models))
    imported = imported_records(gathered.imported, gathered.models)
    if every := [*rows, *imported]:
        wanted.check((row["model"] for row in every), (suite for row in every for suite in row["suites"]))
    rows, imported = (
        [row for row in group if wanted.includes(row["model"], row["suites"])] for group in (rows, imported)
    )
    if as_json:
        noise = noise_records(gathered.results.files, known)
        noise = [record for record in noise if wanted.includes(record["model"], [record["suite"]])]
        said = [notice.model_dump() for notice in notices]
        document = {"schema": 1, "scores": rows, "imported": imported, "noise": noise, "notices": said}
        console().print_json(data=document)
    else:
        _print_tables(gathered, rows, imported)


def _export_formats(incomplete: str) -> list[str]:
    """Returns names of formats, for the shell."""
    from triathlon_site.exchange import EXPORTS  # noqa: PLC0415  see above

    return one_of(EXPORTS)(incomplete)


@app.command(
    "export",
    rich_help_panel=PANEL,
    epilog=examples(
        "triathlon export every-eval-ever --out exported",
        "triathlon export evalplus --models my-model --suites evolved/core-seeds --out samples",
    ),
)
def export_command(
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="every-eval-ever, hf-eval-results, evalplus or inspect.",
            autocompletion=_export_formats,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="A new or empty folder for the files.")],
    models: Models = None,
    suites: Suites = None,
    models_file: ModelsFile = None,
    results: Results = Path("results"),
    url: Annotated[
        str,
        typer.Option(
            "--url",
            help="Where the site is published: the source of what was measured here, in hf-eval-results.",
            envvar="TRIATHLON_URL",
        ),
    ] = "",
) -> None:
    """Writes results in another program's format.

    Texts of models are in it only where they were asked for here: recorded results have none.
    """
    from triathlon_site.build import cache_folder, checked_url, gather  # noqa: PLC0415  see above
    from triathlon_site.exchange import sources_of, write_export  # noqa: PLC0415  see above

    listed, known = models_yaml.load(models_file, needed=False), read_catalogue(models_file)
    address = checked_url(url)
    gathered = gather(results, listed, known=known, cache=cache_folder())
    wanted = _wanted(models, suites, listed, known, gathered)
    files, boards = gathered.results.files, gathered.boards
    sources = sources_of(files, boards, gathered.models, results, wanted, known=known, url=address)
    done = write_export(form, sources, out)
    screen = console()
    for why, count in Counter(done.left_out.values()).items():
        screen.print_message(f"left out {counted(count, 'results file')}: {why}")
    if not done.sources:
        raise UserError(f"nothing was written: no results fit the format {form!r}; the reasons stand above")
    write(f"{counted(done.files, 'file')} of {counted(done.sources, 'results file')}: {out}")


def _wanted(
    models: str | None,
    suites: str | None,
    listed: models_yaml.Registry,
    known: Catalogue,
    gathered: "Gathered",
) -> Chosen:
    """What `--models` and `--suites` choose; a model whose files are empty is known, too."""
    imported = (model for board in gathered.imported for model in board.models)
    ids = {*listed.ids, *(file.model for file in gathered.results.files), *imported}
    return Chosen(names(models), names(suites), ids, known.ids)


def _print_tables(gathered: "Gathered", rows: list[_Row], imported: list[_Row]) -> None:
    screen = console()
    narrow = screen.width < _WIDE
    if gathered.units and not gathered.boards:
        suites = ", ".join(sorted({file.suite for file in gathered.results.files}))
        raise UserError(
            f"no results to show: expected those of a suite itself, got those of variants alone ({suites});"
            " run the suite, too: its id ends before the `@`"
        )
    if not rows and not imported:
        raise UserError(
            "no results to show; run `triathlon run` first, or name their folder with --results, or other"
            " --models and --suites"
        )
    for board in gathered.boards:
        has_open = any(row["open_units"] for row in rows if row["board"] == board.plan.id)
        counts = ("open",) * has_open if narrow else ("tasks", "open")
        _print_board(board, rows, ("rank", *counts), "")
    for board in gathered.imported:
        _print_board(board, imported, ("tasks",), "imported: ")
    if any(row["open_units"] for row in rows):
        screen.print_message(
            "A score with open units leaves them out, and has no rank until they are there: `triathlon run`"
            " asks for them."
        )
    if narrow:
        screen.print_message(
            f"Left out at {screen.width} columns: tasks, open units where a table has none, and the intervals"
            f" of ranks. See them in a window of {_WIDE} columns or more, in a pipe, or with --json."
        )


def _print_board(board: "Board", rows: list[_Row], counts: Sequence[str], prefix: str) -> None:
    """Prints the rows of one board, if there are any; `counts`: the columns behind the interval."""
    screen = console()
    narrow = screen.width < _WIDE
    rows = [row for row in rows if row["board"] == board.plan.id]
    if not rows:
        return
    numbers = ("score", "95 %", *counts)
    shown = table("model", "column", *numbers, right=numbers, whole=numbers)
    shown.title, shown.title_justify = f"{prefix}{board.plan.discipline}, {board.plan.title}", "left"
    shown.columns[0].max_width = _NAME_WIDTH if narrow else None
    shown.columns[1].min_width = _TITLE_WIDTH
    for row in rows:
        whole = f" of {row['tasks_in_suite']}" if row.get("tasks_in_suite") else ""  # of an imported score
        cells = {"rank": "–", "tasks": f"{row['tasks']}{whole}", "open": str(row["open_units"])}
        if row["rank"] is not None:  # a column that is not ranked has a dash: a rank would say nothing
            ends = "" if narrow else f" ({row['rank_low']}–{row['rank_high']})"
            cells["rank"] = f"{'=' if row['tied'] else ''}{row['rank']}{ends}"
        score = f"{row['score']:.4g}"
        if row["score_upper"] is not None and f"{row['score_upper']:.4g}" != score:
            score += f"–{row['score_upper']:.4g}"  # only known to lie between the two
        interval = f"{row['low']:.4g}–{row['high']:.4g}"
        shown.add_row(row["model"], row["title"], score, interval, *(cells[name] for name in counts))
    screen.print(shown)
