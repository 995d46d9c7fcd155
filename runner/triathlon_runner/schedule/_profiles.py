"""How much of which suites a run takes."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from triathlon_runner.suites import SuiteEntry, Task


@dataclass(frozen=True, slots=True)
class Profile:
    """A named amount of work, such as `quick`."""

    name: str
    about: str
    official: bool
    """Official data sets too, where their data is present. Those of suites.yaml are taken in any case."""
    quick: bool
    """Of each suite only its quick size, and only the suites that say they are `in_quick`."""
    repeats: bool
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

    def asked(self, entry: SuiteEntry) -> SuiteEntry | None:
        """Returns the suite at the user's temperature; None where its settings fix the temperature."""
        if self.own_temperature is None:
            return entry
        return None if entry.at_temperature is None else entry.at_temperature(self.own_temperature)

    def takes(self, entry: SuiteEntry) -> bool:
        """Whether the profile runs this suite without its being named."""
        return (entry.core or self.official or entry.user_data is not None) and (
            entry.in_quick or not self.quick
        )

    def samples(self, entry: SuiteEntry) -> int:
        """Returns how many samples of each task are asked."""
        return self.own_samples or (entry.default_samples if self.repeats else 1)

    def choose(self, entry: SuiteEntry, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Returns the tasks to run, in the order of the suite."""
        quick = entry.quick_tasks if self.quick else None
        most = quick if self.limit is None else self.limit
        return tuple(tasks) if most is None else spread(tasks, most)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "quick",
            "a few tasks of each core suite, evenly over the levels",
            official=False,
            quick=True,
            repeats=False,
        ),
        Profile("standard", "all of core", official=False, quick=False, repeats=False),
        Profile(
            "full",
            "core and official data, with the papers' repeats",
            official=True,
            quick=False,
            repeats=True,
        ),
    )
}


def spread(tasks: Sequence[Task], most: int) -> tuple[Task, ...]:
    """At most so many tasks, evenly over levels and, within a level, over groups.

    Keeps the order of the suite. The choice is fixed: the same tasks give the same subset everywhere, and a
    smaller subset is part of a larger one, so that a later, longer run goes on from an earlier, shorter one.
    """
    by_level: dict[int, list[Task]] = defaultdict(list)
    for task in tasks:
        by_level[task.level or 0].append(task)
    levels = sorted(by_level)
    # Every second level first, so that even three tasks are easy, middling and hard.
    queues = [_alternate_groups(by_level[level]) for level in (*levels[::2], *levels[1::2])]
    chosen: set[str] = set()
    for turn in range(max(map(len, queues), default=0)):
        for queue in queues:
            if turn < len(queue) and len(chosen) < most:
                chosen.add(queue[turn].task_id)
    return tuple(task for task in tasks if task.task_id in chosen)


def _alternate_groups(tasks: Sequence[Task]) -> list[Task]:
    """One task of each group, then a second of each, and so on."""
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        groups[task.group or task.task_id].append(task)
    turns = max(map(len, groups.values()), default=0)
    return [group[turn] for turn in range(turns) for group in groups.values() if turn < len(group)]
