"""What a gate asks: clusters in the test's order, a few ahead of what is counted, until it is decided."""

import asyncio
import itertools
import math
import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.gate._comparison import Cluster, Comparison, TaskKey
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule import BuiltSuite, Control, RunPlan, Work, stored_lines, why_not
from triathlon_runner.store import ResultsFolder, Unit, read_records
from triathlon_runner.suites import Programs, SuiteEntry

AHEAD: Final = 8
"""Clusters that are asked at the same time. More would ask tasks that the verdict may not need, fewer would
leave servers idle."""


def plan_comparison(
    plan: RunPlan,
    models: tuple[str, str],
    folder: ResultsFolder,
    *,
    seed: int,
    max_tasks: int | None,
    margin: float,
    alpha: float,
) -> Comparison:
    """Puts the clusters of the plan's suites into random order; limits its work to those that may be asked.

    The models are the baseline and the candidate, each asked at most `max_tasks`. Of a model that cannot be
    asked, because it is retired or its key is not here, the clusters with all results in `folder` count.

    Raises:
        UserError: `max_tasks` is too small for one cluster; a suite that one of the models cannot be asked;
            a model that cannot be asked, without results.
    """
    baseline, candidate = ({work.suite_id for work in plan.work[model]} for model in models)
    if baseline != candidate:
        reasons = "; ".join(f"{what}: {why}" for what, why in plan.skipped_suites.items())
        raise UserError(f"expected suites that both models can be asked, got {reasons}; leave them out")
    if not baseline:
        raise UserError("expected a suite to compare the models on, got none; name some with --suites")
    population = _clusters_of([work.built for work in plan.work[models[0]]])
    for model in models:
        population = _answerable(population, plan.work[model], folder)
    ordered = in_random_order(population, seed)
    counts = list(itertools.accumulate(map(len, ordered)))
    planned = ordered if max_tasks is None else ordered[: bisect_right(counts, max_tasks)]
    if not planned:
        raise UserError(
            f"expected --max-tasks of at least {len(ordered[0])}, got {max_tasks!r}: tasks of one seed"
            " problem are compared together; name fewer suites with --suites, or allow more tasks"
        )
    wanted: dict[str, set[str]] = defaultdict(set)
    for cluster in planned:
        for suite, task_id in cluster:
            wanted[suite].add(task_id)
    for model in models:
        limited = [work.limited_to(wanted[work.suite_id]) for work in plan.work[model]]
        plan.work[model] = [work for work in limited if work.built.chosen]
    return Comparison(population, planned, models, margin=margin, alpha=alpha)


def _clusters_of(suites: Sequence[BuiltSuite]) -> tuple[Cluster, ...]:
    """Returns the clusters of several suites, by name.

    A task made from several seeds goes with the first: clusters that share no seed would be one in the end.
    """
    tasks: dict[str, list[TaskKey]] = defaultdict(list)
    for built in suites:
        functions = built.suite.functions() if isinstance(built.suite, Programs) else ()
        seeds = {problem.task_id: problem.parents[0] for problem in functions if problem.parents}
        for task in built.chosen:
            name = seeds.get(task.task_id) or task.group or task.task_id
            tasks[name].append((built.entry.id, task.task_id))
    return tuple(tuple(tasks[name]) for name in sorted(tasks))


def _answerable(
    population: tuple[Cluster, ...], works: Sequence[Work], folder: ResultsFolder
) -> tuple[Cluster, ...]:
    """The clusters that the model can be asked; where it cannot, those whose results are there."""
    row = works[0].row
    if (reason := why_not(row)) is None:
        return population
    stored = {
        (work.suite_id, task)
        for work in works
        for task, sample in stored_lines(folder, work)[0].units
        if sample == 0
    }
    if found := tuple(cluster for cluster in population if stored.issuperset(cluster)):
        return found
    raise UserError(
        f"expected a model that can run here, or results of it to compare, got {row.id}: {reason}"
    )


def in_random_order(clusters: Sequence[Cluster], seed: int) -> tuple[Cluster, ...]:
    """Returns the clusters in a random order that depends only on the seed, not on results."""
    return tuple(random.Random(seed).sample(clusters, len(clusters)))  # noqa: S311  no secret


