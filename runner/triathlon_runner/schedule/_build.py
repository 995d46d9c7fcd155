"""From names to a plan: reads the data, finds out what can run here and what is left out, with the reason."""

from collections.abc import Sequence
from pathlib import Path

from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.endpoints import Model
from triathlon_runner.grading import Grader
from triathlon_runner.registry import Registry
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
    entries = [entry for entry in chosen if suites is not None or profile.takes(entry)]
    built: list[BuiltSuite] = []
    for entry in entries:
        try:
            one = await _build(entry, data, grader, profile, judge)
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
            plan.work[row.id] = work_for(registry, row, built)
        else:
            plan.skipped_models[row.id] = reason
    return plan


async def _build(
    entry: SuiteEntry,
    data: DataStore,
    grader: Grader,
    profile: Profile,
    judge: Model | None,
) -> BuiltSuite:
    suite = entry.build(data)
    if isinstance(suite, Preparable):
        await suite.prepare(grader)
    if isinstance(suite, Judged):
        suite.judge = judge
    return choose(entry, suite, profile)
