"""Others' recordings, graded by us and filed as recorded: outcomes with a receipt, none of their texts."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from triathlon_runner.concurrency import run_all
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.imports._foreign import Foreign, ForeignLoop, ForeignProgram, ForeignReply
from triathlon_runner.imports._formats import Format
from triathlon_runner.imports._grade import graded
from triathlon_runner.imports._import import AT_ONCE, ImportReport
from triathlon_runner.imports._sources import Source
from triathlon_runner.imports._verdict_cache import CachingGrader
from triathlon_runner.records import (
    DataSetRecord,
    EvolvedRecord,
    LoopRecord,
    Outcome,
    PredictionRecord,
    Receipt,
    RecordedLine,
    RecordedManifest,
    RecordedTask,
    Verdict,
)
from triathlon_runner.schedule import Work
from triathlon_runner.store import RecordedFile, ResultsFolder
from triathlon_runner.suites import Programs
from triathlon_runner.verify import NotInEvidenceError

_RECORDS: Final = (LoopRecord, EvolvedRecord, PredictionRecord)
"""Of the suites whose recordings can be filed: their metrics need no more than a line keeps."""
_HASH_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class Recording:
    """One file of a source: what one model replied."""

    form: Format
    path: Path
    source: Source


@dataclass(frozen=True, slots=True)
class _Judged:
    """One unit with our verdict."""

    unit: Foreign
    line: RecordedLine
    compared: bool
    """Whether the authors published a verdict on it."""


async def import_recording(
    recording: Recording, units: Sequence[Foreign], work: Work, results: ResultsFolder, grader: CachingGrader
) -> ImportReport:
    """Grades one file's units of one suite and writes them to `recorded/`, replacing what was there.

    Nothing is written where units were left out because our machinery failed: call again.

    Args:
        recording: The file.
        units: What stands in it, of whatever suites.
        work: Model and suite.
        results: Where results lie.
        grader: Grades programs.

    Raises:
        UserError: the suite is of another discipline, or the results cannot be written.
    """
    entry = work.built.entry
    form = recording.form
    if form.record not in _RECORDS:
        raise UserError(f"recorded {form.name} results cannot be filed: leave --recorded out to import them")
    if entry.record is not form.record:
        raise UserError(
            f"expected a suite that asks what {form.name} logs answer, got {entry.id!r}; name another --suite"
        )
    file = RecordedFile(results.root, recording.source.id, work.row.id, work.suite_id)
    report = ImportReport(file.lines)
    found = await _judge_all([unit for unit in units if _belongs(unit, entry.set_name)], work, grader, report)
    report.units, report.outcomes = len(found), Counter(one.line.outcome.value for one in found)
    report.compared = sum(one.compared for one in found)
    report.equal = report.compared - sum(one.line.differs for one in found)
    if found and not report.faults:
        asks_often = entry.default_samples > 1
        lines = _by_task(found) if asks_often else [one.line for one in found]
        holds: dict[str, Any] = {"line_holds": "task"} if asks_often else {}
        file.write(_manifest(recording, work, lines, report).model_copy(update=holds), lines)
    return report


def _by_task(found: Sequence[_Judged]) -> list[RecordedTask]:
    """A line a task, of units in order."""
    tasks: dict[str, list[_Judged]] = {}
    for one in found:
        tasks.setdefault(one.line.task_id, []).append(one)
    return [
        RecordedTask(
            task_id=task_id,
            outcomes=RecordedTask.outcomes_text([one.line.outcome for one in samples]),
            answers=_hash("\0".join(_text(one.unit) for one in samples)),
            differs=tuple(one.line.sample for one in samples if one.line.differs),
        )
        for task_id, samples in tasks.items()
    ]


def _belongs(unit: Foreign, set_name: str) -> bool:
    """Whether a unit is of this set; a row that names none is of any. EvoEval's begin with its name."""
    subset = unit.subset.removeprefix("EvoEval_") if isinstance(unit, ForeignProgram) else ""
    return subset in {"", set_name, set_name.removesuffix("-plus")}


async def _judge_all(
    units: Sequence[Foreign], work: Work, grader: CachingGrader, report: ImportReport
) -> list[_Judged]:
    """In the suite's order; what cannot be graded is named in the report."""
    place = {task.task_id: number for number, task in enumerate(work.built.tasks)}
    samples: Counter[str] = Counter()
    limit = asyncio.Semaphore(AT_ONCE)

    async def judge(unit: Foreign, sample: int) -> _Judged | None:
        async with limit:
            try:
                return await _judged(unit, sample, work, grader)
            except InfrastructureError as error:
                report.left_out[unit.task_id] = report.faults[unit.task_id] = str(error)
        return None

    waiting = []
    for unit in units:
        if unit.task_id in place:
            waiting.append(judge(unit, samples[unit.task_id]))
            samples[unit.task_id] += 1
        else:
            report.left_out[unit.task_id] = "the suite has no such task"
    found = [one for one in await run_all(waiting) if one is not None]
    return sorted(found, key=lambda one: (place[one.line.task_id], one.line.sample))


