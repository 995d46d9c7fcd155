"""What the site keeps of one results file: sums by task, no replies."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.metrics import Metric
from triathlon_runner.records import Manifest, Strict, UnitRecord, Usage
from triathlon_runner.store import fault_of_manifest
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load._checks import unreadable
from triathlon_site.load._tasks import TaskResult, Tasks


class Notice(Strict):
    """Something in the results that a reader of the site should know of."""

    file: str
    """Relative to the results folder."""
    line: int | None = None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Parts:
    """One metric's contributions, a cluster each."""

    clusters: tuple[str, ...]
    numerators: Sequence[float]
    denominators: Sequence[float]


@dataclass(frozen=True, slots=True)
class Extracts:
    """Texts that were made of the records while they were read, kept beside the aggregate in the cache."""

    folder: str = ""
    names: tuple[str, ...] = ()

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def read(self, name: str) -> bytes:
        """One of them, in UTF-8; empty where there is none of that name."""
        if name not in self.names:
            return b""
        with open(self.path(name), "rb") as file:
            return file.read()


@dataclass(frozen=True, slots=True)
class FileAggregate:
    """One model on one suite."""

    model: str
    suite: str
    file: str
    sha256: str
    protocol: str
    manifest: Manifest | None
    tasks: Tasks
    """Read when they are asked for, where they come from the cache."""
    outcomes: dict[str, int]
    usage: Usage
    seconds: float
    other_protocols: int
    """Lines of an earlier protocol: not counted."""
    metrics: dict[str, Parts]
    repeats: dict[str, tuple[float, ...]]
    """Score of each sample by metric, where tasks have several (REval repeats five times)."""
    notices: tuple[Notice, ...]
    extracts: Extracts = Extracts()

    @property
    def units(self) -> int:
        return len(self.tasks)

    @property
    def open_units(self) -> int:
        """Planned units without a line; where a run was killed, its manifest counts what was there before."""
        if self.manifest is None:
            return 0
        planned = sum(self.manifest.outcomes.values()) + self.manifest.open_units
        return max(0, planned - self.units)

    @property
    def partial(self) -> bool:
        """True where the profile took only some of the suite's tasks."""
        return self.manifest is not None and self.manifest.tasks_planned < self.manifest.tasks_in_suite


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Whose results a file holds."""

    model: str
    file: str
    """Relative to the results folder."""
    sha256: str


def aggregate(
    entry: SuiteEntry,
    source: SourceFile,
    *,
    records: Sequence[UnitRecord],
    manifest: Manifest | None,
    notices: Iterable[Notice] = (),
) -> FileAggregate:
    """Sums up one file's records. Those of another protocol than the manifest's are counted, not summed."""
    protocol = current_protocol(records, manifest)
    current = [record for record in records if record.protocol == protocol]
    others = len(records) - len(current)
    return FileAggregate(
        model=source.model,
        suite=entry.id,
        file=source.file,
        sha256=source.sha256,
        protocol=protocol,
        manifest=manifest,
        tasks=Tasks.of(map(_task_result, current)),
        outcomes=dict(sorted(Counter(str(record.outcome) for record in current).items())),
        usage=sum((record.usage for record in current), Usage()),
        seconds=sum(record.seconds for record in current),
        other_protocols=others,
        metrics={metric.id: parts(metric, current) for metric in entry.metrics},
        repeats=repeats(entry.metrics, current),
        notices=(*notices, *_about_protocols(source.file, others, protocol)),
    )


def repeats(metrics: Sequence[Metric], records: Sequence[UnitRecord]) -> dict[str, tuple[float, ...]]:
    """Each metric's score in each sample by itself; nothing where every task has one sample."""
    samples: dict[int, list[UnitRecord]] = {}
    for record in records:
        samples.setdefault(record.sample, []).append(record)
    if len(samples) < 2:
        return {}
    return {
        metric.id: tuple(metric.score(samples[sample]) for sample in sorted(samples)) for metric in metrics
    }


def current_protocol(records: Sequence[UnitRecord], manifest: Manifest | None) -> str:
    """The manifest's; without one, that of the last line."""
    if manifest:
        return manifest.protocol
    return records[-1].protocol if records else ""


def _task_result(record: UnitRecord) -> TaskResult:
    return TaskResult(record.task_id, record.sample, record.outcome, tuple(getattr(record, "parents", ())))


def parts(metric: Metric, records: Sequence[UnitRecord]) -> Parts:
    """Contributions summed by cluster, in the order of the clusters' names."""
    sums: dict[str, list[float]] = {}
    for part in metric.contributions(records):
        total = sums.setdefault(part.cluster, [0.0, 0.0])
        total[0] += part.numerator
        total[1] += part.denominator
    ordered = sorted(sums)
    return Parts(
        clusters=tuple(ordered),
        numerators=tuple(sums[cluster][0] for cluster in ordered),
        denominators=tuple(sums[cluster][1] for cluster in ordered),
    )


def _about_protocols(file: str, others: int, protocol: str) -> list[Notice]:
    if not others:
        return []
    message = f"{others} lines were made under another protocol than {protocol!r} and are not counted"
    return [Notice(file=file, message=message)]


def read_manifest(path: Path, file: str, model: str, suite: str) -> tuple[Manifest | None, list[Notice]]:
    """The manifest beside a results file, or a notice of what is wrong with it."""
    archive = f"`triathlon results archive --models {model} --suites {suite}`"
    if not path.exists():
        message = (
            "no manifest beside it: its lines count, under conditions that are unknown; `triathlon run`"
            f" writes a new one, {archive} puts the lines aside"
        )
        return None, [Notice(file=file, message=message)]
    try:
        manifest, fault = None, unreadable(path)
        if not fault:
            manifest = Manifest.model_validate_json(path.read_bytes())
            fault = fault_of_manifest(manifest, model, suite)
    except ValueError as error:
        fault = first_fault(error)
    if not fault:
        return manifest, []
    message = (
        f"its manifest cannot be used: {fault}; its lines count, under conditions that are unknown: mend the"
        f" manifest, or put both aside with {archive}"
    )
    return None, [Notice(file=file, message=message)]


def first_fault(error: Exception) -> str:
    """The first of a validation error's faults, in one line."""
    faults: list[Any] = getattr(error, "errors", list)()
    if not faults:
        return str(error)
    where = ".".join(str(part) for part in faults[0]["loc"])
    return f"{where}: {faults[0]['msg']}" if where else str(faults[0]["msg"])
