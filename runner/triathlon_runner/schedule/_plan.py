"""The plan of a run: which units are wanted of which models, and what is left out with the reason."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Model, ModelKind
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import ProtocolHashes, UnitRecord, samples_are_copies
from triathlon_runner.sandbox import Language
from triathlon_runner.schedule._identity import identity_of
from triathlon_runner.schedule._models import why_not
from triathlon_runner.schedule._prerequisites import check_references, faults_of_languages
from triathlon_runner.schedule._profiles import PROFILES, Profile
from triathlon_runner.store import Unit
from triathlon_runner.suites import Preparable, Suite, SuiteEntry, Task

_NO_TASKS: Final = (
    "no task could be made of its problems: runtime asks about programs with inputs of plain values"
)


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

    async def ready(self, model: str, suite: str, unit: Unit) -> None:
        """Returns once the unit may be asked, or once the run is to stop."""

    def finished(self, model: str, suite: str, unit: Unit, record: UnitRecord | None) -> None:
        """Called when a unit was tried; `record` is None if it stays open."""

    def ended(self, model: str) -> None:
        """Called when a model will be asked nothing more."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which models a run is to ask, and on which suites."""

    profile: Profile
    models: Sequence[str] | None = None
    """Their ids; None: all."""
    suites: Sequence[str] | None = None
    """Named ones; None: those that the profile takes."""
    variants: Sequence[str] = ()
    """Kinds of variants to ask, too."""
    prompts: Path | None = None
    """Folder with prompts of the user's own."""
    asks: bool = True
    """Whether models will be asked; if not, named ones need no key and no GPU."""
    ask_again: bool = False
    """Whether results of other conditions are archived and their units asked anew."""
    catalogue: Catalogue = BUILT_IN
    """The suites that there are."""

    def why_not(self, row: ModelRow) -> str | None:
        """Why the run does not ask this model, in one sentence; None where it does."""
        if self.models is None and not self.profile.takes_model(row):
            return f"asked from --profile {row.profile} on, or where it is named"
        return why_not(row) if self.asks or self.models is None else None

    def entries(self, rows: Sequence[ModelRow]) -> list[SuiteEntry]:
        """Returns the suites, with the user's settings, for these models.

        Raises:
            UserError: an unknown suite, a broken folder of prompts, a temperature that cannot be set.
        """
        named = self.suites is not None
        variants = self.variants if named or not self.profile.repeats else (*self.variants, "sampling")
        selected = self.catalogue.select(self.suites, variants, self.prompts)
        taken = [entry for entry in selected if named or self.profile.takes(entry)]
        return suites_at_temperature(taken, rows, self.profile, named=named)


@dataclass(slots=True)
class RunPlan:
    """All the work of one run, by model, and what is left out with the reason."""

    work: dict[str, list[Work]] = field(default_factory=dict)
    wanted: Wanted = Wanted(PROFILES["standard"])
    skipped_models: dict[str, str] = field(default_factory=dict)
    skipped_suites: dict[str, str] = field(default_factory=dict)
    pace: Pace | None = None
    """Order and speed of the units; None: each suite in turn, as fast as the servers answer."""


async def build_plan(
    registry: Registry,
    grader: Grader,
    data: DataStore,
    wanted: Wanted,
    judge: Model | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> RunPlan:
    """Returns the work of a run, and what is left out with the reason.

    A suite that the user named and that has no data is an error.
    `report` gets a line for each suite: on an empty cache its data is fetched and references are executed.

    Raises:
        UserError: an unknown model or suite, a broken folder of prompts, a suite that was named and cannot
            run here; DataUnavailableError for a suite that was named.
    """
    plan, rows = RunPlan(wanted=wanted), registry.select(wanted.models)
    entries = wanted.entries(rows)
    faults = await faults_of_languages(entries, grader.sandbox)  # where programs are executed
    built: list[BuiltSuite] = []
    for number, entry in enumerate(entries, 1):
        report(f"preparing {entry.id}, suite {number} of {len(entries)}")
        suite = await _built_or_fault(entry, data, grader, wanted, faults)
        if isinstance(suite, str):
            plan.skipped_suites[entry.id] = suite
        elif suite.chosen:
            built.append(suite)
        elif entry.user_data is not None:
            plan.skipped_suites[entry.id] = _NO_TASKS
    for row in rows:
        reason = wanted.why_not(row)
        if reason is not None:
            plan.skipped_models[row.id] = reason
            continue
        same = {suite.entry.id: same_as_baseline(suite.entry.variant_kind, row) for suite in built}
        plan.skipped_suites |= {f"{suite} of {row.id}": why for suite, why in same.items() if why}
        suites = [suite for suite in built if not same[suite.entry.id]]
        plan.work[row.id] = work_for(registry, row, suites, judge)
    return plan


async def _built_or_fault(
    entry: SuiteEntry, data: DataStore, grader: Grader, wanted: Wanted, faults: Mapping[Language, str]
) -> BuiltSuite | str:
    """Returns a suite, or why it cannot run here, which is an error where the user named it."""
    named = wanted.suites is not None
    if fault := "; ".join(filter(None, map(faults.__getitem__, entry.languages))):
        if named:
            raise UserError(f"suite {entry.id!r} was named and cannot run here: {fault}")
        return fault
    try:
        return await build_suite(entry, data, grader, wanted.profile)
    except DataUnavailableError as error:
        if named:
            raise
        return str(error)


def same_as_baseline(kind: str | None, row: ModelRow) -> str:
    """Why a variant of this kind would ask the model exactly as its baseline does; empty if it does not."""
    temperature = row.temperature
    needs_temperature = kind is not None and bool({"temperatures", "greedy"} & set(kind.split("+")))
    if temperature is not None and (needs_temperature or (kind == "sampling" and temperature == 0)):
        return f"its row of models.yaml has it asked at temperature {temperature:g}, whatever the suite says"
    if needs_temperature and row.api is not None and "temperature" in row.api.unsupported:
        return "its API takes no temperature"
    return ""


def suites_at_temperature(
    entries: Sequence[SuiteEntry], rows: Sequence[ModelRow], profile: Profile, *, named: bool
) -> list[SuiteEntry]:
    """Returns the suites with the user's settings; without those that were not named and cannot have them.

    Raises:
        UserError: a suite whose temperature cannot be set, a row that sets its own.
    """
    temperature = profile.own_temperature
    if temperature is None:
        return list(entries)
    for row in rows:
        if row.temperature not in (None, temperature):
            raise UserError(
                f"{row.id!r} is asked at temperature {row.temperature} by models.yaml, whatever"
                " --temperature says; remove the one or the other"
            )
    fixed = [entry.id for entry in entries if entry.at_temperature is None]
    if named and fixed:
        raise UserError(
            f"expected suites whose temperature can be set with --temperature, got {fixed[0]!r}: its settings"
            " fix the temperature; see `triathlon suites --variants` for those that there are"
        )
    return [entry.at_temperature(temperature) for entry in entries if entry.at_temperature is not None]


async def build_suite(entry: SuiteEntry, data: DataStore, grader: Grader, profile: Profile) -> BuiltSuite:
    """Returns one suite, ready to be run.

    Raises:
        DataUnavailableError: its data is not here.
        UserError: a reference of a user's own problems fails their tests.
        SandboxError: a reference could not be executed.
    """
    suite = entry.build(data)
    if entry.user_data is not None:
        await check_references(entry.user_data.read(), grader, data.cache / "references")
    if isinstance(suite, Preparable):
        await suite.prepare(grader)
    return choose(entry, suite, profile)


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
