"""`triathlon submit`: whether results may join the committed ones of a board."""

import hashlib
import json
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import catalogue, models_yaml
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import built_suite, data_store, with_grader
from triathlon_runner.datasets import DataStore
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.store import replace_file
from triathlon_runner.submit import (
    SHOWN,
    FileCheck,
    Problem,
    Submission,
    SubmissionReport,
    check_plan,
    check_protocol,
    check_statement,
    check_texts,
    read_submission,
    statement,
    submission_at,
)
from triathlon_runner.terminal import Screen, console, first_of, progress_lines, table, write
from triathlon_runner.verify import COUNTS_DIFFER, Mismatch, verify_file, work_of

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
    submission, problems = submission_at(folder)
    screen = Screen(stderr=True) if as_json or printed else console()
    store = data_store(data)

    async def check_all(grader: Grader) -> list[FileCheck]:
        return [await _check(submission, suite, store, grader, screen) for suite in submission.suites]

    checks = with_grader(check_all) if submission.suites else []
    own_statement = submission.folder.verified(submission.model)
    if submission.suites and own_statement.absolute() != (statement_file or folder).absolute():
        marked = {check.suite: check.sha256 for check in checks if check.marked}
        problems += check_statement(submission, ENGINE_VERSION, marked)
    has_row = submission.model in models_yaml.load(models_file, missing_ok=True).ids
    report = SubmissionReport(submission.model, ENGINE_VERSION, checks, problems, has_row)
    if statement_file is not None:
        replace_file(statement_file, json.dumps(statement(report), indent=1) + "\n")
    if markdown is not None and not printed:
        replace_file(markdown, report.markdown())
    if as_json:
        console().print_json(data=report.as_json())
    elif printed:
        write(report.markdown().rstrip())
    else:
        _show_report(report, screen)
    raise typer.Exit(0 if report.accepted else 1)


async def _check(
    submission: Submission, suite: str, data: DataStore, grader: Grader, screen: Screen
) -> FileCheck:
    lines = submission.folder.lines(submission.model, suite)
    check = FileCheck(suite, hashlib.sha256(lines.read_bytes()).hexdigest())
    check.problems = list(check_texts(submission, suite))
    if check.problems:  # further problems would quote values, and the key could be one
        return check
    manifest, records, check.problems = read_submission(submission, suite)
    check.units = len(records)
    if manifest is None or (check.problems and not records):
        return check
    built = await built_suite(catalogue.BUILT_IN, data, suite, grader)
    if isinstance(built, str):
        check.problems.append(Problem(f"{suite}.jsonl", f"expected the suite's data here: {built}"))
        return check
    work = work_of(submission.model, built, manifest)
    if other_protocol := list(check_protocol(work, manifest)):
        check.problems += other_protocol
        return check
    check.planned, faults_of_plan = check_plan(work, records, manifest)
    check.problems += faults_of_plan
    screen.print_message(f"{suite}: grading again")
    progress = progress_lines(f"triathlon submit: {suite}", "unit")
    report = await verify_file(work, lines, manifest, grader, on_progress=progress)
    check.scores = report.scores
    mismatches = report.mismatches + report.differing
    check.problems += [_problem(suite, mismatch) for mismatch in mismatches]
    check.problems += [Problem(f"{suite}.jsonl, {place}", why) for place, why in report.unverified.items()]
    differing = {mismatch.unit for mismatch in mismatches}
    check.verified = sum(
        regraded is not None and (regraded.task_id, regraded.sample) not in differing
        for _, regraded in report.pairs
    )
    if report.other_engine:
        check.problems.append(Problem(f"{suite}.jsonl", report.other_engine))
    return check


def _problem(suite: str, mismatch: Mismatch) -> Problem:
    if mismatch.sentence == COUNTS_DIFFER:
        expected = "expected the counts of its lines"
        return Problem(f"{suite}.manifest.json, {mismatch.what}", f"{expected}: {mismatch.in_words()}")
    message = f"expected {mismatch.expected} (graded again), got {mismatch.stored}"
    return Problem(f"{suite}.jsonl, {mismatch.what}", message)


def _show_report(report: SubmissionReport, screen: Screen) -> None:
    """Whether the submission can be taken, a row for each suite, and what is against it."""
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
        for line in first_of(lines, SHOWN, ", which --json lists"):
            screen.print_message(line)
