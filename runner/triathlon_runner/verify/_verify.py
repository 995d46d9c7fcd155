"""Grades a results file again and compares the outcomes with those in the file."""

import asyncio
import itertools
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from triathlon_runner.concurrency import OnProgress, run_all, show_nothing
from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.errors import InfrastructureError
from triathlon_runner.grading import Grader
from triathlon_runner.memo import python_version
from triathlon_runner.records import Manifest, Outcome, ProtocolHashes, UnitRecord
from triathlon_runner.schedule import Work
from triathlon_runner.store import Unit, count_lines, read_undamaged_records
from triathlon_runner.terminal import counted, shortened
from triathlon_runner.verify._replay import NotInEvidenceError, replayed

_AT_ONCE = 8
"""Units graded at the same time; the sandbox has its own limit."""
_SHOWN = 120
"""Characters of a value that are shown."""
_BEFORE = 40
"""Equal characters that are shown before the first difference of two long values."""
Regrade = Callable[[UnitRecord, Work, Grader], Awaitable[UnitRecord]]
"""From a stored record to the one that its replies lead to now."""
COST_OF_ASKING: Final = {"usage", "seconds", "judge_usage"}
"""Fields of a record that grading again cannot measure."""
_IN_WORDS = {"detail", "why"}
"""Fields that a reader is told a fault in: exceptions' words and what was printed differ between Pythons."""
_NO_MEMORY = re.compile("MemoryError|out of memory")
_REPEATS = 2
"""How often a unit that differs is graded once more: a program may draw random numbers."""
COUNTS_DIFFER: Final = (
    "the manifest counts {stored}, its lines {expected}; lines were lost, added or changed: the next"
    " `triathlon run`, or `import` of an imported log, makes what is missing and counts them anew"
)
"""Sentence of a `Mismatch` where manifest and lines contradict each other; either may have been changed."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A stored value that does not follow from the evidence."""

    what: str
    """A unit, a manifest's field or a metric."""
    stored: str
    expected: str
    sentence: str = "stored {stored}, graded again {expected}"
    unit: Unit | None = None
    """The unit whose line it is about; None for a manifest or a score."""

    def in_words(self) -> str:
        """Both values as part of a sentence; the caller names `what`."""
        return self.sentence.format(stored=self.stored, expected=self.expected)


@dataclass(frozen=True, slots=True)
class Update:
    """What bringing one file up to date changed."""

    changed: int
    """Lines that changed."""
    reopened: list[str]
    """Units that need replies which are not stored: the next run asks for them."""
    archived: Path | None
    """The file as it was; None where no line changed."""


@dataclass(slots=True)
class FileReport:
    """What verifying one results file showed."""

    model: str
    suite: str
    units: int = 0
    verified: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)
    differing: list[Mismatch] = field(default_factory=list)
    """What grading gave otherwise, where another Python graded the file."""
    graded_under: str = ""
    """The Python that graded the file, where it is not the one here, as `3.12`."""
    unverified: dict[str, str] = field(default_factory=dict)
    """What could not be graded again, and why."""
    notes: list[str] = field(default_factory=list)
    """What the evidence cannot show."""
    scores: dict[str, float] = field(default_factory=dict)
    """Metrics over what was graded again; only those that are defined on it."""
    unfinished: bool = False
    """Whether the run that wrote the file was interrupted."""
    other_engine: str = ""
    """A notice where another version of extraction and grading graded the file; empty for this version."""
    pairs: list[tuple[UnitRecord, UnitRecord | None]] = field(default_factory=list)
    """Each stored record with the one that its replies lead to now."""
    not_in_evidence: set[str] = field(default_factory=set)
    """Units of `unverified` that ask for replies that are not stored."""
    damaged_lines: set[str] = field(default_factory=set)
    """Entries of `unverified` for lines that cannot be read."""
    update: Update | None = None
    """What `update_file` changed; None where the file is as it was."""

    @property
    def differences(self) -> list[Mismatch]:
        """Where what grading gave otherwise is added: another Python may grade otherwise."""
        return self.differing if self.graded_under else self.mismatches

    @property
    def follows(self) -> bool:
        """Whether every line and score follows from its evidence."""
        return not (self.mismatches or self.differing or self.unverified)

    @property
    def good(self) -> bool:
        """Whether the file as it is now follows from its evidence."""
        return self.follows or self.update is not None

    @property
    def contradicted(self) -> bool:
        """Whether something is wrong with the evidence, not only that it could not be graded again here."""
        return bool(self.mismatches or self.damaged_lines or self.not_in_evidence)


