"""The plan of a run: which units are wanted of which models, and what is left out with the reason."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args

from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Model, ModelKind, Sampling
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import ProtocolHashes, UnitRecord, samples_are_copies, sampling_sent
from triathlon_runner.schedule._checks import check_references, faults_of_languages
from triathlon_runner.schedule._models import identity_of, why_not
from triathlon_runner.store import Unit
from triathlon_runner.suites import Preparable, Suite, SuiteEntry, Task

_NO_TASK: Final = (
    "no task could be made of its problems: runtime asks about functions that set variables, with inputs of"
    " plain values"
)
ProfileName = Literal["quick", "standard", "full"]
PROFILES: Final[tuple[ProfileName, ...]] = get_args(ProfileName)
"""From the smallest to the largest."""


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
        return self.built.samples > 1 and samples_are_copies(sampling_sent(self.settings, self.identity))

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
        """Called when a model will be asked nothing more, or nothing of one of its results files."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which models a run is to ask, on which suites, and how much of each."""

    profile: ProfileName = "standard"
    """`quick`: a few tasks of each core suite that says it is `in_quick`. `standard`: all of core. `full`: of
    official data, too, where that is present, with as many samples a task as the suite's paper takes.
    Data sets of suites.yaml are taken in any case."""
    models: Sequence[str] | None = None
    """Their ids; None: all."""
    suites: Sequence[str] | None = None
    """Named ones; None: those that the profile takes."""
    variants: Sequence[str] = ()
    """Kinds of variants to ask, too."""
    prompts: Path | None = None
    """Folder with prompts of the user's own."""
    limit: int | None = None
    """The user's own number of tasks of each suite; goes before the profile's."""
    samples: int | None = None
    """The user's own number of samples a task; goes before the profile's."""
    temperature: float | None = None
    """The user's own temperature; only for suites whose settings have one to set."""
    asks: bool = True
    """Whether models will be asked; if not, named ones need no key and no GPU."""
    keeps_unasked: bool = False
    """Whether named models that cannot be asked stay in the plan: their stored results may be enough."""
    catalogue: Catalogue = BUILT_IN
    """The suites that there are."""

    def why_not(self, row: ModelRow) -> str | None:
        """Why the run does not ask this model, in one sentence; None where it does."""
        if self.models is None and PROFILES.index(row.profile) > PROFILES.index(self.profile):
            return f"asked from --profile {row.profile} on, or where it is named"
        needs_it = self.models is None or (self.asks and not self.keeps_unasked)
        return why_not(row) if needs_it else None

    def takes(self, entry: SuiteEntry) -> bool:
        """Whether the profile runs this suite without its being named."""
        return (entry.core or self.profile == "full" or entry.user_data is not None) and (
            entry.in_quick or self.profile != "quick"
        )

    def entries(self, rows: Sequence[ModelRow]) -> list[SuiteEntry]:
        """Returns the suites, with the user's settings, for these models.

        Those that were not named and cannot have the user's temperature are left out.

        Raises:
            UserError: an unknown suite, variants that none of them has, a broken folder of prompts, a
                temperature that cannot be set, a row that sets its own.
        """
        named, temperature = self.suites is not None, self.temperature
        variants = self.variants if named or self.profile != "full" else (*self.variants, "sampling")
        selected = self.catalogue.select(self.suites, variants, self.prompts)
        taken = [entry for entry in selected if named or self.takes(entry)]
        if without := set(self.variants) - {entry.variant_kind for entry in taken}:
            raise UserError(
                "expected kinds of variants that the suites of this run have at --variants, got"
                f" {min(without)!r}; `triathlon suites --variants` lists those of each suite"
            )
        if temperature is None:
            return taken
        for row in rows:
            if row.temperature not in (None, temperature):
                raise UserError(
                    f"{row.id!r} is asked at temperature {row.temperature} by models.yaml, whatever"
                    " --temperature says; remove the one or the other"
                )
        fixed = [entry.id for entry in taken if entry.at_temperature is None]
        if named and fixed:
            raise UserError(
                f"expected suites whose temperature can be set with --temperature, got {fixed[0]!r}: its"
                " settings fix the temperature; see `triathlon suites --variants` for those that there are"
            )
        return [entry.at_temperature(temperature) for entry in taken if entry.at_temperature is not None]


