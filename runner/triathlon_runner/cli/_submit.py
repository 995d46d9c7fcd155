"""`triathlon submit`: whether results may join the committed ones of a board."""

import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import catalogue, models_yaml, submit
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import built_suite, data_store, with_grader
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.schedule import BuiltSuite
from triathlon_runner.store import replace_file
from triathlon_runner.terminal import Screen, console, first_of, table, write

submit_app = cli.group_of_commands(
    "submit",
    "Results that are handed in: may they join the committed ones?",
    "triathlon submit check results/runs/my-model",
)


@cli.command(
    "triathlon submit check results/runs/my-model",
    "triathlon submit check results/runs/my-model --markdown report.md",
    group=submit_app,
    name="check",
)
def check_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The model's folder: results/runs/MODEL.")],
    markdown: Annotated[
        Path | None, typer.Option(help="File for the report as Markdown, for a pull request; - prints it.")
    ] = None,
    statement_file: Annotated[
        Path | None,
        typer.Option(
            "--statement",
            help="File for the result as an in-toto statement, unsigned; a board reads DIR/verified.json.",
        ),
    ] = None,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    data: cli.Data = None,
    as_json: cli.AsJson = False,
) -> None:
    """Checks what a pull request with results needs: format, protocol, data, no keys; grades all again.

    Exit code 0: it can be taken; 1: something is against it; 2: something is for you to fix.
    """
    printed = markdown == Path("-")
    if printed and as_json:
        raise UserError("expected --json or --markdown -, got both: one document is printed; name a file")
    submission, problems = submit.submission_at(folder)
    screen = Screen(stderr=True) if as_json or printed else console()
    store = data_store(data)

    async def check_all(grader: Grader) -> list[submit.FileCheck]:
        def build(suite: str) -> Awaitable[BuiltSuite | str]:
            return built_suite(catalogue.BUILT_IN, store, suite, grader)

        say = screen.print_message
        return [
            await submit.check_suite(submission, suite, build, grader, say) for suite in submission.suites
        ]

    checks = with_grader(check_all) if submission.suites else []
    own_statement = submission.folder.verified(submission.model)
    if submission.suites and own_statement.absolute() != (statement_file or folder).absolute():
        problems += submit.check_statement(submission, checks)
    has_row = submission.model in models_yaml.load(models_file, missing_ok=True).ids
    report = submit.SubmissionReport(submission.model, ENGINE_VERSION, checks, problems, has_row)
    if statement_file is not None:
        replace_file(statement_file, json.dumps(submit.statement(report), indent=1) + "\n")
    if markdown is not None and not printed:
        replace_file(markdown, report.markdown())
    if as_json:
        console().print_json(data=report.as_json())
    elif printed:
        write(report.markdown().rstrip())
    else:
        _show_report(report, screen)
    raise typer.Exit(0 if report.accepted else 1)


def _show_report(report: submit.SubmissionReport, screen: Screen) -> None:
    verdict = "can be taken" if report.accepted else "cannot be taken yet"
    screen.print_message(f"submission of {report.model}: {verdict}")
    screen.print_message(report.what_was_graded())
    numbers = ("units", "equal")
    suites = table("suite", *numbers, "scores", "result", right=numbers, whole=("suite", *numbers, "result"))
    for file in report.files:
        suites.add_row(*file.cells())
    screen.print(suites)
    if not report.listed:
        screen.print_message(report.about_missing_row())
    for problems in (report.problems, *(file.problems for file in report.files)):
        lines = [f"{problem.place}: {problem.message}" for problem in problems]
        for line in first_of(lines, submit.SHOWN, ", which --json lists"):
            screen.print_message(line)
