"""`triathlon verify` and `triathlon submit check`: stored results are graded again, and compared."""

import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

import typer
from typer import Argument, Option

from triathlon_runner import models_yaml, submit
from triathlon_runner.catalogue import BUILT_IN, Catalogue, check_prompts, read_catalogue
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import built_suite, data_store, with_grader
from triathlon_runner.datasets import DataStore
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.imports import graded_again
from triathlon_runner.llm import ModelKind
from triathlon_runner.memo import python_version
from triathlon_runner.models_yaml import Price, Registry
from triathlon_runner.records import Manifest
from triathlon_runner.schedule import BuiltSuite
from triathlon_runner.store import (
    IMPORTED,
    RecordedFile,
    ResultsFolder,
    UnreadableManifestError,
    count_lines,
    recorded_files,
    replace_file,
)
from triathlon_runner.terminal import Screen, console, counted, first_of, progress_lines, table
from triathlon_runner.verify import FileReport, replayed, update_file, verify_file, work_of

_SHOWN = 20
_UNCHECKED = "could not be checked"
_IN_JSON = "model suite units verified unfinished graded_under scores unverified notes other_engine"
"""Fields of a report that `--json` prints as they are."""


class StoredFile(NamedTuple):
    """One results file, measured or imported."""

    folder: ResultsFolder
    model: str
    suite: str


@cli.command(
    "triathlon verify",
    "triathlon verify --models my-model --suites loop/core",
    "triathlon verify --models my-model --tasks HumanEval/57",
)
def verify(
    models: cli.Models = None,
    suites: cli.Suites = None,
    tasks: Annotated[str | None, Option(help="Only these, by id; no score is compared.")] = None,
    prompts: cli.PromptsUsed = None,
    update: Annotated[bool, Option("--update", help="Rewrite verdicts of another grader's version.")] = False,
    executor: cli.ExecutorOption = "local",
    ray_address: cli.RayAddress = None,
    models_file: cli.ModelsFile = None,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
    as_json: cli.AsJson = False,
) -> None:
    """Executes and grades everything that is stored again, asks no model, and compares; imports, too.

    --update archives files that another version of extraction and grading wrote, and grades their replies.

    Exit code 0: every line and score follows from its evidence, bit for bit.
    1: something does not, or could not be graded again.
    2: something is for you to fix.
    """
    only = cli.names(tasks) or ()
    if only and update:
        raise UserError("--update rewrites whole files; leave out --tasks")
    if prompts is not None:
        check_prompts(prompts)
    screen = Screen(stderr=True) if as_json else console()
    catalogue, store = read_catalogue(models_file), data_store(data)
    listed = models_yaml.load(models_file, needed=False)
    named = {catalogue.id_of(text): text for text in cli.names(suites) or ()}
    stored, recorded = chosen_files(results, cli.names(models), list(named) or None, listed, catalogue)
    prices = {row.id: row.price for row in listed.models} if update else None

    async def verify_all(grader: Grader) -> list[FileReport]:
        reports = []
        verified = verify_files(stored, catalogue, store, grader, prompts, named, only=only, prices=prices)
        async for _, _, report in verified:
            reports.append(report)
            if not as_json and (report.units or not only):
                show_report(report, screen)
        return reports

    reports = with_grader(verify_all, executor, ray_address, screen.print_message)
    if only and not any(report.units for report in reports):
        raise UserError(
            f"--tasks: expected ids of tasks with stored results, got {tasks!r}; see the site's lists"
        )
    all_good = all(report.good for report in reports)
    for file in recorded:
        try:
            file.read()
        except UserError as error:
            all_good = False
            screen.print_message(str(error))
    if as_json:
        document = {"schema": 1, "follows": all_good, "files": [_as_json(report) for report in reports]}
        console().print_json(data=document)
    elif reports:
        _sum_up(reports, screen)
    if recorded:
        screen.print_message(
            f"{counted(len(recorded), 'recorded file')} with outcomes only: nothing is stored to grade again;"
            " `make recorded DIR=FOLDER` grades other people's recordings, this command the whole files that"
            " were compacted, in the folder where they are"
        )
    raise typer.Exit(0 if all_good else 1)


def chosen_files(
    results: Path,
    models: Sequence[str] | None,
    suites: Sequence[str] | None,
    listed: Registry,
    catalogue: Catalogue,
) -> tuple[list[StoredFile], list[RecordedFile]]:
    """Returns the measured and imported files of these models and suites, and the recorded ones.

    Raises:
        UserError: there are no results at all, or none of a name.
    """
    folders = ResultsFolder(results), ResultsFolder(results / IMPORTED)
    stored = [StoredFile(folder, *names) for folder in folders for names in folder.files()]
    recorded = list(recorded_files(results))
    files: list[StoredFile | RecordedFile] = [*stored, *recorded]
    if not files:
        raise UserError(f"no results in {str(results)!r}; name their folder with --results")
    chosen = cli.Chosen(models, suites, listed.ids, catalogue.ids)
    chosen.check((file.model for file in files), (file.suite for file in files))

    def is_wanted(file: StoredFile | RecordedFile) -> bool:
        return chosen.includes(file.model, [file.suite])

    return list(filter(is_wanted, stored)), list(filter(is_wanted, recorded))


