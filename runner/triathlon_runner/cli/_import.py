"""`triathlon import`: other people's logs become records, graded by us."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import ValidationError
from typer import Argument, Option

from triathlon_runner import imports
from triathlon_runner.catalogue import read_catalogue
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import data_store, kept_verdicts, with_grader
from triathlon_runner.errors import UserError
from triathlon_runner.grading import CachingGrader, Grader
from triathlon_runner.llm import ModelKind
from triathlon_runner.models_yaml import ModelRow, check_names, row_without_server
from triathlon_runner.schedule import Wanted, build_suite
from triathlon_runner.store import ResultsFolder
from triathlon_runner.terminal import Screen, console, counted, first_of, progress_lines

_SHOWN = 10
"""Units left out that are named; all are counted."""
_ABOUT = {name: log_format.about for name, log_format in imports.FORMATS.items()} | imports.REPORTED
_FORMATS = "Formats: " + "; ".join(f"{name} ({about})" for name, about in _ABOUT.items())


class _Log(NamedTuple):
    path: Path
    row: ModelRow
    """The model whose replies it holds."""
    suite: str | None
    """The suite that the file's name stands for; None where it stands for none."""


@cli.command(
    "triathlon import evaloop page.json --suite loop/mbpp-plus --model gpt-x",
    "triathlon import evalplus samples.jsonl --suite evolved/humaneval-plus --model gpt-x",
    "triathlon import evaloop recordings/ --recorded evalooop",
    "triathlon import livecodebench eval_all.json",
    name="import",
    about=_FORMATS + "\n\n",
)
def import_command(
    format_name: Annotated[
        str, Argument(metavar="FORMAT", help=", ".join(_ABOUT) + ".", autocompletion=cli.one_of(_ABOUT))
    ],
    paths: Annotated[list[Path], Argument(metavar="FILE…", help="Logs, or folders of them.")],
    suite: Annotated[str | None, Option(help="The suite that the log is about.")] = None,
    model: Annotated[
        str | None, Option(help="Id to file it under; left out: as the log or its file is named.")
    ] = None,
    kind: Annotated[ModelKind, Option(help="How the model was asked.")] = "instruct",
    recorded: Annotated[
        str | None, Option(metavar="SOURCE", help="File outcomes alone, in results/recorded/SOURCE/.")
    ] = None,
    log_filter: Annotated[
        str | None, Option("--filter", metavar="NAME", help="Of a log with several filters; else the first.")
    ] = None,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
) -> None:
    """Grades the programs and answers of logs and writes them to results/imported/, kept apart.

    --recorded SOURCE files outcomes without texts, with a receipt, in place of what was filed before.
    SOURCE stands in results/recorded/sources.yaml, which names its suites.
    Verdicts are kept in the cache, so that the same call goes on where one was stopped.
    LiveCodeBench's outputs cannot be graded here: their pass@1 is printed, and nothing is written.

    Exit code 0: all was imported; 1: some was left out, with the reason; 2: something is for you to fix.
    """
    check_names([format_name], list(_ABOUT), what="format")
    if format_name in imports.REPORTED:
        if suite or model or recorded or log_filter:
            raise UserError(
                f"{format_name}: expected the files alone, because their figures are only printed; leave"
                " --suite, --model, --recorded and --filter out"
            )
        for path in paths:
            _show_reported(imports.read_livecodebench(path), path)
        return
    log_format = imports.with_filter(imports.FORMATS[format_name], log_filter)
    source = imports.read_source(results, recorded) if recorded is not None else None
    logs = _logs(log_format, imports.logs_at(log_format, paths), model, kind, source)
    if suite is None and source is None:
        raise UserError("expected --suite, the suite that the log is about; see `triathlon suites`")
    entries = read_catalogue().select(source.suites if source and suite is None else cli.names(suite))
    folder, store, screen = ResultsFolder(results), data_store(data), console()

    async def import_all(grader: Grader) -> int:
        left_out = 0
        for entry in entries:  # one after another: a suite's data can be large
            caching = CachingGrader(grader, kept_verdicts(entry.id))
            built = await build_suite(entry, store, grader, Wanted())
            for log in (log for log in logs if log.suite in {None, entry.id}):
                show = progress_lines(f"triathlon import: {log.row.id} {entry.id}", "unit")
                job = imports.Import(log_format, log.path, log.row, built, folder, caching, show, source)
                report = await imports.import_log(job)
                _show(report, log.path, screen)
                left_out += len(report.left_out)
        return left_out

    left_out = with_grader(import_all)
    if log_format.note:
        screen.print_message(f"note: {log_format.note}")
    raise typer.Exit(1 if left_out else 0)


