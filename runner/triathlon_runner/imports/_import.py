"""Grades another program's log and writes its results apart from those of runs."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from triathlon_runner import __version__
from triathlon_runner.concurrency import run_all
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.grading import Grader
from triathlon_runner.imports._foreign import Foreign, ForeignLoop, ForeignReply
from triathlon_runner.imports._formats import Format
from triathlon_runner.imports._grade import graded
from triathlon_runner.records import DataSetRecord, Manifest, UnitRecord, Usage
from triathlon_runner.schedule import Work
from triathlon_runner.store import IMPORTED, ResultsFolder, replace_file
from triathlon_runner.verify import NotInEvidenceError

AT_ONCE = 8
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
    faults: dict[str, str] = field(default_factory=dict)
    """Units of `left_out` that our machinery could not grade."""
    compared: int = 0
    """Units on which the authors published a verdict, where recorded results are filed."""
    equal: int = 0
    """Units of `compared` on which our verdict is the same."""


async def import_log(
    log_format: Format, path: Path, work: Work, results: ResultsFolder, grader: Grader
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
        report = ImportReport(lines)
        records = await _grade_all(units, work, grader, report)
        if records:  # without records nothing is written, so that a mended log can still be imported
            folder.write_manifest(_manifest(log_format, path, work, records))
            replace_file(lines, "".join(record.model_dump_json(by_alias=True) + "\n" for record in records))
    return report


async def _grade_all(
    units: Sequence[Foreign], work: Work, grader: Grader, report: ImportReport
) -> list[UnitRecord]:
    """Returns the records in the suite's order; units that become no record are named in the report."""
    samples: Counter[str] = Counter()
    limit = asyncio.Semaphore(AT_ONCE)
    position = {task.task_id: number for number, task in enumerate(work.built.tasks)}

    async def grade(foreign: Foreign, sample: int) -> UnitRecord | None:
        name = f"{foreign.task_id} #{sample}" if sample else foreign.task_id
        if foreign.task_id not in position:
            report.left_out[name] = "the suite has no such task"
            return None
        async with limit:
            try:
                return await graded(foreign, sample, work, grader, work.settings_hash)
            except NotInEvidenceError as error:
                report.left_out[name] = _NO_FURTHER_REPLY if isinstance(foreign, ForeignLoop) else str(error)
            except InfrastructureError as error:
                report.left_out[name] = str(error)
        return None

    gradings = []
    for number, foreign in enumerate(units, start=1):
        if isinstance(foreign, ForeignReply) and foreign.error:
            name = f"{foreign.task_id}, sample {number} of the log"
            report.left_out[name] = f"it ended in an error: {foreign.error}"
            continue
        gradings.append(grade(foreign, samples[foreign.task_id]))
        samples[foreign.task_id] += 1
    records = [record for record in await run_all(gradings) if record is not None]
    report.units = len(records)
    report.outcomes = Counter(record.outcome.value for record in records)
    return sorted(records, key=lambda record: (position[record.task_id], record.sample))


def _digest(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder with their names."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        digest.update(file.relative_to(path).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def settings_of(log_format: Format, path: Path) -> dict[str, str]:
    """Returns the settings of an import: our prompts and sampling did not apply to its replies."""
    return {"imported": log_format.name, "sha256": _digest(path)}


def _manifest(log_format: Format, path: Path, work: Work, records: Sequence[UnitRecord]) -> Manifest:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    data = work.built.suite.data
    return Manifest(
        suite=work.suite_id,
        model=work.row.id,
        served_model=work.row.id,
        served_by=f"imported from a log of {log_format.name}",
        protocol=work.settings_hash,
        settings=dict(work.settings),
        data=DataSetRecord(name=data.name, version=data.version, sha256=data.sha256),
        runner_version=__version__,
        engine_versions=(ENGINE_VERSION,),
        sandbox_level="",
        grader_integrity="not run",
        profile=IMPORTED,
        private=work.built.entry.private,
        tasks_in_suite=len(work.built.tasks),
        tasks_planned=len({record.task_id for record in records}),
        open_units=0,
        outcomes=dict(sorted(Counter(record.outcome.value for record in records).items())),
        usage=Usage(),
        cost_usd=None,
        identity={"kind": work.row.kind},
        origin={"format": log_format.name, "file": path.name, "sha256": _digest(path)},
        started=now,
        ended=now,
    )
