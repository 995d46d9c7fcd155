"""What the site reads from one results file: a row for each unit and sums by task, no replies."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.records import (
    Finish,
    Manifest,
    Outcome,
    ProtocolHashes,
    Receipt,
    RecordedManifest,
    RecordedUnit,
    UnitRecord,
    Usage,
)
from triathlon_site.evidence import LINES, Attempt, outcomes_of
from triathlon_site.load._files import Notice

PARENTS: Final = "parents"
"""Field of the problems that a task was evolved from, in records that name them."""
_RAN: Final = frozenset((Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT))
"""How a unit ends whose program ran."""
NO_PROTOCOL: Final = ProtocolHashes(asked="", graded="")
"""Of a file without lines and manifest."""


class TaskResult(NamedTuple):
    """How one unit ended."""

    task_id: str
    sample: int
    outcome: str
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Parts:
    """One metric's contributions, a cluster each."""

    clusters: tuple[str, ...]
    """In the order of their names."""
    numerators: NDArray[np.float64]
    denominators: NDArray[np.float64]

    def score(self, metric: Metric) -> float:
        """The score of all clusters together, on the scale of `metric`, whose parts these are; nan where none
        says anything.
        """
        whole = float(sum(self.denominators.tolist()))
        return metric.scale * float(sum(self.numerators.tolist())) / whole if whole else math.nan


@dataclass(frozen=True, eq=False)
class Columns:
    """A place a unit, in the order of the lines.

    No data frame, because a site reads thousands, and each takes longer to unpickle than its numbers.
    """

    task: list[str]
    sample: NDArray[np.int64]
    outcome: list[str]
    parents: list[tuple[str, ...]]
    """The problems that each task was evolved from; none at all where records name none."""
    replies: NDArray[np.int64]
    """How many there are; 0 of recorded results, which are outcomes alone."""
    cut_replies: NDArray[np.int64]
    """How many of them ended at the token limit."""
    scores: Mapping[str, NDArray[np.float64]]
    """Each metric over the unit alone, by its id; nan where that says nothing."""


@dataclass(frozen=True)
class Extracts:
    """Texts made from the records while they were read."""

    folder: Path = Path()
    states: Mapping[str, str] = field(default_factory=dict)
    """Size and time of each file beside the aggregate in the cache, by name."""

    def path(self, name: str) -> Path:
        """Where the file of this name lies."""
        return self.folder / name

    def read(self, name: str) -> bytes:
        """The content of one, in UTF-8; empty where there is none of that name."""
        return self.path(name).read_bytes() if name in self.states else b""


