"""Grades another program's log; writes its results as an import, or outcomes as recorded ones."""

import asyncio
import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from triathlon_runner import __version__, records
from triathlon_runner.concurrency import OnProgress, run_all
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.foreign_files import files_below
from triathlon_runner.grading import UNKNOWN, Agreement, CachingGrader, Comparison, TaskNames
from triathlon_runner.imports import _units
from triathlon_runner.imports._formats import Format, Source
from triathlon_runner.memo import memo_key, python_version
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.schedule import BuiltSuite, Work
from triathlon_runner.store import IMPORTED, RecordedFile, ResultsFolder, replace_file
from triathlon_runner.suites import Programs
from triathlon_runner.terminal import counted
from triathlon_runner.verify import NotInEvidenceError

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
    agreement: Agreement = field(default_factory=Agreement)
    """With the verdicts that the log has."""
    tasks: int = 0
    """Tasks of the suite with a unit."""
    tasks_in_suite: int = 0
    score: str = ""
    """The headline metric over these tasks, in words."""
    status: str = ""
    """How the log says that it is no whole one."""


class _Graded(NamedTuple):
    unit: _units.Foreign
    record: records.UnitRecord
    comparison: Comparison | None
    """The log's verdict beside ours; None where the log has none."""


@dataclass(frozen=True, slots=True)
class Import:
    """A log, the suite that it is imported into, and the model whose answers it holds."""

    log_format: Format
    path: Path
    row: ModelRow
    built: BuiltSuite
    results: ResultsFolder
    grader: CachingGrader
    on_progress: OnProgress
    source: Source | None = None
    """The publication whose outcomes alone are filed; None: whole results are."""


async def import_log(log: Import) -> ImportReport:
    """Reads and grades a log, and writes what became of it apart from the results of runs."""
    entry, of_format = log.built.entry, log.log_format.record
    fits = issubclass(entry.record, of_format) and entry.discipline != "translation"
    if not fits or (log.source is not None and entry.record is not of_format):
        raise UserError(
            f"{entry.id!r} asks in another way than {log.log_format.name} logs answer;"
            " name a suite of the same data set at --suite"
        )
    return await (_import(log) if log.source is None else _record(log, log.source))


async def _import(log: Import) -> ImportReport:
    """Writes whole results to `imported/`."""
    folder, log_format, path = ResultsFolder(log.results.root / IMPORTED), log.log_format, log.path
    model, suite = log.row.id, log.built.entry.id
    lines = folder.lines(model, suite)
    folder.check_writable()
    with folder.locked(model):
        if lines.exists():
            aside = log.results.archive_command(model, suite)
            raise UserError(f"{str(lines)!r} is an import already; put it aside with {aside}, or use --model")
        units = list(log_format.read(path))
        if not units:
            raise UserError(f"expected {log_format.about} at {str(path)!r}, got nothing to import")
        report, digest = ImportReport(lines, status=log_format.status(path)), _digest(path)
        settings = {  # our prompts and sampling did not apply to its replies
            "imported": log_format.name,
            "sha256": digest,
            "asked": f"{log_format.name} {digest[:12]}",
            "graded": records.ProtocolHashes.of(log.built.suite.protocol).graded,
        }
        work = Work(log.row, log.built, settings)
        made = [each.record for each in await _grade_all(log, units, work, report)]
        report.written = bool(made)
        if not made:  # nothing is written, so that a fixed log can still be imported
            return report
        for metric in log.built.entry.metrics:
            if metric.headline and not math.isnan(score := metric.score(made)):
                report.score = f"{metric.title} {score:.4g}"
        origin = {"format": log_format.name, "file": path.name, "sha256": digest, "status": report.status}
        if report.agreement.compared:
            origin["verdicts"] = str(report.agreement)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = records.Manifest(
            **_manifest_fields(work, report),
            settings=settings,
            python_versions=(python_version(),),
            served_by=f"imported from a log of {log_format.name}",
            runner_version=__version__,
            sandbox_level="",
            grader_integrity="not run",
            profile=IMPORTED,
            open_units=0,
            usage=records.Usage(),
            cost_usd=None,
            identity={"kind": log.row.kind},
            origin=origin,
            started=now,
            ended=now,
        )
        folder.write_manifest(manifest)
        try:
            replace_file(lines, "".join(record.model_dump_json(by_alias=True) + "\n" for record in made))
        except BaseException:  # every command would warn of a manifest without its lines
            folder.manifest(model, suite).unlink(missing_ok=True)
            raise
    return report


async def _record(log: Import, source: Source) -> ImportReport:
    """Writes the outcomes of one file's units of one suite to `recorded/`, replacing what was there.

    The file may hold units of several suites. Nothing is written where units were left out because our
    machinery failed: call again.
    """
    entry, work = log.built.entry, Work(log.row, log.built, source.settings(log.built.suite))
    file = RecordedFile(log.results.root, source.id, log.row.id, entry.id)
    report = ImportReport(file.lines)
    sets = {"", entry.set_name, entry.set_name.removesuffix("-plus")}
    units = [
        unit
        for unit in log.log_format.read(log.path)
        if not isinstance(unit, _units.ForeignSample) or unit.subset.removeprefix("EvoEval_") in sets
    ]
    graded_units = await _grade_all(log, units, work, report)
    if not graded_units or report.ungraded:
        return report
    with_texts = []
    for unit, record, comparison in graded_units:
        text = "\0".join(unit.programs) if isinstance(unit, _units.ForeignLoop) else getattr(unit, "text", "")
        with_texts.append((record, text, comparison is not None and not comparison.equal))
    manifest = records.RecordedManifest(
        **_manifest_fields(work, report),
        settings={"recorded": source.id},
        ended=source.date,
        max_loops=log.built.suite.protocol["asked"].get("max_loops"),
        line_holds="task" if entry.recorded_by_task else "sample",
        receipt=records.Receipt(
            **source.model_dump(include={"title", "address", "commit", "date", "licence", "note"}),
            source=source.id,
            file=log.path.name,
            sha256=_digest(log.path),
            engine_version=ENGINE_VERSION,
            compared=report.agreement.compared,
            equal=report.agreement.equal,
        ),
    )
    file.write(manifest, records.lines_without_texts(with_texts, by_task=entry.recorded_by_task))
    report.written = True
    return report


