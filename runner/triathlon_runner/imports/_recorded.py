"""Others' recordings, graded by us and filed as recorded: outcomes with a receipt, none of their texts."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.concurrency import OnProgress, show_nothing
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Comparison
from triathlon_runner.imports._compare import compare
from triathlon_runner.imports._foreign import Foreign, ForeignLoop, ForeignProgram, ForeignReply
from triathlon_runner.imports._formats import Format
from triathlon_runner.imports._grade import graded
from triathlon_runner.imports._import import ImportReport, grade_all, manifest_fields
from triathlon_runner.imports._sources import Source
from triathlon_runner.imports._verdict_cache import CachingGrader
from triathlon_runner.memo import memo_key
from triathlon_runner.records import (
    KEPT_AS_OUTCOMES,
    EvolvedRecord,
    LoopRecord,
    Outcome,
    PredictionRecord,
    Receipt,
    RecordedLine,
    RecordedManifest,
    RecordedTask,
    UnitRecord,
    Verdict,
    short_hash,
)
from triathlon_runner.schedule import Work
from triathlon_runner.store import RecordedFile, ResultsFolder
from triathlon_runner.terminal import counted
from triathlon_runner.verify import NotInEvidenceError


@dataclass(frozen=True, slots=True)
class Recording:
    """One file of a source: what one model replied."""

    log_format: Format
    path: Path
    source: Source


@dataclass(frozen=True, slots=True)
class _GradedUnit:
    """A unit of the recording and the line that is written for it."""

    foreign: Foreign
    line: RecordedLine
    comparison: Comparison | None
    """With the verdict that the authors published; None where they published none."""


async def import_recording(
    recording: Recording,
    work: Work,
    results: ResultsFolder,
    grader: CachingGrader,
    on_progress: OnProgress = show_nothing,
) -> ImportReport:
    """Grades one file's units of one suite and writes them to `recorded/`, replacing what was there.

    Nothing is written where units were left out because our machinery failed: call again.

    Args:
        recording: The file; it may hold units of several suites.
        work: Model and suite.
        results: Where results lie.
        grader: Grades programs.
        on_progress: Called after each unit with the number of those that are done, and of all.

    Raises:
        UserError: the suite is of another discipline, the file cannot be read, or the results cannot be
            written.
    """
    entry = work.built.entry
    log_format = recording.log_format
    if log_format.record not in KEPT_AS_OUTCOMES:
        raise UserError(
            f"recorded {log_format.name} results cannot be filed: leave --recorded out to import them"
        )
    if entry.record is not log_format.record:
        raise UserError(
            f"expected a suite that asks what {log_format.name} logs answer, got {entry.id!r};"
            " name another --suite"
        )
    file = RecordedFile(results.root, recording.source.id, work.row.id, work.suite_id)
    report = ImportReport(file.lines)
    units = [unit for unit in log_format.read(recording.path) if _belongs(unit, entry.set_name)]
    graded_units = await grade_all(
        units, work, report, lambda unit, n: _graded_unit(unit, n, work, grader), on_progress
    )
    report.units = len(graded_units)
    report.outcomes = Counter(graded_unit.line.outcome.value for graded_unit in graded_units)
    for graded_unit in graded_units:
        report.agreement.add(graded_unit.line.task_id, graded_unit.line.sample, graded_unit.comparison)
    report.tasks = len({graded_unit.line.task_id for graded_unit in graded_units})
    report.tasks_in_suite = len(work.built.tasks)
    if graded_units and not report.ungraded:
        line_holds: Literal["sample", "task"] = "task" if entry.default_samples > 1 else "sample"
        lines = _by_task(graded_units) if line_holds == "task" else [unit.line for unit in graded_units]
        fields = manifest_fields(work, {line.task_id for line in lines}, report.outcomes)
        file.write(_manifest(recording, work, report, fields | {"line_holds": line_holds}), lines)
        report.written = True
    return report


def _by_task(graded_units: Sequence[_GradedUnit]) -> list[RecordedTask]:
    """Returns a line for each task, in the order of its units."""
    by_task = groupby(graded_units, key=lambda graded_unit: graded_unit.line.task_id)
    return [
        RecordedTask(
            task_id=task_id,
            outcomes=RecordedTask.outcomes_text([sample.line.outcome for sample in samples]),
            answers=short_hash("\0".join(_text(sample.foreign) for sample in samples)),
            differs=tuple(sample.line.sample for sample in samples if sample.line.differs),
        )
        for task_id, samples in ((task_id, list(group)) for task_id, group in by_task)
    ]


def _belongs(unit: Foreign, set_name: str) -> bool:
    """Whether a unit belongs to this set, or names no set. EvoEval's names begin with `EvoEval_`."""
    subset = unit.subset.removeprefix("EvoEval_") if isinstance(unit, ForeignProgram) else ""
    return subset in {"", set_name, set_name.removesuffix("-plus")}