@dataclass(frozen=True, eq=False)
class FileAggregate:
    """One model on one suite."""

    model: str
    suite: str
    file: str
    sha256: str
    protocol: ProtocolHashes
    manifest: Manifest | None
    columns: Columns
    usage: Usage
    """Tokens and requests of all units; of outcomes without texts, as their manifest says."""
    seconds: float
    """That all units took together."""
    metrics: dict[str, Parts]
    repeats: dict[str, tuple[float, ...]]
    """Score of each sample by metric, where tasks have several (REval repeats five times)."""
    notices: tuple[Notice, ...]
    attempts: tuple[Attempt, ...] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    """What its `Article` says of all units; empty where that says nothing."""
    extracts: Extracts = Extracts()
    judged_again: int | None = None
    """Engine that graded this very file again after it was measured, as the statement beside it says."""
    outdated: bool = False
    """Whether its problems are others than those of the file that suites.yaml names."""

    @property
    def kept(self) -> Receipt | None:
        """The receipt of outcomes that are kept without texts, recorded or measured; None for whole lines."""
        return self.manifest.receipt if isinstance(self.manifest, RecordedManifest) else None

    @property
    def receipt(self) -> Receipt | None:
        """Where recorded results come from; None for what was measured."""
        return None if self.kept is None or self.kept.measured_here else self.kept

    @property
    def has_lines(self) -> bool:
        """Whether the site shows what was written: not of recordings, and not where tasks are private."""
        return LINES in self.extracts.states

    @property
    def judged_again_by(self) -> str:
        """Whether a measured file was graded again, in words; empty where no statement says so."""
        if self.judged_again in (None, ENGINE_VERSION):
            return "" if self.judged_again is None else "graded again here"
        return f"graded again by engine {self.judged_again}"

    @property
    def ended(self) -> str:
        """Day on which the run ended (of some recorded results only the month); empty without a manifest."""
        return self.manifest.ended[:10] if self.manifest else ""

    @property
    def units(self) -> int:
        """How many units count."""
        return len(self.columns.task)

    @property
    def tasks(self) -> list[TaskResult]:
        """How each unit ended."""
        of = self.columns
        parents = of.parents or [()] * self.units
        return list(map(TaskResult, of.task, of.sample.tolist(), of.outcome, parents))

    @property
    def samples(self) -> int:
        """The most samples that a task has; 0 without units."""
        return int(self.columns.sample.max(initial=-1)) + 1

    @cached_property
    def tasks_answered(self) -> int:
        """How many of the suite's tasks have a line, whatever the manifest says was planned."""
        return len(set(self.columns.task))

    @property
    def task_counts(self) -> tuple[int, int]:
        """How many tasks have a line, and how many the suite has (0 where that is not known)."""
        return self.tasks_answered, self.manifest.tasks_in_suite if self.manifest else 0

    @cached_property
    def open_units(self) -> int:
        """Planned units without a line, of each planned task without any line at least one.

        Where a run was killed, its manifest counts what was there before.
        """
        if self.manifest is None:
            return 0
        planned = sum(self.manifest.outcomes.values()) + self.manifest.open_units
        return max(0, planned - self.units, self.manifest.tasks_planned - self.tasks_answered)

    @cached_property
    def outcomes(self) -> dict[str, int]:
        """How many units ended in each way, by name."""
        return dict(sorted(Counter(self.columns.outcome).items()))

    @cached_property
    def ran(self) -> int:
        """How many units' programs ran, if too long; a loop counts by its first program."""
        outcomes = self.columns.outcome
        solved = self.columns.scores.get("pass_at_1", np.zeros(len(outcomes))).tolist()
        return sum(outcome in _RAN or share > 0 for outcome, share in zip(outcomes, solved, strict=True))

    @cached_property
    def replies(self) -> int:
        """Number of replies in the file; 0 of recorded results, which are outcomes alone."""
        return int(self.columns.replies.sum())

    @cached_property
    def cut_replies(self) -> int:
        """Of the replies, those that ended at the token limit."""
        return int(self.columns.cut_replies.sum())

    def with_extracts(self, extracts: Extracts) -> "FileAggregate":
        """The same with other extracts, and with all that is counted in the columns counted: a cache stores
        the counts, too.
        """
        for name, member in vars(FileAggregate).items():
            if isinstance(member, cached_property):
                getattr(self, name)
        found = copy(self)
        object.__setattr__(found, "extracts", extracts)  # `replace` would lose the counts
        return found

    def usd(self, price: tuple[float, float] | None) -> float | None:
        """What its lines' tokens cost at a price of input and output, in USD a million.

        None without a price, where the server did not count all tokens, and for recorded results.
        """
        if price is None or self.usage.uncounted or self.receipt:
            return None
        return round((self.usage.input_tokens * price[0] + self.usage.output_tokens * price[1]) / 1e6, 6)


def parents_of(record: UnitRecord) -> tuple[str, ...]:
    """The problems that the record's task was evolved from; empty where its kind of record names none."""
    return getattr(record, PARENTS, ())


def columns_of(records: Sequence[UnitRecord], scores: Mapping[str, Sequence[float]]) -> Columns:
    """The columns of these records; `scores` has each metric over each unit alone."""
    units = [
        (record.task_id, record.sample + place, outcome.value)
        for record in records
        for place, outcome in enumerate(outcomes_of(record))
    ]
    tasks, samples, outcomes = map(list, zip(*units, strict=True)) if units else ([], [], [])
    has_parents = bool(records) and PARENTS in type(records[0]).model_fields
    if any(isinstance(record, RecordedUnit) for record in records[:1]):
        finishes: list[list[Finish]] = [[] for _ in units]  # outcomes alone, of several units a record
    else:
        finishes = [[reply.finish for reply in record.replies()] for record in records]
    return Columns(
        task=tasks,
        sample=np.array(samples, np.int64),
        outcome=outcomes,
        parents=[parents_of(record) for record in records] if has_parents else [],
        replies=np.array([len(of_unit) for of_unit in finishes], np.int64),
        cut_replies=np.array([of_unit.count(Finish.LENGTH) for of_unit in finishes], np.int64),
        scores={name: np.array(values, np.float64) for name, values in scores.items()},
    )


