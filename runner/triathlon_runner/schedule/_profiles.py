"""How much of which suites a run takes."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Self

from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.suites import SuiteEntry, Task


@dataclass(frozen=True, slots=True)
class Profile:
    """A named amount of work, such as `quick`."""

    name: str
    official: bool = False
    """Official data sets too, where their data is present. Those of suites.yaml are taken in any case."""
    quick: bool = False
    """Of each suite only its quick size, and only the suites that say they are `in_quick`."""
    repeats: bool = False
    """As many samples a task as the suite's paper takes; else one."""
    limit: int | None = None
    """The user's own number of tasks of each suite; goes before the quick size."""
    own_samples: int | None = None
    """The user's own number of samples a task; goes before `repeats`."""
    own_temperature: float | None = None
    """The user's own temperature; only for suites whose settings have one to set."""

    def with_own(
        self, *, limit: int | None = None, samples: int | None = None, temperature: float | None = None
    ) -> Self:
        """Returns the profile with the user's own settings."""
        return replace(self, limit=limit, own_samples=samples, own_temperature=temperature)

    def takes(self, entry: SuiteEntry) -> bool:
        """Whether the profile runs this suite without its being named."""
        return (entry.core or self.official or entry.user_data is not None) and (
            entry.in_quick or not self.quick
        )

    def takes_model(self, row: ModelRow) -> bool:
        """Whether the profile asks this model without its being named."""
        return row.profile == "quick" or (not self.quick and (row.profile == "standard" or self.official))

    def samples(self, entry: SuiteEntry) -> int:
        """Returns how many samples of each task are asked."""
        return self.own_samples or (entry.default_samples if self.repeats else 1)

    def choose(self, entry: SuiteEntry, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Returns the tasks to run, in the order of the suite."""
        quick = entry.quick_tasks if self.quick else None
        most = quick if self.limit is None else self.limit
        return tuple(tasks) if most is None else spread(tasks, most)


PROFILES = {
    "quick": Profile("quick", quick=True),
    "standard": Profile("standard"),
    "full": Profile("full", official=True, repeats=True),
}
"""A few tasks of each core suite; all of core; core and official data, with the papers' repeats."""


def spread(tasks: Sequence[Task], most: int) -> tuple[Task, ...]:
    """At most so many tasks, evenly over levels and, within a level, over groups.

    Keeps the order of the suite. The choice is fixed: the same tasks give the same subset everywhere, and a
    smaller subset is part of a larger one, so that a later, longer run goes on from an earlier, shorter one.
    """
    levels = _split(tasks, lambda task: task.level or 0)
    numbers = sorted(levels)
    # Every second level first, so that even three tasks are easy, middling and hard.
    in_turn = [
        _alternate(_split(levels[number], lambda task: task.group or task.task_id).values())
        for number in (*numbers[::2], *numbers[1::2])
    ]
    chosen = {task.task_id for task in _alternate(in_turn)[:most]}
    return tuple(task for task in tasks if task.task_id in chosen)


def _split(tasks: Iterable[Task], key: Callable[[Task], Any]) -> dict[Any, list[Task]]:
    """The tasks by their key, in the order of the first of each."""
    parts: dict[Any, list[Task]] = defaultdict(list)
    for task in tasks:
        parts[key(task)].append(task)
    return parts


def _alternate(queues: Iterable[Iterable[Task]]) -> list[Task]:
    """The first of each, then the second of each, and so on."""
    turns = zip_longest(*queues)
    return [task for turn in turns for task in turn if task is not None]