async def _grade_all(
    log: Import, units: Sequence[_units.Foreign], work: Work, report: ImportReport
) -> list[_Graded]:
    """Returns each unit that could be graded, in the suite's order; the report tells of all."""
    samples: Counter[str] = Counter()
    limit, done = asyncio.Semaphore(_AT_ONCE), itertools.count(1)
    position = {task.task_id: number for number, task in enumerate(work.built.tasks)}
    suite, asks_loops = work.built.suite, work.built.entry.record is records.LoopRecord
    names = TaskNames(suite.functions() if isinstance(suite, Programs) else ())

    async def grade_one(unit: _units.Foreign, sample: int) -> list[_Graded]:
        async with limit:
            try:
                return [await _graded(log, unit, sample, work)]
            except InfrastructureError as error:
                report.left_out[_name(unit.task_id, sample)] = str(error)
                report.ungraded += 1
            finally:
                log.on_progress(next(done), len(gradings))
        return []

    gradings = []
    for number, unit in enumerate(units, start=1):
        task_id, why_not = unit.task_id, UNKNOWN
        if isinstance(unit, _units.ForeignSample):
            if unit.error:
                report.left_out[f"{unit.task_id}, sample {number} of the log"] = unit.error
                continue
            found, why_not = names.find(unit.task_id, unit.text, unit.about or unit.prompt)
            task_id, why_not = found or unit.task_id, why_not or UNKNOWN
        sample = samples[task_id]
        samples[task_id] += 1
        if isinstance(unit, _units.ForeignLoop) != asks_loops:
            why_not = f"it is {'no' if asks_loops else 'a'} loop, and {work.suite_id!r} asks otherwise"
            report.left_out[_name(task_id, sample)] = why_not
        elif task_id in position:
            grading = grade_one(replace(unit, task_id=task_id), sample)
            gradings.append((position[task_id], sample, grading))
        else:
            report.left_out[_name(task_id, sample)] = why_not
    gradings.sort(key=lambda grading: grading[:2])
    results = [result for each in await run_all(grading for *_, grading in gradings) for result in each]
    for _, record, comparison in results:
        report.agreement.add(record.task_id, record.sample, comparison)
    report.units = len(results)
    report.outcomes = Counter(record.outcome.value for _, record, _ in results)
    report.tasks = len({record.task_id for _, record, _ in results})
    report.tasks_in_suite = len(work.built.tasks)
    return results


async def _graded(log: Import, unit: _units.Foreign, sample: int, work: Work) -> _Graded:
    """Grades one unit; of an answer that is recorded, the record has what a recorded line has."""
    recording, is_answer = log.source is not None, log.built.entry.record is records.PredictionRecord
    try:
        if recording and is_answer and isinstance(unit, _units.ForeignSample):
            outcome = {"outcome": await _outcome_of_answer(unit, work, log.grader)}
            record: records.UnitRecord = _units.ungraded(unit, sample, work).model_copy(update=outcome)
        else:
            record = await _units.graded(unit, sample, work, log.grader)
        return _Graded(unit, record, _units.compare(unit, work, record))
    except NotInEvidenceError:
        if not isinstance(unit, _units.ForeignLoop):
            raise
        loops = unit.sustained_loops
        if not recording or loops is None:
            raise NotInEvidenceError(_NO_FURTHER_REPLY) from None
        # Its last program failed there and passes here. The recording has no further reply: its count stays.
        changes = {"outcome": records.Outcome.FAILED, "sustained_loops": loops}
        record = _units.ungraded(unit, sample, work).model_copy(update=changes)
        return _Graded(unit, record, Comparison(counted(loops, "loop"), "more", equal=False))


async def _outcome_of_answer(
    unit: _units.ForeignSample, work: Work, grader: CachingGrader
) -> records.Outcome:
    """Equal answers to one question are graded once, in all samples, models and variants of the suite."""

    async def grade() -> records.Verdict:
        record = await _units.graded(unit, 0, work, grader)
        assert isinstance(record, records.PredictionRecord)
        right, why = record.prediction.correct, record.prediction.why
        return records.Verdict(outcome=record.outcome, passed=int(right), total=1, detail=why)

    question = (work.suite_id.partition("@")[0], work.built.suite.data, unit.task_id)
    return (await grader.grade_once(memo_key("answer", *question, unit.text), grade)).outcome


def _name(task_id: str, sample: int) -> str:
    return f"{task_id} #{sample}" if sample else task_id


def _digest(path: Path) -> str:
    """Returns the SHA-256 of a file, or of all files of a folder with their names."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for file in files_below(path):
        digest.update(file.relative_to(path).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _manifest_fields(work: Work, report: ImportReport) -> dict[str, Any]:
    data = work.built.suite.data
    return {
        "suite": work.suite_id,
        "model": work.row.id,
        "served_model": work.row.id,
        "protocol": work.protocol,
        "data": records.DataSetRecord(name=data.name, version=data.version, sha256=data.sha256),
        "engine_versions": (ENGINE_VERSION,),
        "private": work.built.entry.private,
        "tasks_in_suite": report.tasks_in_suite,
        "tasks_planned": report.tasks,
        "outcomes": dict(sorted(report.outcomes.items())),
    }
