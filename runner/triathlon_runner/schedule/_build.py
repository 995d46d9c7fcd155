"""Builds a plan from names: reads the data and leaves out what cannot run here, with the reason."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.endpoints import Model
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.registry import ModelRow, Registry
from triathlon_runner.sandbox import Language, try_language
from triathlon_runner.schedule._open import why_not
from triathlon_runner.schedule._plan import BuiltSuite, RunPlan, choose, work_for
from triathlon_runner.schedule._profiles import Profile
from triathlon_runner.schedule._references import check_references
from triathlon_runner.suites import Preparable, SuiteEntry


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
    catalogue: Catalogue = BUILT_IN
    """The suites that there are."""


_NO_TASKS: Final = (
    "no task could be made of its problems: runtime asks about programs with inputs of plain values"
)


async def build_plan(
    registry: Registry,
    grader: Grader,
    data: DataStore,
    wanted: Wanted,
    judge: Model | None = None,
    report: Callable[[str], None] | None = None,
) -> RunPlan:
    """Returns the work of a run, and what is left out with the reason.

    A suite that the user named and that has no data is an error.
    `report` gets a line for each suite: on an empty cache its data is fetched and references are executed.

    Raises:
        UserError: an unknown model or suite, a broken folder of prompts, a suite that was named and cannot
            run here; DataUnavailableError for a suite that was named.
    """
    plan, profile, suites = RunPlan(), wanted.profile, wanted.suites
    variants = (*wanted.variants, "sampling") if profile.repeats and suites is None else wanted.variants
    chosen = wanted.catalogue.select(suites, variants, wanted.prompts)
    taken = [entry for entry in chosen if suites is not None or profile.takes(entry)]
    rows = registry.select(wanted.models)
    entries = at_temperature(taken, rows, profile, named=suites is not None)
    built: list[BuiltSuite] = []
    faults = await _faults_of_languages(entries, grader)
    for number, entry in enumerate(entries, 1):
        if report is not None:
            report(f"preparing {entry.id}, suite {number} of {len(entries)}")
        if missing := [faults[language] for language in entry.languages if faults[language]]:
            fault = "; ".join(missing)
            if suites is not None:
                raise UserError(f"suite {entry.id!r} was named and cannot run here: {fault}")
            plan.skipped_suites[entry.id] = fault
            continue
        try:
            suite = await build_suite(entry, data, grader, profile)
        except DataUnavailableError as error:
            if suites is not None:
                raise
            plan.skipped_suites[entry.id] = str(error)
        else:
            if suite.chosen:
                built.append(suite)
            elif entry.user_data is not None:
                plan.skipped_suites[entry.id] = _NO_TASKS
    for row in rows:
        reason = why_not(row) if wanted.asks or wanted.models is None else None
        if reason is None:
            plan.work[row.id] = work_for(registry, row, _unlike_their_baseline(built, row, plan), judge)
        else:
            plan.skipped_models[row.id] = reason
    return plan


async def _faults_of_languages(entries: Sequence[SuiteEntry], grader: Grader) -> dict[Language, str]:
    """What is missing of the languages that suites execute, and how to install it; empty if nothing.

    Tried where the programs will be executed, which may be other machines.
    """
    wanted = dict.fromkeys(language for entry in entries for language in entry.languages)
    return {language: (await try_language(grader.sandbox, language)).fault for language in wanted}


def _unlike_their_baseline(built: Sequence[BuiltSuite], row: ModelRow, plan: RunPlan) -> list[BuiltSuite]:
    """Leaves out variants that would ask this model exactly as their baseline does."""
    differing = []
    for suite in built:
        if reason := _same_as_baseline(suite.entry.variant_kind, row):
            plan.skipped_suites[f"{suite.entry.id} of {row.id}"] = reason
        else:
            differing.append(suite)
    return differing


def _same_as_baseline(kind: str | None, row: ModelRow) -> str:
    """Why a variant of this kind equals its baseline at a fixed temperature; empty if it does not."""
    temperature = row.temperature
    if temperature is not None and (kind == "temperatures" or (kind == "sampling" and temperature == 0)):
        return f"its row of models.yaml has it asked at temperature {temperature:g}, whatever the suite says"
    if kind == "temperatures" and row.api is not None and "temperature" in row.api.unsupported:
        return "its API takes no temperature"
    return ""


def at_temperature(
    entries: Sequence[SuiteEntry],
    rows: Sequence[ModelRow],
    profile: Profile,
    *,
    named: bool,
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
    asked = {entry.id: profile.asked(entry) for entry in entries}
    fixed = [suite for suite, entry in asked.items() if entry is None]
    if named and fixed:
        raise UserError(
            f"expected suites whose temperature can be set with --temperature, got {fixed[0]!r}: its settings"
            " fix the temperature; see `triathlon suites --variants` for those that there are"
        )
    return [entry for entry in asked.values() if entry is not None]


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