@dataclass(slots=True)
class RunPlan:
    """All the work of one run, by model, and what is left out with the reason."""

    work: dict[str, list[Work]] = field(default_factory=dict)
    wanted: Wanted = Wanted()
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

    `report` gets a line for each suite: on an empty cache its data is fetched and references are executed.

    Raises:
        UserError: an unknown model or suite, a broken folder of prompts, a suite that was named and cannot
            run here; DataUnavailableError for a suite that was named and has no data.
    """
    plan, rows, named = RunPlan(wanted=wanted), registry.select(wanted.models), wanted.suites is not None
    entries = wanted.entries(rows)
    faults = await faults_of_languages(entries, grader.sandbox)  # where programs are executed
    suites: list[BuiltSuite] = []
    for number, entry in enumerate(entries, 1):
        report(f"preparing {entry.id}, suite {number} of {len(entries)}")
        if not (fault := "; ".join(filter(None, map(faults.__getitem__, entry.languages)))):
            try:
                suites.append(await build_suite(entry, data, grader, wanted))
                fault = "" if suites[-1].chosen else _NO_TASK
            except DataUnavailableError as error:
                if named:
                    raise
                fault = str(error)
        if fault and named:
            raise UserError(f"suite {entry.id!r} was named and cannot run here: {fault}")
        if fault:
            plan.skipped_suites[entry.id] = fault
    suites = [built for built in suites if built.chosen]
    for row in rows:
        if (reason := wanted.why_not(row)) is not None:
            plan.skipped_models[row.id] = reason
            continue
        same = {built.entry.id: same_as_baseline(built.entry.variant_kind, row) for built in suites}
        plan.skipped_suites |= {f"{suite} of {row.id}": why for suite, why in same.items() if why}
        asked = [built for built in suites if not same[built.entry.id]]
        plan.work[row.id] = work_for(registry, row, asked, judge)
    return plan


def same_as_baseline(kind: str | None, row: ModelRow) -> str:
    """Why a variant of this kind would ask the model exactly as its baseline does; empty if it does not."""
    temperature = row.temperature
    needs_temperature = kind is not None and bool({"temperatures", "greedy"} & set(kind.split("+")))
    if temperature is not None and (needs_temperature or (kind == "sampling" and temperature == 0)):
        return f"its row of models.yaml has it asked at temperature {temperature:g}, whatever the suite says"
    if needs_temperature and row.api is not None and "temperature" in row.api.unsupported:
        return "its API takes no temperature"
    return ""


async def build_suite(entry: SuiteEntry, data: DataStore, grader: Grader, wanted: Wanted) -> BuiltSuite:
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
    return choose(entry, suite, wanted)


def choose(entry: SuiteEntry, suite: Suite, wanted: Wanted) -> BuiltSuite:
    """Returns a suite that has been built with as many of its tasks and samples as are wanted."""
    tasks, most = tuple(suite.tasks()), wanted.limit
    if most is None and wanted.profile == "quick":
        most = entry.quick_tasks
    samples = wanted.samples or (entry.default_samples if wanted.profile == "full" else 1)
    return BuiltSuite(entry, suite, tasks, tasks if most is None else spread(tasks, most), samples)


def spread(tasks: Sequence[Task], most: int) -> tuple[Task, ...]:
    """At most so many tasks, evenly over levels and, within a level, over groups.

    Keeps the order of the suite. The choice is fixed: the same tasks give the same subset everywhere, and a
    smaller subset is part of a larger one, so that a later, longer run goes on from an earlier, shorter one.
    """
    levels: dict[int, dict[str, list[Task]]] = defaultdict(lambda: defaultdict(list))
    for task in tasks:
        levels[task.level or 0][task.group or task.task_id].append(task)
    numbers = sorted(levels)
    # Every second level first, so that even three tasks are easy, middling and hard.
    in_turn = [_alternate(levels[number].values()) for number in (*numbers[::2], *numbers[1::2])]
    chosen = {task.task_id for task in _alternate(in_turn)[:most]}
    return tuple(task for task in tasks if task.task_id in chosen)


def _alternate(queues: Iterable[Iterable[Task]]) -> list[Task]:
    """The first of each, then the second of each, and so on."""
    return [task for turn in zip_longest(*queues) for task in turn if task is not None]


def work_for(
    registry: Registry, row: ModelRow, suites: Sequence[BuiltSuite], judge: Model | None = None
) -> list[Work]:
    """Returns the work of one model; what its row changes of how a suite asks is part of the settings."""
    works = []
    for built in suites:
        settings = all_settings(built.suite, row.kind, judge.id if judge is not None else None)
        if judged := settings.get("judge"):
            of_judge = Sampling(judged["max_tokens"], judged["temperature"])
            asked = registry.sampling(registry.row(judged["model"]), of_judge)
            own = {"max_tokens": asked.max_tokens, "temperature": asked.temperature}
            settings = {**settings, "judge": {**judged, **own}}
        of_suite = built.entry.sampling_of(row.kind)
        asked = registry.sampling(row, of_suite)
        if asked.temperature != of_suite.temperature:
            settings = at_temperature(settings, asked.temperature)
        settings = {**settings, "max_tokens": asked.max_tokens}
        works.append(Work(row, built, settings, judge))
    return works


def all_settings(suite: Suite, kind: ModelKind, judge: str | None = None) -> Mapping[str, Any]:
    """Returns a suite's settings as a manifest has them: what its hashes cover, and the rest."""
    return {**suite.protocol, **suite.settings(kind, judge)}


def at_temperature(settings: Mapping[str, Any], temperature: float) -> Mapping[str, Any]:
    """Returns a suite's settings for a model that is asked at another temperature: another protocol."""
    return {**settings, "asked": {**settings["asked"], "temperature": temperature}}
