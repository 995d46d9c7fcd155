"""Measured results without texts: lines as recordings have them, written from files that were verified."""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.records import (
    KEPT_AS_OUTCOMES,
    MEASURED_HERE,
    EvolvedRecord,
    LoopRecord,
    Manifest,
    Receipt,
    RecordedLine,
    RecordedManifest,
    RecordedTask,
    UnitRecord,
    short_hash,
)
from triathlon_runner.store import RecordedFile, ResultsFolder
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.verify._verify import FileReport

_DAY: Final = len("2026-01-31")
_OF_THE_LAST_RUN: Final = ("planned", "bytes", "tokens_per_second")
"""Fields of the manifest that say nothing of the outcomes: of the whole file, or of the last run alone."""


def compact_file(
    folder: ResultsFolder, entry: SuiteEntry, manifest: Manifest, report: FileReport
) -> RecordedFile:
    """Writes a verified results file anew without its texts and returns the new file; the old one stays.

    Args:
        folder: Where results lie.
        entry: The suite.
        manifest: That of the file.
        report: What verifying the file showed: every line follows from its evidence.

    Raises:
        UserError: the suite's scores need more than outcomes, samples are missing, or nothing can be
            written.
    """
    if entry.record not in KEPT_AS_OUTCOMES:
        raise UserError(
            f"{entry.id}: expected a suite whose scores follow from outcomes (loop, evolved, CRUXEval), got"
            f" {entry.record.__name__}s, whose scores need every answer; keep the whole file"
        )
    records = [stored for stored, _ in report.pairs]
    by_task = entry.default_samples > 1
    lines = _by_task(records) if by_task else [_line(record) for record in records]
    path = folder.lines(report.model, report.suite)
    kept = RecordedManifest.model_validate(
        {
            **manifest.model_dump(),
            **dict.fromkeys(_OF_THE_LAST_RUN),
            "ended": manifest.ended[:_DAY],
            "max_loops": next((each.max_loops for each in records if isinstance(each, LoopRecord)), None),
            "line_holds": "task" if by_task else "sample",
            "receipt": _receipt(path, path.relative_to(folder.root).as_posix(), manifest, report),
        }
    )
    _check_scores(entry, records, [unit for line in lines for unit in kept.units(_json(line))])
    file = RecordedFile(folder.root, MEASURED_HERE, report.model, report.suite)
    file.write(kept, lines)
    return file


def _json(line: RecordedLine | RecordedTask) -> bytes:
    return line.model_dump_json().encode()


def _line(record: UnitRecord) -> RecordedLine:
    """Returns one unit as its outcome."""
    loop = record if isinstance(record, LoopRecord) else None
    return RecordedLine(
        task_id=record.task_id,
        sample=record.sample,
        outcome=record.outcome,
        sustained_loops=loop.sustained_loops if loop else None,
        loops_from_programs=loop.loops_from_programs if loop else 0,
        parents=record.parents if isinstance(record, EvolvedRecord) else (),
        program=_hash_of([record]),
    )


def _by_task(records: Sequence[UnitRecord]) -> list[RecordedTask]:
    """Returns a line for each task, with its samples in order."""
    by_task: dict[str, list[UnitRecord]] = {record.task_id: [] for record in records}
    for record in sorted(records, key=lambda record: record.sample):
        by_task[record.task_id].append(record)
    for task_id, samples in by_task.items():
        if [record.sample for record in samples] != list(range(len(samples))):
            raise UserError(f"{task_id}: expected its samples from 0 on; finish the run before compacting it")
    return [
        RecordedTask(
            task_id=task_id,
            outcomes=RecordedTask.outcomes_text([record.outcome for record in samples]),
            answers=_hash_of(samples),
        )
        for task_id, samples in by_task.items()
    ]


def _hash_of(records: Sequence[UnitRecord]) -> str:
    """Returns the short hash of what was taken out of the replies."""
    return short_hash("\0".join(question.extracted for each in records for question in each.questions()))


def _receipt(path: Path, name: str, manifest: Manifest, report: FileReport) -> Receipt:
    return Receipt(
        source=MEASURED_HERE,
        title="measured with this program",
        address="",
        commit=manifest.runner_version,
        date=manifest.ended[:_DAY],
        licence="",
        note="every line followed from its replies before they were left out",
        file=name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        engine_version=ENGINE_VERSION,
        compared=report.units,
        equal=report.verified,
    )


def _check_scores(entry: SuiteEntry, whole: Sequence[UnitRecord], kept: Sequence[UnitRecord]) -> None:
    """Checks that the lines give each score that the whole records give.

    Raises:
        UserError: one differs.
    """
    for metric in entry.metrics:
        before, after = metric.score(whole), metric.score(kept)
        if before != after and not (math.isnan(before) and math.isnan(after)):
            raise UserError(
                f"{entry.id}: expected {metric.title} {before:g} of the lines without texts, got {after:g};"
                " keep the whole file"
            )