async def verify_files(
    files: Sequence[StoredFile],
    catalogue: Catalogue,
    data: DataStore,
    grader: Grader,
    prompts: Path | None = None,
    named: Mapping[str, str] | None = None,
    *,
    only: Collection[str] = (),
    prices: Mapping[str, Price | None] | None = None,
) -> AsyncIterator[tuple[StoredFile, BuiltSuite | str, FileReport]]:
    """Yields each file with its suite, or why that cannot be built, and what grading it again shows.

    `named` are suites by id as the user names them; a question file's need not be known otherwise.
    `only` are tasks to which this is restricted. Where `prices` of the models are given, lines that another
    version of grading wrote are written anew, and their costs.
    """
    for suite in dict.fromkeys(file.suite for file in files):  # its data can be large
        built = await built_suite(catalogue, data, (named or {}).get(suite, suite), grader, prompts)
        for file in (file for file in files if file.suite == suite):
            with file.folder.locked(file.model) if prices is not None else nullcontext():
                report, manifest = await _verify_stored(file, built, grader, only)
                if prices is not None and manifest is not None and report.other_engine:
                    price, level = prices.get(file.model), grader.sandbox.level
                    update_file(file.folder, report, manifest, price=price, sandbox_level=level)
            yield file, built, report


async def _verify_stored(
    stored: StoredFile, built: BuiltSuite | str, grader: Grader, only: Collection[str]
) -> tuple[FileReport, Manifest | None]:
    """Returns what grading a file again shows, or what kept that from being done, and the manifest."""
    folder, model, suite = stored
    lines = folder.lines(model, suite)
    if not os.access(lines, os.R_OK):
        return FileReport(model, suite, unverified={f"{lines}": "cannot be read; make it readable"}), None
    if isinstance(built, str):
        return FileReport(model, suite, count_lines(lines)[0], unverified={"the suite": built}), None
    manifest, unreadable = None, ""
    try:
        manifest = folder.read_manifest(model, suite)
    except UnreadableManifestError as error:
        unreadable = str(error)
    origin = manifest.origin if manifest is not None else None
    reports: list[FileReport] = []
    for kind in get_args(ModelKind):  # where no manifest says which, that with fewer contradictions
        report = await verify_file(
            work_of(model, built, manifest, kind),
            lines,
            manifest,
            grader,
            only=only,
            regrade=graded_again if origin else replayed,
            on_progress=progress_lines(f"triathlon verify: {model} {suite}", "unit"),
        )
        reports.append(report)
        if manifest is not None or not report.mismatches:
            break
    report = min(reports, key=lambda report: len(report.mismatches))
    if origin:
        report.notes.append(
            f"imported from {origin.get('format')}, {origin.get('file')}: that these are the log's replies"
            f" shows only in the log itself, SHA-256 {origin.get('sha256')}"
        )
    if manifest is None:
        report.unverified["manifest"] = unreadable or folder.about_missing_manifest(model, suite)
    return report, manifest


def show_report(report: FileReport, screen: Screen) -> None:
    """Prints what verifying one file showed."""
    update = report.update
    screen.print_message(f"{report.model} {report.suite}: {_in_short(report)}")
    by_python = f"differs under Python {python_version()} (graded under {report.graded_under}): "
    differences = [f"{mismatch.what}: {mismatch.in_words()}" for mismatch in report.mismatches]
    differences += [f"{by_python}{mismatch.what}: {mismatch.in_words()}" for mismatch in report.differing]
    details = first_of(differences, _SHOWN, " differences") + report.notes
    if report.other_engine and update is None:
        details.append(report.other_engine)
    if update is not None and update.archived is not None:
        details.append(f"as it was: {update.archived}")
    times = Counter(report.unverified.values())
    reasons = Counter(  # damaged lines are always named, as they are to be deleted
        why if times[why] > 1 and place not in report.damaged_lines else f"{place}: {why}"
        for place, why in report.unverified.items()
    )
    for reason, count in reasons.items():
        details.append(f"not graded again: {reason}" + (f" ({counted(count, 'unit')})" if count > 1 else ""))
    for detail in details:
        screen.print_message(f"  {detail}")


