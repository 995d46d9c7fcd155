"""Grades another program's log and writes its results apart from those of runs."""

import asyncio
import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from triathlon_runner import __version__
from triathlon_runner.concurrency import OnProgress, run_all, show_nothing
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.foreign_files import files_below
from triathlon_runner.grading import UNKNOWN, Agreement, Grader, TaskNames
from triathlon_runner.imports._compare import compare
from triathlon_runner.imports._foreign import Foreign, ForeignLoop, ForeignProgram, ForeignReply
from triathlon_runner.imports._formats import Format
from triathlon_runner.imports._grade import graded
from triathlon_runner.llm import ModelKind
from triathlon_runner.memo import python_version
from triathlon_runner.records import DataSetRecord, Manifest, ProtocolHashes, UnitRecord, Usage
from triathlon_runner.schedule import Work
from triathlon_runner.store import IMPORTED, ResultsFolder, replace_file
from triathlon_runner.suites import Programs, Suite
from triathlon_runner.verify import NotInEvidenceError

T = TypeVar("T")
_AT_ONCE = 8
"""Units graded at the same time; the sandbox has its own limit."""
_NO_FURTHER_REPLY = "passes here, failed there; the log has no further reply"
"""A loop's log ends where its last program failed: the reply that grading needs next is not in it."""


@dataclass(slots=True)
class ImportReport:
    """How many units of a log were imported, and which were left out."""

    lines: Path
    units: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, str] = field(default_factory=dict)
    """Foreign units that became no record, and why."""
    ungraded: int = 0
    """Units of `left_out` that could not be graded."""
    written: bool = False
    """Whether the results were written."""
    agreement: Agreement = field(default_factory=Agreement)
    """With the verdicts that the log has."""
    tasks: int = 0
    """Tasks of the suite with a unit."""
    tasks_in_suite: int = 0
    score: str = ""
    """The headline metric over these tasks, in words."""
    status: str = ""
    """How the log says that it is no whole one."""


async def import_log(
    log_format: Format,
    path: Path,
    work: Work,
    results: ResultsFolder,
    grader: Grader,
    on_progress: OnProgress = show_nothing,
) -> ImportReport:
    """Reads and grades a log, and writes its results to `imported/`, apart from those of runs.

    Raises:
        UserError: the log cannot be read, the suite is of another discipline, or it was imported before.
    """
    folder = ResultsFolder(results.root / IMPORTED)
    model, suite = work.row.id, work.suite_id
    if work.built.entry.discipline not in log_format.disciplines:
        expected = " or ".join(sorted(log_format.disciplines))
        raise UserError(
            f"{log_format.name} logs are imported into suites of {expected}, got --suite {suite!r}"
        )
    if not issubclass(work.built.entry.record, log_format.record):
        raise UserError(
            f"{suite!r} asks in another way than {log_format.name} logs answer;"
            " name a suite of the same data set at --suite"
        )
    lines = folder.lines(model, suite)
    folder.check_writable()
    with folder.locked(model):
        if lines.exists():
            raise UserError(f"{str(lines)!r} is an import already; move it away or use another --model")
        units = list(log_format.read(path))
        if not units:
            raise UserError(f"expected {log_format.about} at {str(path)!r}, got nothing to import")
        report = ImportReport(lines, status=log_format.status(path))
        pairs = await grade_all(
            units, work, report, lambda unit, n: _graded(unit, n, work, grader), on_progress
        )
        records = [record for _, record in pairs]
        report.units, report.written = len(records), bool(records)
        report.outcomes = Counter(record.outcome.value for record in records)
        for unit, record in pairs:
            comparison = compare(unit, work, record.outcome, record)
            report.agreement.add(record.task_id, record.sample, comparison)
        if records:  # without records nothing is written, so that a fixed log can still be imported
            task_ids = {record.task_id for record in records}
            report.tasks, report.tasks_in_suite = len(task_ids), len(work.built.tasks)
            report.score = _headline(work, records)
            fields = manifest_fields(work, task_ids, report.outcomes)
            _write(folder, lines, records, _manifest(log_format, path, work.row.kind, fields, report))
    return report


def _write(folder: ResultsFolder, lines: Path, records: Sequence[UnitRecord], manifest: Manifest) -> None:
    """Writes lines and manifest, or neither: every command would warn of a manifest without its lines."""
    text = "".join(record.model_dump_json(by_alias=True) + "\n" for record in records)
    folder.write_manifest(manifest)
    try:
        replace_file(lines, text)
    except BaseException:
        folder.manifest(manifest.model, manifest.suite).unlink(missing_ok=True)
        raise


def _headline(work: Work, records: Sequence[UnitRecord]) -> str:
    """Returns the headline metric in words: `pass@1 0.6951`; empty for a suite without one."""
    metric = next((metric for metric in work.built.entry.metrics if metric.headline), None)
    score = metric.score(records) if metric else math.nan
    return "" if metric is None or math.isnan(score) else f"{metric.title} {score:.4g}"


