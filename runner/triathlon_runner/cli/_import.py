"""`triathlon import`: other people's logs become records, judged by us."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from triathlon_runner import catalogue
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._bounds import say
from triathlon_runner.cli._options import Common, Data, Results, cache_folder, console, data_store
from triathlon_runner.datasets import DataStore
from triathlon_runner.endpoints import ApiConfig
from triathlon_runner.errors import UserError
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.imports import FORMATS, Format, ImportReport, import_log, settings_of
from triathlon_runner.registry import ModelRow, check_names
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import PROFILES, Work, build_suite
from triathlon_runner.screen import counted
from triathlon_runner.store import ResultsFolder

_SHOWN = 10


_FORMATS = "Formats: " + "; ".join(f"{name} ({one.about})" for name, one in FORMATS.items())


@app.command(
    "import",
    epilog=_FORMATS
    + "\n\n"
    + examples(
        "triathlon import evaloop page.json --suite loop/mbpp-plus --model gpt-x",
        "triathlon import evalplus samples.jsonl --suite evolved/humaneval-plus --model gpt-x",
    ),
)
def import_command(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help=", ".join(FORMATS) + ".")],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The log; for reval its folder.")],
    suite: Annotated[str, typer.Option(help="The suite that the log is about.")],
    model: Annotated[str, typer.Option(help="Id to file it under, as in models.yaml.")],
    kind: Annotated[Literal["instruct", "base"], typer.Option(help="How the model was asked.")] = "instruct",
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Judges the programs and answers of a log and writes them to results/imported/, kept apart.

    Exit code 0: all was imported; 1: some was left out, with the reason; 2: something is for you to mend.
    """
    check_names([form], list(FORMATS), what="format")
    if not path.exists():
        raise UserError(f"expected {FORMATS[form].about} at {str(path)!r}, there is nothing")
    nowhere = ApiConfig(base_url="http://localhost/v1", model=model)
    try:
        row = ModelRow(id=model, name=model, kind=kind, api=nowhere)
    except ValidationError:
        raise UserError(
            f"expected --model as an id of lower-case letters, digits, '.', '_' and '-', got {model!r}"
        ) from None
    report = asyncio.run(_import(FORMATS[form], path, suite, row, ResultsFolder(results), data_store(data)))
    screen = console()
    outcomes = ", ".join(f"{count} {name}" for name, count in report.outcomes.most_common())
    imported = f"{counted(report.units, 'unit')} imported into {report.lines}: {outcomes}"
    say(screen, imported if report.units else "nothing was imported")
    if FORMATS[form].note:
        say(screen, f"note: {FORMATS[form].note}")
    for name, why in list(report.left_out.items())[:_SHOWN]:
        say(screen, f"left out {name}: {why}")
    if len(report.left_out) > _SHOWN:
        say(screen, f"and {len(report.left_out) - _SHOWN} more")
    for why, count in Counter(report.left_out.values()).most_common() if len(report.left_out) > 1 else ():
        say(screen, f"{count} × {why}")
    if report.left_out:
        whole = report.units + len(report.left_out)
        say(screen, f"{len(report.left_out)} of {counted(whole, 'unit')} left out, as listed above")
    raise typer.Exit(1 if report.left_out else 0)


async def _import(
    form: Format, path: Path, suite: str, row: ModelRow, results: ResultsFolder, data: DataStore
) -> ImportReport:
    (entry,) = catalogue.select([suite])
    async with AsyncExitStack() as stack:
        grader = ProgramGrader(await stack.enter_async_context(open_sandbox()), cache_folder() / "keys")
        built = await build_suite(entry, data, grader, PROFILES["standard"])
        return await import_log(form, path, Work(row, built, settings_of(form, path)), results, grader)
