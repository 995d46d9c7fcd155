"""`triathlon results`: what is there, under which conditions, and what changed."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer import Argument, Option

from triathlon_runner import models_yaml
from triathlon_runner.catalogue import Catalogue, check_prompts, read_catalogue
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import built_suite, data_store, with_grader
from triathlon_runner.cli._verify import StoredFile, chosen_files, show_report, verify_files
from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.errors import UserError
from triathlon_runner.estimates import DryRunModel
from triathlon_runner.grading import Grader
from triathlon_runner.models_yaml import Registry
from triathlon_runner.records import Manifest
from triathlon_runner.schedule import BuiltSuite, differs, why_not, work_for
from triathlon_runner.store import (
    IMPORTED,
    MAKE_MISSING,
    Change,
    ContradictingLineError,
    DamagedLineError,
    ResultsFile,
    ResultsFolder,
    UnreadableManifestError,
    archive,
    archived,
    compare_files,
    count_lines,
    recorded_files,
)
from triathlon_runner.terminal import Screen, console, counted, first_of, table
from triathlon_runner.verify import compact_file

_SHOWN = 50
_NAMED = 3
"""Files that are named behind a reason; others are counted."""
_WIDE = 110
"""Columns of a window that has room for everything."""
_OUTDATED: Final = "outdated"
"""Made under another protocol, data or model revision."""
_CURRENT: Final = "current"
_UNREADABLE: Final = "unreadable"
"""With a line or manifest that is damaged; `altered`: with a line that reads well and contradicts itself."""
_FileId = tuple[str, str]
"""(model, suite) of a results file."""
_Row = dict[str, Any]
"""One results file, as `--json` has it: `short` is its state in a word or two, `state` in sentences; `open`
is None where the manifest is damaged or missing, `ended` empty where the last run did not come to its end."""


class _Finding(NamedTuple):
    """A part of the state of a results file."""

    short: str
    reason: str = ""
    """In a sentence; empty where `short` says it all."""
    usable_lines: int | None = None
    """How many lines count in a file with a damaged or altered line."""


_States = dict[_FileId, list[_Finding]]

results_app = cli.group_of_commands(
    "results", "What was measured: list, archive, compact, diff.", "triathlon results list"
)


@cli.command(
    "triathlon results list", "triathlon results list --no-check --json", group=results_app, name="list"
)
def list_command(
    check: Annotated[bool, Option(help="Compare with today's protocols, data and models.yaml.")] = True,
    prompts: cli.PromptsUsed = None,
    models_file: cli.ModelsFile = None,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
    as_json: cli.AsJson = False,
) -> None:
    """Every results file: units, open ones, protocol, and whether a run would go on from it."""
    folder, screen = ResultsFolder(results), console()
    folder.check_is_there()
    rows = _rows_of(folder, _states_of(folder, models_file, data, prompts) if check else {})
    if as_json:
        screen.print_json(data=rows)
    elif rows:
        _show_rows(rows, screen)
    else:
        screen.print_message(
            f"no results in {str(folder.root)!r}: `triathlon run` makes some, --results names others"
        )


@cli.command(
    "triathlon results archive --outdated",
    "triathlon results archive --models my-model --suites loop/core",
    group=results_app,
    name="archive",
)
def archive_command(
    models: cli.Models = None,
    suites: cli.Suites = None,
    outdated: Annotated[bool, Option("--outdated", help="Of another protocol, data or revision.")] = False,
    prompts: cli.PromptsUsed = None,
    models_file: cli.ModelsFile = None,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
) -> None:
    """Puts results aside (results/archive/), so that the next run makes them anew; nothing is deleted.

    Replies that are in the cache are not asked for again. An import goes to results/imported/archive/, so
    that its log can be imported anew; --outdated leaves imports where they are.
    """
    folder, screen = ResultsFolder(results), console()
    if models is None and suites is None and not outdated:
        raise UserError("expected --models, --suites or --outdated, got none: say which results to archive")
    chosen = _chosen(results, models_file, models, suites)
    if outdated:
        states = _states_of(folder, models_file, data, prompts)
        outdated_files = {file for file, found in states.items() if any(f.short == _OUTDATED for f in found)}
        chosen = [file for file in chosen if file[1:] in outdated_files and file.folder.root == results]
    for place, model, suite in chosen:
        with place.locked(model):
            lines = archive(place, model, suite)
        screen.print_message(f"{model} {suite}: {lines}")
    screen.print_message(f"{counted(len(chosen), 'results file')} archived")


@cli.command(
    "triathlon results compact --models my-model --suites evolved/humaneval-plus",
    group=results_app,
    name="compact",
)
def compact_command(
    models: cli.Models = None,
    suites: cli.Suites = None,
    models_file: cli.ModelsFile = None,
    results: cli.Results = cli.RESULTS,
    data: cli.Data = None,
) -> None:
    """Keeps results without their texts in results/recorded/measured/, where a data set may not be copied.

    Each file is graded again first; one that does not follow from its replies is not kept, nor one whose
    run did not come to its end.
    The whole files stay where they are. A model whose results a run is writing is refused.
    Exit code 0: each is kept; 1: some are not.
    """
    folder = ResultsFolder(results)
    folder.check_is_there()
    catalogue, store, screen = read_catalogue(models_file), data_store(data), console()
    chosen = [file for file in _chosen(results, models_file, models, suites) if file.folder.root == results]
    if not chosen:
        raise UserError("expected measured results to keep without texts, got imported or recorded ones")

    async def compact_all(grader: Grader) -> int:
        kept = 0
        async for file, built, report in verify_files(chosen, catalogue, store, grader):
            show_report(report, screen)
            is_whole = report.follows and not report.unfinished
            manifest = folder.read_manifest(file.model, file.suite) if is_whole else None
            if manifest is not None and isinstance(built, BuiltSuite):
                compacted = compact_file(folder, built.entry, manifest, report)
                screen.print_message(f"  kept without texts: {compacted.lines}")
                kept += 1
            else:
                screen.print_message("  not kept: run it to its end" if report.unfinished else "  not kept")
        return kept

    with ExitStack() as locks:
        for model in sorted({file.model for file in chosen}):
            locks.enter_context(folder.locked(model))
        raise typer.Exit(0 if with_grader(compact_all) == len(chosen) else 1)


def _chosen(
    results: Path, models_file: Path | None, models: str | None, suites: str | None
) -> list[StoredFile]:
    listed, catalogue = models_yaml.load(models_file, needed=False), read_catalogue(models_file)
    return chosen_files(results, cli.names(models), cli.names(suites), listed, catalogue)[0]


@cli.command("triathlon results diff old/results results", group=results_app, name="diff")
def diff_command(
    first: Annotated[Path, Argument(help="A results file (.jsonl), or a results folder.")],
    second: Annotated[Path, Argument(help="Another.")],
    as_json: cli.AsJson = False,
) -> None:
    """Units that ended differently, also in loops or answers alone, and units that one of them lacks.

    Exit code 0: no difference; 1: differences.
    """
    compared = {name: compare_files(left, right) for name, left, right in _pairs(first, second)}
    differing, screen = sum(map(len, compared.values())), console()
    if as_json:
        files = {name: [asdict(change) for change in changes] for name, changes in compared.items()}
        screen.print_json(data={"schema": 1, "differences": differing, "files": files})
        raise typer.Exit(1 if differing else 0)

    def in_words(change: Change) -> str:
        if change.before and change.after:
            return f"{change.before} → {change.after}"
        return f"{change.before or change.after}, only in {first if change.before else second}"

    for name, changes in compared.items():
        if changes:
            screen.print_message(f"{name}: {counted(len(changes), 'difference')}")
        lines = [f"{change.task_id} #{change.sample}: {in_words(change)}" for change in changes]
        for line in first_of(lines, _SHOWN):
            screen.print_message(f"  {line}")
    screen.print_message(counted(differing, "difference"))
    raise typer.Exit(1 if differing else 0)


def _pairs(first: Path, second: Path) -> list[tuple[str, Path, Path]]:
    for path in (first, second):
        if not path.exists():
            raise UserError(f"expected a results file or folder, nothing is at {str(path)!r}")
    if first.is_dir() != second.is_dir():
        raise UserError(f"expected two files or two folders, got {str(first)!r} and {str(second)!r}")
    if first.is_file():
        return [(first.name, first, second)]
    left, right = ResultsFolder(first), ResultsFolder(second)
    for folder in (left, right):
        if not list(folder.files()):
            raise UserError(
                f"expected a results file, or a folder with runs/MODEL/SUITE.jsonl in it, got"
                f" {str(folder.root)!r}, where there is none"
            )
    both = sorted({*left.files(), *right.files()})
    return [(" ".join(names), left.lines(*names), right.lines(*names)) for names in both]


def _rows_of(folder: ResultsFolder, states: Mapping[_FileId, Sequence[_Finding]]) -> list[_Row]:
    """Returns a row for every results file: measured, imported, recorded and archived."""
    imported = ResultsFolder(folder.root / IMPORTED)
    rows = [_stored(folder, names, states.get(names, ())) for names in folder.files()]
    rows += [_stored(imported, names, [_Finding("imported")]) for names in imported.files()]
    for file in recorded_files(folder.root):
        names = file.model, file.suite
        try:
            manifest = file.read_manifest()
        except UserError as error:
            rows.append(_row(names, 0, [_Finding(_UNREADABLE, str(error))]))
            continue
        engine, receipt = graded_otherwise(manifest.engine_versions), manifest.receipt
        findings = [_Finding("recorded"), *([_Finding("other version", engine)] if engine else [])]
        about = {"protocol": str(manifest.protocol), "ended": receipt.date, "open": 0}
        units, origin = count_lines(file.lines)[0], f"{receipt.source}, {receipt.file}"
        rows.append(_row(names, units, findings, about, origin))
    for model, suite, lines in (*archived(folder), *archived(imported)):
        about, units = {"protocol": lines.stem}, count_lines(lines)[0]
        rows.append(_row((model, suite), units, [_Finding("archived")], about, str(lines)))
    return rows


def _row(
    names: _FileId,
    units: int,
    findings: Sequence[_Finding],
    about: Mapping[str, Any] | None = None,
    origin: str = "",
) -> _Row:
    """Returns the row of a file; `about` is what its manifest says."""
    sentences = [finding.reason or finding.short for finding in findings]
    if origin and sentences:
        sentences[0] += f": {origin}"
    return {
        "model": names[0],
        "suite": names[1],
        "units": units,
        "open": None,
        "protocol": "?",
        "ended": "",
        **(about or {}),
        "origin": origin,
        "short": ", ".join(dict.fromkeys(finding.short for finding in findings)),
        "state": "; ".join(sentences),
        "reasons": [finding.reason for finding in findings if finding.reason],
    }


def _stored(folder: ResultsFolder, names: _FileId, state: Sequence[_Finding]) -> _Row:
    """Returns the row of a file. Its lines are its units: a manifest counts those of a finished run only."""
    path = folder.lines(*names)
    try:
        lines, torn = count_lines(path)
    except OSError as error:
        reason = f"{path}: cannot be read ({error.strerror}); make it readable"
        return _row(names, 0, [_Finding(_UNREADABLE, reason)])
    findings = list(state)
    usable = next((f.usable_lines for f in findings if f.usable_lines is not None), None)
    units = lines if usable is None else usable
    cut = [_Finding("cut", f"its last line was cut before its end; {MAKE_MISSING}")] if torn else []
    try:
        manifest = folder.read_manifest(*names)
    except UnreadableManifestError as error:
        return _row(names, units, [_Finding(_UNREADABLE, str(error)), *findings])
    if manifest is None:  # and so not `current`: its lines may be another model's
        findings = [finding for finding in findings if finding.short != _CURRENT]
        findings.append(_Finding("no manifest", folder.about_missing_manifest(*names)))
        return _row(names, units, [*findings, *cut])
    counted_units = sum(manifest.outcomes.values())
    if manifest.unfinished:
        findings.append(_Finding("unfinished", f"unfinished run, {counted(units, 'line')} whole"))
    elif counted_units != units and usable is None:
        lost = f"; {MAKE_MISSING}" if counted_units > units else ""
        findings.append(_Finding("changed", f"its manifest counts {counted(counted_units, 'unit')}{lost}"))
    if units and (engine := graded_otherwise(manifest.engine_versions)):
        findings.append(_Finding("other version", engine))
    log, left = manifest.origin, max(0, counted_units + manifest.open_units - units)
    about = {"protocol": str(manifest.protocol), "ended": manifest.ended, "open": left}
    origin = f"{log.get('format', '?')}, {log.get('file', '?')}" if log else ""
    return _row(names, units, [*findings, *cut], about, origin)


def _show_rows(rows: Sequence[_Row], screen: Screen) -> None:
    """Prints a table that fits the window, and below it each reason once, behind the names of its files.

    Recorded files without a reason are summed up, a line a source: a board has hundreds.
    """
    recorded = [row for row in rows if row["short"] == "recorded"]
    rows = [row for row in rows if row["short"] != "recorded"]
    fields = ["model", "suite", "units", "open", "short"]
    fields += ["protocol", "ended", "origin"] if screen.width >= _WIDE else []
    titles = [{"short": "state", "origin": "from"}.get(name, name) for name in fields]
    shown = table(*titles, right=["units", "open"], whole=["model", "suite"])
    files: dict[str, list[str]] = {}
    for row in rows:
        shown.add_row(*("?" if row[name] is None else str(row[name]) for name in fields))
        for reason in row["reasons"]:
            files.setdefault(reason, []).append(f"{row['model']} {row['suite']}")
    if rows:
        screen.print(shown)
    for source, rows_of_source in groupby(recorded, key=lambda row: row["origin"].partition(", ")[0]):
        models = [row["model"] for row in rows_of_source]
        amount = f"{counted(len(models), 'file')} of {counted(len(set(models)), 'model')}"
        screen.print_message(f"recorded, {source}: {amount}; --json lists each")
    for reason, names in files.items():
        screen.print_message(f"{', '.join(first_of(names, _NAMED))}: {reason}")


def _states_of(
    folder: ResultsFolder, models_file: Path | None, data: Path | None, prompts: Path | None
) -> _States:
    """Returns what is damaged in each file, and whether a run would add to it."""
    if prompts is not None:
        check_prompts(prompts)
    listed = models_yaml.load(models_file, needed=False)
    catalogue, store = read_catalogue(models_file), data_store(data, fetch=False)
    by_suite = sorted(folder.files(), key=lambda file: file[1])

    async def find(grader: Grader) -> _States:
        states: _States = {}
        for suite, files in groupby(by_suite, key=lambda file: file[1]):
            built = await built_suite(catalogue, store, suite, grader, prompts)
            for names in files:
                states[names] = _findings(folder, listed, names, catalogue, built)
        return states

    return with_grader(find)


def _findings(
    folder: ResultsFolder, listed: Registry, names: _FileId, catalogue: Catalogue, built: BuiltSuite | str
) -> list[_Finding]:
    """Returns what is damaged in a file, or whether a run would add to it or ask its units anew."""
    findings: list[_Finding] = []
    entry, path = catalogue.find(names[1]), folder.lines(*names)
    if entry is not None:
        file = ResultsFile(path, entry.record)
        try:
            file.scan()
        except DamagedLineError as error:
            short = "altered" if isinstance(error, ContradictingLineError) else _UNREADABLE
            findings.append(_Finding(short, str(error), len(file.units)))
        except OSError:
            return []  # the file's row says that
    if isinstance(built, str):
        return [*findings, _Finding("not checked", built)]
    if names[0] not in listed.ids:
        return [*findings, _Finding("not in models.yaml")]
    if findings:
        return findings
    try:
        manifest: Manifest | None = folder.read_manifest(*names)
    except UnreadableManifestError:
        return []  # the file's row says that
    row, judge = listed.row(names[0]), None if listed.judge is None else listed.row(listed.judge)
    works = [] if judge is None else work_for(listed, row, [built], DryRunModel(judge.id, judge.kind))
    if judge is None or why_not(judge) is not None:  # a judge without its key outdates nothing that it judged
        works += work_for(listed, row, [built])
    differences = [differs(work, file, manifest) for work in works]
    return [_Finding(_OUTDATED, f"made with {differences[0]}") if all(differences) else _Finding(_CURRENT)]
