"""`triathlon import`: other people's logs become records, graded by us."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import ValidationError
from rich.console import Console

from triathlon_runner.catalogue import Catalogue
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._bounds import say
from triathlon_runner.cli._names import names
from triathlon_runner.cli._options import (
    Common,
    Data,
    Results,
    cache_folder,
    catalogue_beside,
    console,
    data_store,
)
from triathlon_runner.datasets import DataStore
from triathlon_runner.endpoints import ApiConfig, ModelKind
from triathlon_runner.errors import UserError
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.imports import (
    FORMATS,
    REPORTED,
    CachingGrader,
    Format,
    ImportReport,
    Recording,
    Source,
    VerdictCache,
    file_livecodebench,
    import_log,
    import_recording,
    logs_at,
    model_of,
    read_source,
    recorded_settings,
    settings_of,
)
from triathlon_runner.registry import ModelRow, check_names
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import PROFILES, BuiltSuite, Work, build_suite
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import counted

_SHOWN = 10


_ABOUT = {name: one.about for name, one in FORMATS.items()} | REPORTED
_FORMATS = "Formats: " + "; ".join(f"{name} ({about})" for name, about in _ABOUT.items())


@dataclass(frozen=True, slots=True)
class _Log:
    """One log, and whose it is."""

    path: Path
    row: ModelRow
    suite: str | None
    """The one that its name tells."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to import, and as what."""

    form: Format
    logs: Sequence[_Log]
    suites: tuple[SuiteEntry, ...]
    """Those named at --suite, or the source's."""
    source: Source | None
    """Of recorded results; None for an import."""


@app.command(
    "import",
    epilog=_FORMATS
    + "\n\n"
    + examples(
        "triathlon import evaloop page.json --suite loop/mbpp-plus --model gpt-x",
        "triathlon import evalplus samples.jsonl --suite evolved/humaneval-plus --model gpt-x",
        "triathlon import evaloop recordings/ --recorded evalooop",
        "triathlon import livecodebench eval_all.json --model GPT-X --address https://example.org/eval_all.json",
    ),
)
def import_command(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help=", ".join(_ABOUT) + ".")],
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="The logs, or folders of them; for reval its folder."),
    ],
    suite: Annotated[
        str | None,
        typer.Option(help="The suite that the log is about; with --recorded left out: the source's."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Id to file it under, as in models.yaml; left out: the file's name.")
    ] = None,
    kind: Annotated[Literal["instruct", "base"], typer.Option(help="How the model was asked.")] = "instruct",
    recorded: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="File outcomes without texts in results/recorded/SOURCE/, with a receipt; SOURCE stands in"
            " results/recorded/sources.yaml. What was filed before is replaced.",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where the outputs were published; for livecodebench, whose pass@1 is filed as reported, in"
            " results/published/livecodebench.csv.",
        ),
    ] = None,
    verdicts: Annotated[
        Path | None, typer.Option(help="File to keep verdicts in, so that the next call goes on from there.")
    ] = None,
    results: Results = Common.results,
    data: Data = None,
) -> None:
    """Grades the programs and answers of logs and writes them to results/imported/, kept apart.

    LiveCodeBench's outputs cannot be graded here: their pass@1 is filed as reported, with its source.

    Exit code 0: all was imported; 1: some was left out, with the reason; 2: something is for you to mend.
    """
    check_names([form], list(_ABOUT), what="format")
    if form in REPORTED:
        if suite is not None or recorded is not None:
            raise UserError(f"{form} outputs are filed as reported: leave --suite and --recorded out")
        _file_reported(paths, model, address, results / "published")
        return
    if address is not None:
        raise UserError(f"expected --address with {' or '.join(REPORTED)} alone, got {form!r}")
    logs = logs_at(FORMATS[form], paths)
    source = read_source(results, recorded) if recorded is not None else None
    mine = _logs(FORMATS[form], logs, model, kind, source)
    wanted = _Wanted(FORMATS[form], mine, _suites(suite, source, catalogue_beside()), source)
    cache = VerdictCache(verdicts)
    left_out = asyncio.run(_import_all(wanted, ResultsFolder(results), data_store(data), cache, console()))
    if FORMATS[form].note:
        say(console(), f"note: {FORMATS[form].note}")
    raise typer.Exit(1 if left_out else 0)


def _file_reported(paths: Sequence[Path], model: str | None, address: str | None, published: Path) -> None:
    """Files one log's figures, which nobody here can grade again."""
    if len(paths) != 1 or not paths[0].is_file():
        raise UserError(f"expected one file of outputs, got {', '.join(map(str, paths))!r}")
    if model is None or address is None:
        raise UserError(
            "expected --model, the name to show, and --address, where the outputs were published:"
            " a reported figure needs its source"
        )
    done = file_livecodebench(paths[0], model, address, published, datetime.now(UTC).date())
    found = done.outputs
    about = f"{counted(found.questions, 'question')}, {counted(found.samples, 'sample')}"
    if found.first_contest:
        about += f", contests from {found.first_contest} to {found.last_contest}"
    say(console(), f"filed as reported in {done.table}: pass@1 {found.pass_at_1:.1f} % ({about})")
    say(
        console(),
        "note: the verdicts are the file's; its programs' tests are not here, so nothing was graded",
    )