async def verify_file(
    work: Work,
    path: Path,
    manifest: Manifest | None,
    grader: Grader,
    *,
    only: Collection[str] = (),
    regrade: Regrade = replayed,
    on_progress: OnProgress = show_nothing,
) -> FileReport:
    """Executes and grades every program and answer of a file again, asking no model.

    `work` is what the manifest says that it is. `only` are tasks to which this is restricted: scores and
    counts, which need all of them, are then left out.
    """
    report = FileReport(work.row.id, work.suite_id)
    stored, damaged = read_undamaged_records(path, work.built.entry.record)
    if only:
        stored = [record for record in stored if record.task_id in only]
    faults = {f"{path}, line {number}": fault for number, fault in damaged.items()}
    report.unverified.update(faults)
    report.damaged_lines.update(faults)
    report.units = len(stored) + len(damaged)
    if manifest is not None:
        report.unfinished = manifest.unfinished
        if manifest.unfinished:
            lines = counted(len(stored), "line")
            report.notes.append(f"unfinished run, {lines} whole; the next run goes on from there")
        report.other_engine = graded_otherwise(manifest.engine_versions) if stored else ""
        if set(manifest.python_versions) - {python_version()}:
            report.graded_under = ", ".join(manifest.python_versions)
    if count_lines(path)[1]:
        report.notes.append(
            "behind them a line that was cut before its end: the next run makes its unit again"
        )
    limit, done = asyncio.Semaphore(_AT_ONCE), itertools.count(1)
    tasks = {task.task_id for task in work.built.tasks}

    async def check(record: UnitRecord) -> UnitRecord | None:
        async with limit:
            graded = await _graded_again(work, tasks, record, report, lambda: regrade(record, work, grader))
        on_progress(next(done), len(stored))
        return graded

    report.pairs = list(zip(stored, await run_all(map(check, stored)), strict=True))
    pairs = [(before, after) for before, after in report.pairs if after is not None]
    report.verified = len(pairs)
    if only:
        return report
    if pairs or not stored:
        _compare_scores(work, pairs, report)
    if manifest is None:
        report.unverified.setdefault("manifest", "the file has none")
        return report
    _compare_identity(manifest, work, {record.protocol for record in stored}, report)
    if not damaged:  # else its counts differ, of course
        _compare_counts(manifest, stored, [after for _, after in pairs], report)
    if report.mismatches and not manifest.python_versions:
        report.notes.append(f"no Python stands in the manifest; graded again under {python_version()}")
    return report


async def _graded_again(
    work: Work,
    tasks: Collection[str],
    record: UnitRecord,
    report: FileReport,
    regrade: Callable[[], Awaitable[UnitRecord]],
) -> UnitRecord | None:
    """Returns the record that its own replies lead to now; None where grading was not possible.

    `tasks`: the ids of those of the suite. What differs is added to the report, unless it is another each
    time that the unit is graded.
    """
    name = f"{record.task_id} #{record.sample}"
    if record.protocol != work.protocol:
        report.unverified[name] = _of_another_protocol(record.protocol, work)
        return None
    if record.model != work.row.id or record.suite != work.suite_id:
        named, file = f"{record.model} {record.suite}", f"{work.row.id} {work.suite_id}"
        sentence = "expected a line of {expected}, got one of {stored}"
        report.mismatches.append(Mismatch(name, named, file, sentence))
        return None
    if record.task_id not in tasks:
        report.unverified[name] = "the suite has no such task"
        return None
    evidence = _evidence(record)
    try:
        attempts = [await regrade()]
        while _evidence(attempts[-1]) != evidence and len(attempts) <= _REPEATS:
            attempts.append(await regrade())
    except InfrastructureError as error:
        report.unverified[name] = str(error)
        if isinstance(error, NotInEvidenceError):
            report.not_in_evidence.add(name)
        return None
    graded = attempts[-1]
    if any(_evidence(attempt) != _evidence(attempts[0]) for attempt in attempts[1:]):
        report.notes.append(f"{name}: what its program returns varies from one execution to the next")
        if graded.outcome is record.outcome:
            return graded
    unit = (record.task_id, record.sample)
    report.differences.extend(
        Mismatch(f"{name} {place}", *_short_pair(old, new), unit=unit)
        for place, old, new in _places("", evidence, _evidence(graded))
    )
    met_other_limit = graded.outcome is not record.outcome and _evidence(graded) == evidence
    return record if met_other_limit else graded


def _evidence(record: UnitRecord) -> Any:
    """Returns what of a record its replies determine on every machine and under every Python."""
    return _determined(record.model_dump(mode="json", exclude=COST_OF_ASKING))


