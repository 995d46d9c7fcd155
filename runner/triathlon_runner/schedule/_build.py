"""Builds a plan from names: reads the data and leaves out what cannot run here, with the reason."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Model
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.sandbox import try_language
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

    def why_not(self, row: ModelRow) -> str | None:
        """Why the run does not ask this model, in one sentence; None where it does."""
        if self.models is None and not self.profile.takes_model(row):
            return f"asked from --profile {row.profile} on, or where it is named"
        return why_not(row) if self.asks or self.models is None else None


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
    plan, profile, named = RunPlan(), wanted.profile, wanted.suites is not None
    variants = wanted.variants if named or not profile.repeats else (*wanted.variants, "sampling")
    selected = wanted.catalogue.select(wanted.suites, variants, wanted.prompts)
    rows = registry.select(wanted.models)
    entries = [entry for entry in selected if named or profile.takes(entry)]
    entries = suites_at_temperature(entries, rows, profile, named=named)
    languages = dict.fromkeys(language for entry in entries for language in entry.languages)
    # Tried where the programs will be executed, which may be other machines.
    faults = {language: (await try_language(grader.sandbox, language)).fault for language in languages}
    built: list[BuiltSuite] = []
    for number, entry in enumerate(entries, 1):
        if report is not None:
            report(f"preparing {entry.id}, suite {number} of {len(entries)}")
        fault = "; ".join(filter(None, map(faults.__getitem__, entry.languages)))
        if fault and named:
            raise UserError(f"suite {entry.id!r} was named and cannot run here: {fault}")
        if not fault:
            try:
                suite = await build_suite(entry, data, grader, profile)
            except DataUnavailableError as error:
                if named:
                    raise
                fault = str(error)
            else:
                if suite.chosen:
                    built.append(suite)
                elif entry.user_data is not None:
                    fault = _NO_TASKS
        if fault:
            plan.skipped_suites[entry.id] = fault
    for row in rows:
        reason = wanted.why_not(row)
        if reason is not None:
            plan.skipped_models[row.id] = reason
            continue
        same = {suite.entry.id: same_as_baseline(suite.entry.variant_kind, row) for suite in built}
        plan.skipped_suites |= {f"{suite} of {row.id}": why for suite, why in same.items() if why}
        plan.work[row.id] = work_for(
            registry, row, [each for each in built if not same[each.entry.id]], judge
        )
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