def count_stored(comparison: Comparison, works: Sequence[Work], folder: ResultsFolder) -> list[str]:
    """Adds the scores of the results that are there; returns what is not known of them, a sentence a file.

    Raises:
        UserError: results of other conditions, or damaged ones.
    """
    reasons = {work.row.id: why_not(work.row) for work in works}
    unknown = [
        f"{model}: {reason}; compared on tasks with results of it"
        for model, reason in reasons.items()
        if reason is not None
    ]
    for work in works:
        model, suite, entry = work.row.id, work.suite_id, work.built.entry
        lines, why = stored_lines(folder, work)
        if why:
            raise UserError(
                f"{model} {suite}: expected results of the conditions that a run has now, got those of {why};"
                f" put them aside with {folder.archive_command(model, suite)}, or name another --results"
            )
        if lines.units and folder.read_manifest(model, suite) is None:
            unknown.append(f"{model} {suite}: {folder.about_missing_manifest(model, suite)}")
        chosen = {task.task_id for task in work.built.chosen}
        for record in read_records(folder.lines(model, suite), entry.record):
            if record.sample == 0 and record.task_id in chosen:
                comparison.add(model, (suite, record.task_id), score_of(entry, record))
    return unknown


def score_of(entry: SuiteEntry, record: UnitRecord) -> float:
    """Returns the headline metric of one unit over its maximum, 0 to 1.

    pass@1: 1 or 0. ASL: l (l - 1 + s) / M^2, with s = 0 where the similarity is unknown (EVALOOOP,
    equations 1 to 5). IC: the mean over the unit's statements (REval, section III-C). Suites of attacks have
    no headline, and pass@1 alone.
    """
    headline = next((metric for metric in entry.metrics if metric.headline), entry.metrics[0])
    score = headline.score([record]) / headline.maximum
    return 0.0 if math.isnan(score) else score  # nan: the unit has nothing to count


class GatePace:
    """Implements `Pace`: takes scores to the comparison, and stops the run when that is decided."""

    def __init__(self, comparison: Comparison, plan: RunPlan, control: Control) -> None:
        """Begins before any question of the plan was asked."""
        works = [work for works in plan.work.values() for work in works]
        self._comparison = comparison
        self._entries = {work.suite_id: work.built.entry for work in works}
        self._control = control
        self._served = {work.row.id for work in works if work.row.serve is not None}
        """Models that we start a server for. Where the machine has no room for both, the second one starts
        when the first has ended, so the first must not wait for the second."""
        self._answering: set[str] = set()
        self._changed = asyncio.Event()
        self._positions = {
            task: position for position, cluster in enumerate(comparison.planned) for task in cluster
        }
        control.on_stop.append(self._wake)

    def position(self, suite: str, unit: Unit) -> int:
        """Returns the index of the unit's cluster."""
        return self._positions[suite, unit[0]]

    async def ready(self, model: str, suite: str, unit: Unit) -> None:
        """Returns once the unit's cluster is among the next ones, or once the run is to stop."""
        if model not in self._answering:
            self._answering.add(model)
            self._wake()
        while not self._control.stopped and not self._may_begin(model, self.position(suite, unit)):
            await self._changed.wait()

    def _may_begin(self, model: str, position: int) -> bool:
        if position < self._comparison.position + AHEAD:
            return True
        return model in self._served and any(
            opponent not in self._answering and self._comparison.misses(opponent)
            for opponent in self._comparison.models
            if opponent != model
        )

    def finished(self, model: str, suite: str, unit: Unit, record: UnitRecord | None) -> None:
        """Takes the score; a unit that stays open takes its cluster out of the comparison."""
        if record is None and self._control.stopped:
            return  # a later gate asks it: nothing has failed
        score = None if record is None else score_of(self._entries[suite], record)
        self._comparison.add(model, (suite, unit[0]), score)
        if self._comparison.decided:
            self._control.stop(f"the comparison is decided after {len(self._comparison.compared)} tasks")
        self._wake()

    def ended(self, model: str) -> None:
        """Stops the run where some of the model's units will not be asked: the other's would have no pair."""
        if self._comparison.misses(model):
            self._control.stop(f"{model} is not asked any more")

    def _wake(self) -> None:
        self._changed.set()
        self._changed.clear()