def _determined(value: Any) -> Any:
    """Returns a JSON value without what is told in words, and without how far a timed-out program came.

    Of a failing case its index stays: values may be random, and sets are written in any order. A program that
    takes ever more time and memory meets either limit first, as fast as the machine is: both are one outcome.
    """
    if isinstance(value, list):
        return [_determined(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _took_all_memory(value):
        value = value | {"outcome": Outcome.TIMED_OUT}
    left_out = _IN_WORDS
    if value.get("outcome") == Outcome.TIMED_OUT and "failing" in value:
        left_out = _IN_WORDS | {"failing", "passed"}
    elif failing := value.get("failing"):
        value = value | {"failing": {"index": failing["index"]}}
    return {key: _determined(item) for key, item in value.items() if key not in left_out}


def _took_all_memory(value: Mapping[str, Any]) -> bool:
    """Whether an outcome is that of a program without memory: a verdict's, or that of what it decides."""
    if value.get("outcome") != Outcome.CRASHED:
        return False
    if decides := value.get("verdict") or (value.get("loops") or [None])[-1]:
        return _took_all_memory(decides)
    words = value.get("detail"), value.get("why"), (value.get("failing") or {}).get("got")
    return any(_NO_MEMORY.search(text) for text in words if text)


def _places(place: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yields the smallest parts in which two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _places(f"{place}.{key}".lstrip("."), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _places(f"{place}[{number}]", before, after)
    elif old != new:
        yield place, old, new


def _short_pair(stored: object, graded: object) -> tuple[str, str]:
    """Returns both, short, from a little before where they begin to differ: programs often begin alike."""
    first, second = repr(stored), repr(graded)
    pairs = enumerate(zip(first, second, strict=False))
    same = next((place for place, (old, new) in pairs if old != new), min(len(first), len(second)))
    start = same - _BEFORE if same > 2 * _BEFORE else 0
    cut = "…" if start else ""
    return cut + shortened(first[start:], _SHOWN), cut + shortened(second[start:], _SHOWN)


def _compare_identity(
    manifest: Manifest, work: Work, protocols_of_lines: Collection[ProtocolHashes], report: FileReport
) -> None:
    """Compares protocol and data set with the lines' and today's.

    Results of another protocol are not wrong: nothing of them can be graded again. A manifest whose protocol
    is neither that of the lines nor today's was changed.
    """
    if manifest.protocol == work.protocol:
        stated, computed = manifest.data.sha256, work.built.suite.data.sha256
        if stated != computed:
            report.mismatches.append(Mismatch("manifest data", repr(stated), repr(computed)))
    elif not protocols_of_lines:
        report.unverified["manifest"] = _of_another_protocol(manifest.protocol, work)
    elif manifest.protocol not in protocols_of_lines:
        of_manifest, of_lines = str(manifest.protocol), ", ".join(sorted(map(str, protocols_of_lines)))
        sentence = "the manifest has {stored}, the lines {expected}"
        report.mismatches.append(Mismatch("manifest protocol", of_manifest, of_lines, sentence))


def _of_another_protocol(protocol: ProtocolHashes, work: Work) -> str:
    return (
        f"made under another protocol ({protocol}, now {work.protocol}): prompts, settings or data were"
        " others; if with prompts of your own, name their folder with --prompts; `triathlon results archive"
        " --outdated` puts such results aside, so that a run asks anew; an imported log is imported again"
    )


def _compare_scores(work: Work, pairs: Sequence[tuple[UnitRecord, UnitRecord]], report: FileReport) -> None:
    """Bit for bit: the same sums in the same order, over the units that were graded again."""
    for metric in work.built.entry.metrics:
        before = metric.score([stored for stored, _ in pairs])
        after = metric.score([graded for _, graded in pairs])
        if not math.isnan(after):
            report.scores[metric.id] = after
        if repr(before) != repr(after):
            report.differences.append(Mismatch(f"score {metric.id}", repr(before), repr(after)))


def _compare_counts(
    manifest: Manifest, stored: Sequence[UnitRecord], graded: Sequence[UnitRecord], report: FileReport
) -> None:
    """A manifest that counts what was graded again is right: a changed line is a mismatch itself."""
    stated = manifest.outcomes
    in_lines, again = (
        dict(sorted(Counter(record.outcome.value for record in records).items()))
        for records in (stored, graded)
    )
    whole = len(graded) == len(stored)
    if manifest.unfinished:
        if (units := sum(stated.values())) > len(stored):
            claimed, there = f"{units} units or more", counted(len(stored), "unit")
            report.mismatches.append(Mismatch("manifest units", claimed, there, COUNTS_DIFFER))
    elif stated != in_lines and not (whole and stated == again):
        counts = Mismatch("manifest outcomes", repr(stated), repr(in_lines), COUNTS_DIFFER)
        report.mismatches.append(counts)
    elif whole and stated != again:
        report.differences.append(Mismatch("manifest outcomes", repr(stated), repr(again)))