def repeats(metrics: Sequence[Metric], records: Sequence[UnitRecord]) -> dict[str, tuple[float, ...]]:
    """Each metric's score in each sample by itself; nothing where every task has one sample.

    Tasks with fewer samples than others are left out: else the samples' scores would differ by their tasks.
    """
    counts = Counter(record.task_id for record in records)
    most = max(counts.values(), default=0)
    if most < 2:
        return {}
    samples: dict[int, list[UnitRecord]] = {}
    for record in records:
        if counts[record.task_id] == most:
            samples.setdefault(record.sample, []).append(record)
    return {
        metric.id: tuple(metric.score(samples[sample]) for sample in sorted(samples)) for metric in metrics
    }


def metric_values(
    metrics: Sequence[Metric], records: Sequence[UnitRecord]
) -> tuple[dict[str, list[float]], dict[str, Parts]]:
    """By id of a metric: its score over each unit alone, and its contributions by cluster.

    Each metric is asked once for all units; again for each where it does not count them one by one.
    """
    recorded = [record for record in records if isinstance(record, RecordedUnit)]
    if recorded:
        clusters = _recorded_parts if recorded[0].task_is_cluster else _parts
        return _recorded_values(metrics, recorded), clusters(metrics, recorded)
    values, of_clusters = {}, {}
    for metric in metrics:
        contributions = metric.contributions(records)
        of_clusters[metric.id] = _summed(contributions)
        if metric.additive and len(contributions) == len(records):
            values[metric.id] = [
                metric.scale * numerator / denominator if denominator else math.nan
                for _, numerator, denominator in contributions
            ]
        else:
            values[metric.id] = [metric.score([record]) for record in records]
    return values, of_clusters


def _summed(contributions: Sequence[Contribution]) -> Parts:
    """The contributions summed by cluster, in the order of the clusters' names."""
    sums: dict[str, list[float]] = {}
    for cluster, numerator, denominator in contributions:
        total = sums.setdefault(cluster, [0.0, 0.0])
        total[0] += numerator
        total[1] += denominator
    names = sorted(sums)
    numerators, denominators = np.array([sums[name] for name in names]).reshape(-1, 2).T
    return Parts(tuple(names), numerators.copy(), denominators.copy())


def _parts(metrics: Sequence[Metric], records: Sequence[UnitRecord]) -> dict[str, Parts]:
    return {metric.id: _summed(metric.contributions(records)) for metric in metrics}


def _recorded_values(metrics: Sequence[Metric], records: Sequence[RecordedUnit]) -> dict[str, list[float]]:
    """Of outcomes alone: of all units that ended alike a metric is asked once."""
    kinds: list[Hashable] = []
    first_of_kind: dict[Hashable, UnitRecord] = {}
    for record in records:
        own_kinds: Sequence[Hashable] = record.samples or (record.alike,)
        for place, kind in enumerate(own_kinds):
            if kind not in first_of_kind:
                first_of_kind[kind] = record.apart()[place]
        kinds += own_kinds
    values = {}
    for metric in metrics:
        of_kind = {kind: metric.score([unit]) for kind, unit in first_of_kind.items()}
        values[metric.id] = [of_kind[kind] for kind in kinds]
    return values


def _recorded_parts(metrics: Sequence[Metric], records: Sequence[RecordedUnit]) -> dict[str, Parts]:
    """Of outcomes alone: of all tasks that ended alike a metric is asked once."""
    tasks: dict[str, list[RecordedUnit]] = {}
    for record in records:
        tasks.setdefault(record.task_id, []).append(record)
    names = sorted(tasks)
    alike: dict[Hashable, list[int]] = {}
    for place, name in enumerate(names):
        alike.setdefault(tuple(record.alike for record in tasks[name]), []).append(place)
    firsts = [tasks[names[rows[0]]] for rows in alike.values()]
    units_of = [[unit for line in of_task for unit in line.apart()] for of_task in firsts]
    found = {}
    for metric in metrics:
        sums = np.full((2, len(names)), np.nan)
        for rows, units in zip(alike.values(), units_of, strict=True):
            if of_task := metric.contributions(units):
                sums[:, rows] = [[sum(numbers)] for numbers in list(zip(*of_task, strict=True))[1:]]
        has = ~np.isnan(sums[1])
        found[metric.id] = Parts(tuple(compress(names, has)), *sums[:, has])
    return found