async def _graded_unit(unit: Foreign, sample: int, work: Work, grader: CachingGrader) -> _GradedUnit:
    """Grades one unit."""
    outcome, loops, from_programs = Outcome.FAILED, None, 0
    record: UnitRecord | None = None
    parents: tuple[str, ...] = ()
    try:
        if isinstance(unit, ForeignReply):
            outcome = await _outcome_of_answer(unit, work, grader)
        else:
            record = await graded(unit, sample, work, grader, work.protocol)
            outcome = record.outcome
            if isinstance(record, LoopRecord):
                loops, from_programs = record.sustained_loops, record.loops_from_programs
            parents = record.parents if isinstance(record, EvolvedRecord) else ()
        comparison = compare(unit, work, outcome, record)
    except NotInEvidenceError:
        if not isinstance(unit, ForeignLoop) or unit.sustained_loops is None:
            raise
        # Its last program failed there and passes here. The recording has no further reply: its count stays.
        loops = unit.sustained_loops
        comparison = Comparison(counted(loops, "loop"), "more", equal=False)
    line = RecordedLine(
        task_id=unit.task_id,
        sample=sample,
        outcome=outcome,
        sustained_loops=loops,
        loops_from_programs=from_programs,
        parents=parents,
        program=short_hash(_text(unit)),
        differs=comparison is not None and not comparison.equal,
    )
    return _GradedUnit(unit, line, comparison)


async def _outcome_of_answer(unit: ForeignReply, work: Work, grader: CachingGrader) -> Outcome:
    """Returns the outcome of an answer.

    Equal answers to one question are graded once, in all samples, models and variants of the suite.
    """

    async def grade() -> Verdict:
        record = await graded(unit, 0, work, grader, work.protocol)
        assert isinstance(record, PredictionRecord)
        right, why = record.prediction.correct, record.prediction.why
        return Verdict(outcome=record.outcome, passed=int(right), total=1, detail=why)

    question = (work.suite_id.partition("@")[0], work.built.suite.data, unit.task_id)
    return (await grader.grade_once(memo_key("answer", *question, unit.text), grade)).outcome


def _text(unit: Foreign) -> str:
    """Returns the text of the model that is hashed."""
    if isinstance(unit, ForeignLoop):
        return "\0".join(unit.programs)
    return unit.program if isinstance(unit, ForeignProgram) else getattr(unit, "text", "")


def _manifest(
    recording: Recording, work: Work, report: ImportReport, fields: dict[str, Any]
) -> RecordedManifest:
    source = recording.source
    return RecordedManifest(
        **(fields | {"settings": {"recorded": source.id}}),
        ended=source.date,
        max_loops=work.built.suite.protocol["asked"].get("max_loops"),
        receipt=Receipt(
            **source.model_dump(include={"title", "address", "commit", "date", "licence", "note"}),
            source=source.id,
            file=recording.path.name,
            sha256=hashlib.sha256(recording.path.read_bytes()).hexdigest(),
            engine_version=ENGINE_VERSION,
            compared=report.agreement.compared,
            equal=report.agreement.equal,
        ),
    )