async def _judged(unit: Foreign, sample: int, work: Work, grader: CachingGrader) -> _Judged:
    """One unit's line.

    Raises:
        InfrastructureError: our machinery failed, or it asks for what the recording does not have.
    """
    outcome, loops = Outcome.FAILED, None
    parents: tuple[str, ...] = ()
    try:
        if isinstance(unit, ForeignReply):
            outcome = await _outcome_of_answer(unit, work, grader)
        else:
            record = await graded(unit, sample, work, grader, work.settings_hash)
            outcome = record.outcome
            if isinstance(record, LoopRecord):
                loops = record.sustained_loops
            elif isinstance(record, EvolvedRecord):
                parents = record.parents
        same = _same(unit, work, outcome, loops)
    except NotInEvidenceError:
        if not isinstance(unit, ForeignLoop) or unit.sustained_loops is None:
            raise
        # Its last program failed there and passes here: nobody asked further, so the recording's count stays.
        loops, same = unit.sustained_loops, False
    line = RecordedLine(
        task_id=unit.task_id,
        sample=sample,
        outcome=outcome,
        sustained_loops=loops,
        parents=parents,
        program=_hash(_text(unit)),
        differs=same is False,
    )
    return _Judged(unit, line, same is not None)


async def _outcome_of_answer(unit: ForeignReply, work: Work, grader: CachingGrader) -> Outcome:
    """How an answer ends; what many samples and models answer is graded once, however they were asked."""

    async def grade() -> Verdict:
        record = await graded(unit, 0, work, grader, work.settings_hash)
        assert isinstance(record, PredictionRecord)
        right, why = record.prediction.correct, record.prediction.why
        return Verdict(outcome=record.outcome, passed=int(right), total=1, detail=why)

    question = f"{work.suite_id.partition('@')[0]}\0{unit.task_id}"
    return (await grader.grade_once(f"{question}\0{unit.text}", grade)).outcome


def _same(unit: Foreign, work: Work, outcome: Outcome, loops: int | None) -> bool | None:
    """Whether the authors' verdict is ours; None where they published none."""
    if isinstance(unit, ForeignLoop):
        return None if unit.sustained_loops is None else unit.sustained_loops == loops
    if isinstance(unit, ForeignReply):
        return None if unit.passed is None else unit.passed == (outcome is Outcome.PASSED)
    if not isinstance(unit, ForeignProgram):
        return None
    suite = work.built.suite
    on_all = isinstance(suite, Programs) and suite.inputs == "all" and unit.plus_passed is not None
    passed = unit.plus_passed if on_all else unit.base_passed
    return None if passed is None else passed == (outcome is Outcome.PASSED)


def _text(unit: Foreign) -> str:
    """What the model wrote, as it is hashed."""
    if isinstance(unit, ForeignLoop):
        return "\0".join(unit.programs)
    return unit.program if isinstance(unit, ForeignProgram) else getattr(unit, "text", "")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS] if text else ""


def _manifest(
    recording: Recording, work: Work, lines: Sequence[RecordedLine | RecordedTask], report: ImportReport
) -> RecordedManifest:
    data, source = work.built.suite.data, recording.source
    settings = work.built.suite.settings(work.row.kind)
    return RecordedManifest(
        suite=work.suite_id,
        model=work.row.id,
        served_model=work.row.id,
        protocol=work.settings_hash,
        settings=dict(work.settings),
        data=DataSetRecord(name=data.name, version=data.version, sha256=data.sha256),
        engine_versions=(ENGINE_VERSION,),
        private=work.built.entry.private,
        tasks_in_suite=len(work.built.tasks),
        tasks_planned=len({line.task_id for line in lines}),
        outcomes=dict(sorted(report.outcomes.items())),
        ended=source.date,
        max_loops=settings.get("max_loops"),
        receipt=Receipt(
            source=source.id,
            title=source.title,
            address=source.address,
            commit=source.commit,
            date=source.date,
            licence=source.licence,
            note=source.note,
            file=recording.path.name,
            sha256=hashlib.sha256(recording.path.read_bytes()).hexdigest(),
            engine_version=ENGINE_VERSION,
            compared=report.compared,
            equal=report.equal,
        ),
    )


def recorded_settings(source: Source) -> dict[str, str]:
    """What stands for the protocol of recorded results: somebody else asked."""
    return {"recorded": source.id}
