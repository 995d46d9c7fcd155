"""From names to a plan: reads the data, finds out what can run here and what is left out, with the reason."""

from collections.abc import Sequence
from pathlib import Path

from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.endpoints import Model
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.registry import ModelRow, Registry
from triathlon_runner.schedule._plan import BuiltSuite, Plan, choose, work_for
from triathlon_runner.schedule._profiles import Profile
from triathlon_runner.schedule._reach import why_not
from triathlon_runner.suites import Judged, Preparable, SuiteEntry


async def build_plan(
    registry: Registry,
    grader: Grader,
    data: DataStore,
    *,
    models: Sequence[str] | None,
    suites: Sequence[str] | None,
    variants: Sequence[str] = (),
    profile: Profile,
    judge: Model | None = None,
    prompts: Path | None = None,
) -> Plan:
    """Everything that this run wants. A suite that the user named and that has no data is an error.

    Raises:
        UserError: an unknown model or suite, a broken folder of prompts; DataUnavailableError for a suite
            that was named.
    """
    plan = Plan()
    if profile.repeats and suites is None:
        variants = (*variants, "sampling")
    chosen = catalogue.select(suites, variants, prompts)
    wanted = [entry for entry in chosen if suites is not None or profile.takes(entry)]
    entries = at_temperature(wanted, registry.select(models), registry, profile, named=suites is not None)
    built: list[BuiltSuite] = []
    for entry in entries:
        try:
            one = await build_suite(entry, data, grader, profile, judge)
        except DataUnavailableError as error:
            if suites is not None:
                raise
            plan.skipped_suites[entry.id] = str(error)
        else:
            if one.chosen:
                built.append(one)
    for row in registry.select(models):
        reason = why_not(row)
        if reason is None:
            plan.work[row.id] = work_for(registry, row, _that_differ(built, row, registry, plan))
        else:
            plan.skipped_models[row.id] = reason
    return plan


def _that_differ(
    built: Sequence[BuiltSuite], row: ModelRow, registry: Registry, plan: Plan
) -> list[BuiltSuite]:
    """The suites without those that would ask this model as their baseline does, under another name."""
    reason = _temperature_fixed(row, registry)
    if reason is None:
        return list(built)
    for one in built:
        if one.entry.variant_kind == "temperatures":
            plan.skipped_suites[f"{one.entry.id} of {row.id}"] = reason
    return [one for one in built if one.entry.variant_kind != "temperatures"]


def _temperature_fixed(row: ModelRow, registry: Registry) -> str | None:
    own = registry.setting(row, "temperature")
    if own is not None:
        return f"models.yaml has it asked at temperature {own}, whatever the suite says"
    if row.api is not None and "temperature" in row.api.unsupported:
        return "its API takes no temperature"
    return None


def at_temperature(
    entries: Sequence[SuiteEntry],
    rows: Sequence[ModelRow],
    registry: Registry,
    profile: Profile,
    *,
    named: bool,
) -> list[SuiteEntry]:
    """The suites as the user wants them asked; of those that were not named only those that can be.

    Raises:
        UserError: a suite whose temperature cannot be set, a row that sets its own.
    """
    own = profile.own_temperature
    if own is None:
        return list(entries)
    for row in rows:
        set_there = registry.setting(row, "temperature")
        if set_there is not None and set_there != own:
            raise UserError(
                f"{row.id!r} is asked at temperature {set_there} by models.yaml, whatever --temperature says;"
                " remove the one or the other"
            )
    asked = {entry.id: profile.asked(entry) for entry in entries}
    fixed = [suite for suite, entry in asked.items() if entry is None]
    if named and fixed:
        raise UserError(
            f"expected suites of the evolved discipline with --temperature, got {fixed[0]!r}: its protocol"
            " fixes the temperature; see `triathlon suites --variants` for those that there are"
        )
    return [entry for entry in asked.values() if entry is not None]


async def build_suite(
    entry: SuiteEntry,
    data: DataStore,
    grader: Grader,
    profile: Profile,
    judge: Model | None,
) -> BuiltSuite:
    """One suite, ready to be run.

    Raises:
        DataUnavailableError: its data is not here.
        SandboxError: a reference could not be executed.
    """
    suite = entry.build(data)
    if isinstance(suite, Preparable):
        await suite.prepare(grader)
    if isinstance(suite, Judged):
        suite.judge = judge
    return choose(entry, suite, profile)