def _show_reported(outputs: imports.GradedOutputs, path: Path) -> None:
    about = f"{counted(outputs.questions, 'question')}, {counted(outputs.samples, 'sample')}"
    if outputs.first_contest:
        about += f", contests from {outputs.first_contest} to {outputs.last_contest}"
    console().print_message(
        f"{path.name}: pass@1 {outputs.pass_at_1:.6g} % ({about}) by the file's verdicts; its programs' tests"
        " are not here, so nothing was graded. A table in results/published/ shows such a figure as reported"
    )


def _logs(
    log_format: imports.Format,
    paths: Sequence[Path],
    model: str | None,
    kind: ModelKind,
    source: imports.Source | None,
) -> list[_Log]:
    """Returns each log with the model that it or its file's name names, or --model; refuses two of one.

    Where it is filed as recorded, its name may name the suite, too; an import goes to the command's suite.
    """
    names = ", ".join(first_of([path.name for path in paths], _SHOWN))
    if model is not None and len(paths) > 1:
        raise UserError(
            f"expected one log with --model, got {len(paths)} ({names}); name one of them, or leave"
            " --model out: each is filed under its name"
        )
    logs: dict[tuple[str, str | None], _Log] = {}
    for path in paths:
        of_source = imports.cruxeval_model_and_suite(path) if source else None
        name, suite = of_source or (model or imports.model_of(log_format, path), None)
        model_id = model or (source.models.get(name, name) if source is not None else name)
        try:
            log = _Log(path, row_without_server(model_id, kind), suite)
        except ValidationError:
            raise UserError(
                "expected --model (or a file's name) as an id of lower-case letters, digits, '.', '_' and"
                f" '-', got {model_id!r}"
            ) from None
        before = logs.setdefault((model_id, suite), log)
        if before is not log:
            raise UserError(
                f"expected one log a model, got {before.path.name} and {path.name} of {model_id!r}; name one"
                " of them"
            )
    return list(logs.values())


def _show(report: imports.ImportReport, log: Path, screen: Screen) -> None:
    if report.units:
        outcomes = ", ".join(f"{count} {name}" for name, count in report.outcomes.most_common())
        units = counted(report.units, "unit")
        screen.print_message(
            f"{units} of {log.name} imported into {report.lines}: {outcomes}"
            if report.written
            else f"nothing was written to {report.lines}: call again for what could not be graded"
        )
        score = f"{report.score} over " if report.score else ""
        rest = report.tasks_in_suite - report.tasks
        missing = f": {rest} have no graded sample" if rest else ""
        screen.print_message(f"{score}{report.tasks} of {counted(report.tasks_in_suite, 'task')}{missing}")
    else:
        screen.print_message("nothing was imported")
    if report.status:
        screen.print_message(f"the log says of itself: {report.status}")
    if report.agreement.compared:
        screen.print_message(f"the log's own verdicts: {report.agreement}")
    for line in first_of([f"left out {name}: {why}" for name, why in report.left_out.items()], _SHOWN):
        screen.print_message(line)
    for why, count in Counter(report.left_out.values()).most_common():
        if count > 1:
            screen.print_message(f"{count} × {why}")
    if report.left_out:
        whole = report.units + len(report.left_out)
        screen.print_message(f"{len(report.left_out)} of {counted(whole, 'unit')} left out, as listed above")
