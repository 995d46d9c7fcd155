"""Clusters of dependent tasks: those made from one seed problem, and the questions about one program."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triathlon_runner.errors import UserError
from triathlon_runner.schedule import BuiltSuite
from triathlon_runner.suites import Programs

TaskKey = tuple[str, str]
"""(suite, task_id)."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Tasks whose outcomes are not independent of each other."""

    name: str
    """The seed problem, or the program."""
    tasks: tuple[TaskKey, ...]


def clusters_of(suites: Sequence[BuiltSuite]) -> tuple[Cluster, ...]:
    """Returns the clusters of several suites, by name; a task made from several seeds goes with the first."""
    tasks: dict[str, list[TaskKey]] = defaultdict(list)
    for built in suites:
        seeds = _seeds(built)
        for task in built.chosen:
            name = seeds.get(task.task_id) or task.group or task.task_id
            tasks[name].append((built.entry.id, task.task_id))
    return tuple(Cluster(name, tuple(tasks[name])) for name in sorted(tasks))


def _seeds(built: BuiltSuite) -> Mapping[str, str]:
    """By task_id, the first problem that the task was made from; without tasks that were made from none."""
    if not isinstance(built.suite, Programs):
        return {}
    return {problem.task_id: problem.parents[0] for problem in built.suite.functions() if problem.parents}


def in_random_order(clusters: Sequence[Cluster], seed: int) -> tuple[Cluster, ...]:
    """Returns the clusters in a random order that depends only on the seed, not on results."""
    return tuple(random.Random(seed).sample(clusters, len(clusters)))  # noqa: S311  no secret


def at_most(clusters: Sequence[Cluster], max_tasks: int | None) -> tuple[Cluster, ...]:
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