async def _graded(foreign: Foreign, sample: int, work: Work, grader: Grader) -> tuple[Foreign, UnitRecord]:
    try:
        return foreign, await graded(foreign, sample, work, grader, work.protocol)
    except NotInEvidenceError:
        if isinstance(foreign, ForeignLoop):
            raise NotInEvidenceError(_NO_FURTHER_REPLY) from None
        raise


async def grade_all(
    units: Sequence[Foreign],
    work: Work,
    report: ImportReport,
    grade: Callable[[Foreign, int], Awaitable[T]],
    on_progress: OnProgress,
) -> list[T]:
    """Returns what `grade` returns for each unit and its sample, in the suite's order.

    The units that are left out, and why, are in the report afterwards.
    """
    samples: Counter[str] = Counter()
    limit = asyncio.Semaphore(_AT_ONCE)
    done = itertools.count(1)
    position = {task.task_id: number for number, task in enumerate(work.built.tasks)}
    suite = work.built.suite
    names = TaskNames(suite.functions() if isinstance(suite, Programs) else ())

    async def grade_one(unit: Foreign, sample: int) -> list[T]:
        name = f"{unit.task_id} #{sample}" if sample else unit.task_id
        async with limit:
            try:
                return [await grade(unit, sample)]
            except InfrastructureError as error:
                report.left_out[name] = str(error)
                report.ungraded += 1
            finally:
                on_progress(next(done), len(gradings))
        return []

    gradings = []
    for number, unit in enumerate(units, start=1):
        if isinstance(unit, ForeignReply) and unit.error:
            report.left_out[f"{unit.task_id}, sample {number} of the log"] = unit.error
            continue
        task_id, why_not = _task(unit, names)
        if task_id not in position:
            earlier = samples[unit.task_id]
            samples[unit.task_id] += 1
            report.left_out[f"{unit.task_id} #{earlier}" if earlier else unit.task_id] = why_not
            continue
        sample = samples[task_id]
        samples[task_id] += 1
        gradings.append((position[task_id], sample, grade_one(replace(unit, task_id=task_id), sample)))
    gradings.sort(key=lambda grading: grading[:2])
    return [result for results in await run_all(grading for *_, grading in gradings) for result in results]


def _task(unit: Foreign, names: TaskNames) -> tuple[str, str]:
    """Returns the task of the suite that a unit is about, and why it may be about none."""
    if isinstance(unit, ForeignProgram | ForeignReply):
        text, about = (
            (unit.program, unit.about) if isinstance(unit, ForeignProgram) else (unit.text, unit.prompt)
        )
        found = names.find(unit.task_id, text, about)
        return found.task_id or unit.task_id, found.why_not or UNKNOWN
    return unit.task_id, UNKNOWN


def manifest_fields(work: Work, task_ids: set[str], outcomes: Counter[str]) -> dict[str, Any]:
    """Returns the fields of a manifest that are the same for imported and for recorded results."""
    data = work.built.suite.data
    return {
        "suite": work.suite_id,
        "model": work.row.id,
        "served_model": work.row.id,
        "protocol": work.protocol,
        "settings": dict(work.settings),
        "data": DataSetRecord(name=data.name, version=data.version, sha256=data.sha256),
        "engine_versions": (ENGINE_VERSION,),
        "private": work.built.entry.private,
        "tasks_in_suite": len(work.built.tasks),
        "tasks_planned": len(task_ids),
        "outcomes": dict(sorted(outcomes.items())),
    }


def _digest(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder with their names."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for file in files_below(path):
        digest.update(file.relative_to(path).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def settings_of(log_format: Format, path: Path, suite: Suite) -> dict[str, str]:
    """Returns the settings of an import: our prompts and sampling did not apply to its replies."""
    digest, graded = _digest(path), ProtocolHashes.of(suite.protocol).graded
    asked = f"{log_format.name} {digest[:12]}"
    return {"imported": log_format.name, "sha256": digest, "asked": asked, "graded": graded}


def _manifest(
    log_format: Format, path: Path, kind: ModelKind, fields: dict[str, Any], report: ImportReport
) -> Manifest:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    origin = {"format": log_format.name, "file": path.name, "sha256": _digest(path), "status": report.status}
    if report.agreement.compared:
        origin["verdicts"] = str(report.agreement)
    return Manifest(
        **fields,
        python_versions=(python_version(),),
        served_by=f"imported from a log of {log_format.name}",
        runner_version=__version__,
        sandbox_level="",
        grader_integrity="not run",
        profile=IMPORTED,
        open_units=0,
        usage=Usage(),
        cost_usd=None,
        identity={"kind": kind},
        origin=origin,
        started=now,
        ended=now,
    )