def _in_short(report: FileReport) -> str:
    if report.follows and not report.units:
        return "no unit is finished, so there is nothing to grade"
    verdict = _UNCHECKED
    if report.update is not None:
        changed, reopened = report.update.changed, counted(len(report.update.reopened), "unit")
        verdict = f"brought up to date: {counted(changed, 'line')} changed, {reopened} open again"
    elif report.follows:
        verdict = "follows"
    elif report.contradicted:
        verdict = "DOES NOT FOLLOW"
    elif report.differing:
        units = {mismatch.unit for mismatch in report.differing if mismatch.unit}
        verdict = f"follows but for {counted(len(units), 'unit')}"
    scores = ", ".join(f"{name} {value:.6g}" for name, value in report.scores.items())
    return f"{report.verified}/{report.units} units, {verdict}" + (f"; {scores}" if scores else "")


def _sum_up(reports: Sequence[FileReport], screen: Screen) -> None:
    files = counted(len(reports), "file")
    kinds = Counter(_kind_of_fault(report) for report in reports if not report.good)
    for kind, count in kinds.items():
        screen.print_message(f"scores that {kind}: in {count} of {files}, as listed above")
    if _UNCHECKED in kinds:
        screen.print_message(
            "`triathlon doctor` says which languages and data are here, `triathlon results list` in which"
            " state the files are; suites of your own need the suites.yaml that lists their data"
        )
    units = sum(report.verified for report in reports)
    if units and not kinds:
        with_units = counted(sum(bool(report.units) for report in reports), "file")
        amount = f"{counted(units, 'unit')} in {with_units}"
        screen.print_message(f"all scores follow from their evidence, bit for bit: {amount}")
    elif not kinds:
        screen.print_message(f"no unit is finished in {files}: there is nothing to grade")


def _kind_of_fault(report: FileReport) -> str:
    if report.contradicted:
        return "DO NOT FOLLOW from their evidence"
    return f"differ under Python {python_version()}" if report.differing else _UNCHECKED


def _as_json(report: FileReport) -> dict[str, Any]:
    document: dict[str, Any] = {name: getattr(report, name) for name in _IN_JSON.split()}
    for name in ("mismatches", "differing"):
        document[name] = [
            {"what": mismatch.what, "stored": mismatch.stored, "expected": mismatch.expected}
            for mismatch in getattr(report, name)
        ]
    update = report.update
    archived = update and update.archived and str(update.archived)
    return document | {"follows": report.good, "update": update and {**asdict(update), "archived": archived}}


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
    folder: Annotated[Path, Argument(metavar="DIR", help="The model's folder: results/runs/MODEL.")],
    markdown: Annotated[Path | None, Option(help="File for the report as Markdown; - prints it.")] = None,
    statement: Annotated[Path | None, Option(help="File for an in-toto statement, unsigned.")] = None,
    models_file: cli.ModelsFile = None,
    data: cli.Data = None,
    as_json: cli.AsJson = False,
) -> None:
    """Checks what a pull request with results needs: format, protocol, data, no keys; grades all again.

    A board reads the statement in DIR/verified.json.

    Exit code 0: it can be taken; 1: something is against it; 2: something is for you to fix.
    """
    printed = markdown == Path("-")
    if printed and as_json:
        raise UserError("expected --json or --markdown -, got both: one document is printed; name a file")
    listed = models_yaml.load(models_file, needed=False)
    submission, problems = submit.submission_at(folder)
    screen = Screen(stderr=True) if as_json or printed else console()
    store, say = data_store(data), screen.print_message

    async def check_all(grader: Grader) -> list[submit.FileCheck]:
        def build(suite: str) -> Awaitable[BuiltSuite | str]:
            return built_suite(BUILT_IN, store, suite, grader)

        suites = submission.suites
        return [await submit.check_suite(submission, suite, build, grader, say) for suite in suites]

    checks = with_grader(check_all) if submission.suites else []
    own_statement = submission.folder.verified(submission.model)
    if submission.suites and own_statement.absolute() != (statement or folder).absolute():
        problems += submit.check_statement(submission, checks)
    has_row = submission.model in listed.ids
    report = submit.SubmissionReport(submission.model, ENGINE_VERSION, checks, problems, has_row)
    if as_json:
        console().print_json(data=report.as_json())
    elif printed:
        typer.echo(report.markdown(), nl=False)  # as a file has it: escaped already, for Markdown
    else:
        _show_submission(report, screen)
    if statement is not None:
        replace_file(statement, json.dumps(submit.statement(report), indent=1) + "\n")
    if markdown is not None and not printed:
        replace_file(markdown, report.markdown())
    raise typer.Exit(0 if report.accepted else 1)


def _show_submission(report: submit.SubmissionReport, screen: Screen) -> None:
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
