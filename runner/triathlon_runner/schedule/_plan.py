"""The plan of a run: which units are wanted, and which of them have no line in the results yet."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from triathlon_runner.llm import Model, ModelKind
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import ProtocolHashes, UnitRecord, samples_are_copies
from triathlon_runner.schedule._identity import identity_of
from triathlon_runner.schedule._profiles import Profile
from triathlon_runner.store import Unit
from triathlon_runner.suites import Suite, SuiteEntry, Task


@dataclass(frozen=True)
class BuiltSuite:
    """A suite whose data has been read, with the tasks that this run takes of it."""

    entry: SuiteEntry
    suite: Suite
    tasks: tuple[Task, ...]
    """All tasks of the suite, in its order."""
    chosen: tuple[Task, ...]
    samples: int

    @property
    def units(self) -> Iterator[Unit]:
        """The planned units, in the order of the results file."""
        return ((task.task_id, sample) for task in self.chosen for sample in range(self.samples))

    @property
    def count(self) -> int:
        """How many units are planned."""
        return len(self.chosen) * self.samples

    @cached_property
    def digest(self) -> str:
        """Hash of the planned units: a manifest with it stands for a file that has them all."""
        digest = hashlib.sha256(f"{self.samples}".encode())
        for task in self.chosen:
            digest.update(f"\n{task.task_id}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    @property
    def order(self) -> tuple[Unit, ...]:
        """Every unit that the file may hold, in its order; samples beyond the plan follow by number."""
        return tuple((task.task_id, sample) for task in self.tasks for sample in range(self.samples))


@dataclass(frozen=True)
class Work:
    """One model on one suite: what is wanted, and under which settings."""

    row: ModelRow
    built: BuiltSuite
    settings: Mapping[str, Any]
    """The suite's, with what the model's row changes of them."""
    judge: Model | None = None
    """The LLM judge that units are given."""

    @property
    def suite_id(self) -> str:
        return self.built.entry.id

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The settings of the row that shape its answers."""
        return identity_of(self.row)

    @property
    def asks_for_copies(self) -> bool:
        """Whether it takes several samples of a task, and all of them are one reply."""
        return self.built.samples > 1 and samples_are_copies(self.settings, self.identity)

    @cached_property
    def protocol(self) -> ProtocolHashes:
        """The field `protocol` of its records and manifest."""
        return ProtocolHashes.of(self.settings)

    def open_units(self, done: Collection[Unit]) -> tuple[Unit, ...]:
        """The planned units that are not among those done, in order."""
        return tuple(unit for unit in self.built.units if unit not in done)

    def limited_to(self, task_ids: Collection[str]) -> "Work":
        """The same work on these of its tasks alone."""
        chosen = tuple(task for task in self.built.chosen if task.task_id in task_ids)
        return replace(self, built=replace(self.built, chosen=chosen))


class Pace(Protocol):
    """Decides which units come first, and how far one model may run ahead of another."""

    def position(self, suite: str, unit: Unit) -> int:
        """Returns the unit's place in the order of all suites; the same for every model."""
        ...

    async def ready(self, model: str, suite: str, unit: Unit) -> None:
        """Returns once the unit may be asked, or once the run is to stop."""
        ...

    def finished(self, model: str, suite: str, unit: Unit, record: UnitRecord | None) -> None:
        """Called when a unit was tried; `record` is None if it stays open."""
        ...

    def ended(self, model: str) -> None:
        """Called when a model will be asked nothing more."""
        ...


@dataclass(slots=True)
class RunPlan:
    """All the work of one run, by model, and what is left out with the reason."""

    work: dict[str, list[Work]] = field(default_factory=dict)
    skipped_models: dict[str, str] = field(default_factory=dict)
    skipped_suites: dict[str, str] = field(default_factory=dict)
    pace: Pace | None = None
    """Order and speed of the units; None: each suite in turn, as fast as the servers answer."""


def choose(entry: SuiteEntry, suite: Suite, profile: Profile) -> BuiltSuite:
    """Applies the profile to a suite that has been built."""
    tasks = tuple(suite.tasks())
    return BuiltSuite(entry, suite, tasks, profile.choose(entry, tasks), profile.samples(entry))


def work_for(
    registry: Registry, row: ModelRow, suites: Sequence[BuiltSuite], judge: Model | None = None
) -> list[Work]:
    """Returns the work of one model; what its row changes of how a suite asks is part of the settings."""
    works = []
    for built in suites:
        settings = all_settings(built.suite, row.kind, judge.id if judge is not None else None)
        of_suite = built.entry.sampling_of(row.kind).temperature
        temperature, max_tokens = registry.temperature(row, of_suite), registry.setting(row, "max_tokens")
        if temperature != of_suite:
            settings = at_temperature(settings, temperature)
        if max_tokens is not None:
            settings = {**settings, "max_tokens": max_tokens}
        works.append(Work(row, built, settings, judge))
    return works


def all_settings(suite: Suite, kind: ModelKind, judge: str | None = None) -> Mapping[str, Any]:
    """Returns a suite's settings as a manifest has them: what its hashes cover, and the rest."""
    return {**suite.protocol, **suite.settings(kind, judge)}


def at_temperature(settings: Mapping[str, Any], temperature: float) -> Mapping[str, Any]:
    """Returns a suite's settings for a model that is asked at another temperature: another protocol."""
    return {**settings, "asked": {**settings["asked"], "temperature": temperature}}
