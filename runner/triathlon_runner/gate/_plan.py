"""From a plan of all tasks to one of clusters in the test's order, with the stored results counted."""

import random
from collections import defaultdict
from collections.abc import Sequence

from triathlon_runner.errors import UserError
from triathlon_runner.gate._comparison import Cluster, Comparison, TaskKey
from triathlon_runner.gate._pace import GatePace, score_of
from triathlon_runner.schedule import BuiltSuite, Control, RunPlan, Work, differs
from triathlon_runner.store import ResultsFile, ResultsFolder, read_records
from triathlon_runner.suites import Programs


def _clusters_of(suites: Sequence[BuiltSuite]) -> tuple[Cluster, ...]:
    """Returns the clusters of several suites, by name; a task made from several seeds goes with the first."""
    tasks: dict[str, list[TaskKey]] = defaultdict(list)
    for built in suites:
        functions = built.suite.functions() if isinstance(built.suite, Programs) else ()
        seeds = {problem.task_id: problem.parents[0] for problem in functions if problem.parents}
        for task in built.chosen:
            name = seeds.get(task.task_id) or task.group or task.task_id
            tasks[name].append((built.entry.id, task.task_id))
    return tuple(Cluster(name, tuple(tasks[name])) for name in sorted(tasks))


def in_random_order(clusters: Sequence[Cluster], seed: int) -> tuple[Cluster, ...]:
    """Returns the clusters in a random order that depends only on the seed, not on results."""
    return tuple(random.Random(seed).sample(clusters, len(clusters)))  # noqa: S311  no secret


def _at_most(clusters: Sequence[Cluster], max_tasks: int | None) -> tuple[Cluster, ...]:
    """Returns the first clusters that have so many tasks together, each whole.

    Raises:
        UserError: not even the first fits.
    """
    if max_tasks is None:
        return tuple(clusters)
    chosen, count = [], 0
    for cluster in clusters:
        count += len(cluster.tasks)
        if count > max_tasks:
            break
        chosen.append(cluster)
    if not chosen:
        raise UserError(
            f"expected --max-tasks of at least {len(clusters[0].tasks)}, got {max_tasks!r}: tasks of one seed"
            " problem are compared together; name fewer suites with --suites, or allow more tasks"
        )
    return tuple(chosen)


def plan_comparison(
    plan: RunPlan,
    models: tuple[str, str],
    *,
    seed: int,
    max_tasks: int | None,
    margin: float,
    alpha: float,
) -> Comparison:
    """Puts the clusters of the plan's suites into random order; limits its work to those that may be asked.

    The models are the baseline and the candidate, each asked at most `max_tasks`.

    Raises:
        UserError: `max_tasks` is too small for one cluster; a suite that one of the models cannot be asked.
    """
    _check_same_suites(plan, models)
    population = _clusters_of([work.built for work in plan.work[models[0]]])
    planned = _at_most(in_random_order(population, seed), max_tasks)
    wanted: dict[str, set[str]] = defaultdict(set)
    for cluster in planned:
        for suite, task_id in cluster.tasks:
            wanted[suite].add(task_id)
    for model in models:
        limited = [work.limited_to(wanted[work.suite_id]) for work in plan.work[model]]
        plan.work[model] = [work for work in limited if work.built.chosen]
    return Comparison(population, planned, models, margin=margin, alpha=alpha)


def _check_same_suites(plan: RunPlan, models: tuple[str, str]) -> None:
    baseline, candidate = ({work.suite_id for work in plan.work[model]} for model in models)
    if baseline ^ candidate:
        reasons = "; ".join(f"{what}: {why}" for what, why in plan.skipped_suites.items())
        raise UserError(f"expected suites that both models can be asked, got {reasons}; leave them out")
    if not baseline:
        raise UserError("expected a suite to compare the models on, got none; name some with --suites")


def count_stored(comparison: Comparison, works: Sequence[Work], folder: ResultsFolder) -> None:
    """Adds the scores of the results that are there.

    Raises:
        UserError: results of other conditions, or damaged ones.
    """
    for work in works:
        model, suite, entry = work.row.id, work.suite_id, work.built.entry
        path = folder.lines(model, suite)
        file = ResultsFile(path, entry.record)
        file.scan()
        if why := differs(work, file, folder.read_manifest(model, suite)):
            raise UserError(
                f"{model} {suite}: expected results of the conditions that a run has now, got those of {why};"
                f" put them aside with {folder.archive_command(model, suite)}, or name another --results"
            )
        chosen = {task.task_id for task in work.built.chosen}
        for record in read_records(path, entry.record):
            if record.sample == 0 and record.task_id in chosen:
                comparison.add(model, (suite, record.task_id), score_of(entry, record))


def set_pace(plan: RunPlan, comparison: Comparison, control: Control) -> None:
    """Has the plan run in the order of the comparison, until that is decided."""
    works = [work for works in plan.work.values() for work in works]
    entries = {work.suite_id: work.built.entry for work in works}
    served = frozenset(work.row.id for work in works if work.row.serve is not None)
    plan.pace = GatePace(comparison, entries, control, served)