def _suites(suite: str | None, source: Source | None, known: Catalogue) -> tuple[SuiteEntry, ...]:
    if suite is not None:
        return known.select(names(suite))
    if source is None:
        raise UserError("expected --suite, the suite that the log is about; see `triathlon suites`")
    return known.select(source.suites)


def _logs(
    form: Format, logs: Sequence[Path], model: str | None, kind: ModelKind, source: Source | None
) -> list[_Log]:
    """Whose each log is.

    Raises:
        UserError: an id that cannot be one, or one id for several logs.
    """
    if model is not None and len(logs) > 1:
        raise UserError(
            f"expected one log with --model, got {len(logs)}; leave it out: each is filed under its name"
        )
    found = [_log(form, log, model, kind, source) for log in logs]
    for (one, _), count in Counter((log.row.id, log.suite) for log in found).items():
        if count > 1:
            raise UserError(f"expected one log a model, got {count} of {one!r}; name one of them")
    return found


def _log(form: Format, path: Path, model: str | None, kind: ModelKind, source: Source | None) -> _Log:
    """Only recorded results go to the suite that a log's name tells: elsewhere the command names it."""
    name, suite = (form.names_suite(path) if source else None) or (model_of(path), None)
    if source is not None:
        name = source.models.get(name, name)
    return _Log(path, _row(model or name, kind), suite)


def _row(model: str, kind: ModelKind) -> ModelRow:
    nowhere = ApiConfig(base_url="http://localhost/v1", model=model)
    try:
        return ModelRow(id=model, name=model, kind=kind, api=nowhere)
    except ValidationError:
        raise UserError(
            "expected --model (or a file's name) as an id of lower-case letters, digits, '.', '_' and '-',"
            f" got {model!r}"
        ) from None


async def _import_all(
    wanted: _Wanted, results: ResultsFolder, data: DataStore, cache: VerdictCache, screen: Console
) -> bool:
    """Imports every log; whether something was left out."""
    left_out = False
    async with _grader() as grader, aclosing(_built(wanted.suites, data, grader)) as suites:
        async for built in suites:
            scope = built.entry.set_name and f"{built.suite.data.name}\0"
            caching = CachingGrader(grader, cache, scope)
            for log in wanted.logs:
                if log.suite not in {None, built.entry.id}:
                    continue
                report = await _import(wanted, log, built, results, caching)
                _show(report, screen)
                left_out = left_out or bool(report.left_out)
    return left_out


@asynccontextmanager
async def _grader() -> AsyncIterator[ProgramGrader]:
    async with open_sandbox() as sandbox:
        yield ProgramGrader(sandbox, cache_folder() / "keys")


async def _built(
    suites: Sequence[SuiteEntry], data: DataStore, grader: ProgramGrader
) -> AsyncGenerator[BuiltSuite, None]:
    """Each suite with its data; one after another, so that the memory of one is enough."""
    for entry in suites:
        yield await build_suite(entry, data, grader, PROFILES["standard"])


async def _import(
    wanted: _Wanted, log: _Log, built: BuiltSuite, results: ResultsFolder, grader: CachingGrader
) -> ImportReport:
    form, path = wanted.form, log.path
    if wanted.source is None:
        return await import_log(form, path, Work(log.row, built, settings_of(form, path)), results, grader)
    work = Work(log.row, built, recorded_settings(wanted.source))
    units = list(form.read(path))
    return await import_recording(Recording(form, path, wanted.source), units, work, results, grader)


def _show(report: ImportReport, screen: Console) -> None:
    """Says what one log came to."""
    outcomes = ", ".join(f"{count} {name}" for name, count in report.outcomes.most_common())
    imported = f"{counted(report.units, 'unit')} imported into {report.lines}: {outcomes}"
    if report.faults:
        imported = f"nothing was written to {report.lines}: call again for what could not be graded"
    say(screen, imported if report.units else "nothing was imported")
    if report.compared:
        say(screen, f"{report.equal} of {counted(report.compared, 'verdict')} equal the authors'")
    for name, why in list(report.left_out.items())[:_SHOWN]:
        say(screen, f"left out {name}: {why}")
    if len(report.left_out) > _SHOWN:
        say(screen, f"and {len(report.left_out) - _SHOWN} more")
    for why, count in Counter(report.left_out.values()).most_common() if len(report.left_out) > 1 else ():
        say(screen, f"{count} × {why}")
    if report.left_out:
        whole = report.units + len(report.left_out)
        say(screen, f"{len(report.left_out)} of {counted(whole, 'unit')} left out, as listed above")
